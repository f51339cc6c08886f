"""A web page that shows an answer while it is written, by server-sent events.

    python examples/streaming_server.py                      a scripted model plays along
    python examples/streaming_server.py openai:gpt-5-mini    a real one

Needs `pip install starlette uvicorn`. Open http://127.0.0.1:8000/
"""

import sys
from collections.abc import AsyncIterator
from typing import Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

import aiservices
from aiservices import AsyncStream, ChatModel, ChatRequest, ModelEvent, PartialText, ResponseDone
from aiservices.messages import AiMessage, ChatResponse
from aiservices.serve import server_sent_events

PAGE = """<!doctype html>
<title>A stream</title>
<p id="answer"></p><p id="state">waiting</p>
<script>
  const source = new EventSource("/answer?question=Why+is+the+sky+blue%3F");
  const answer = document.getElementById("answer"), state = document.getElementById("state");
  source.onmessage = (event) => { answer.textContent += JSON.parse(event.data).text; };
  source.addEventListener("restarted", () => { answer.textContent = ""; });
  source.addEventListener("done", () => { source.close(); state.textContent = "done"; });
  source.addEventListener("failed", () => { source.close(); state.textContent = "failed"; });
</script>
"""


class Teacher(Protocol):
    def explain(self, question: str) -> AsyncStream[str]: ...


class Talking(ChatModel):
    """Says the same each time, word by word."""

    words = ("Because ", "the ", "air ", "scatters ", "blue ", "light ", "most.")

    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        for word in self.words:
            yield PartialText(word)
        yield ResponseDone(ChatResponse(AiMessage("".join(self.words))))


def application(chat_model: str | ChatModel | None = None) -> Starlette:
    teacher = aiservices.create(Teacher, chat_model=chat_model or Talking())

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(PAGE)

    async def answer(request: Request) -> StreamingResponse:
        stream = teacher.explain(request.query_params["question"])
        return StreamingResponse(server_sent_events(stream), media_type="text/event-stream")

    return Starlette(routes=[Route("/", page), Route("/answer", answer)])


if __name__ == "__main__":
    uvicorn.run(application(*sys.argv[1:2]), host="127.0.0.1", port=8000)
