"""The engine: llama.cpp in this process, by way of `xllamacpp`. The only module that imports it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final
from weakref import WeakValueDictionary, finalize

from ...driving import Places
from ...driving.unfinished import UNFINISHED
from ...errors import (
    ContextLengthError,
    InvalidRequestError,
    MissingExtraError,
    ModelError,
    ModelTimeoutError,
    ServerError,
)
from .forking import FORKING

Receive = Callable[[Mapping[str, Any]], bool]
"""Takes a piece of an answer; true says that no more is wanted."""

CACHE_MEBIBYTES: Final = 64  # for the states of earlier prompts; the engine's own default is 8 GiB
BATCH: Final = 256  # tokens of a prompt read in one go: a request can be given up between two batches
LONGEST_SOCKET: Final = 100  # the address of a unix socket has 108 bytes at most


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What an engine is loaded with; equal settings share one. `context` is the tokens of each slot."""

    path: Path
    context: int
    slots: int
    threads: int


class Engine:
    """A loaded model, safe to use from several threads; it is unloaded when the last reference is dropped.

    The engine's own server listens on a socket in a private folder, not on a TCP port.
    Raises `ServerError` when the file cannot be loaded.
    """

    def __init__(self, settings: EngineSettings) -> None:
        xllamacpp = _xllamacpp()
        self._process = os.getpid()
        folder = tempfile.mkdtemp(prefix="aiservices-", dir=_folder_for_sockets())
        self._end = finalize(self, _remove, folder, self._process)
        try:
            self.server: Any = xllamacpp.Server(_parameters(xllamacpp, settings, folder))
            # Unloaded before its loop runs, an engine would never end: wait for a token.
            self.server.handle_completions({"prompt": "a", "max_tokens": 1})
        except Exception as error:
            self._end()
            raise ServerError(
                f"the engine cannot load {settings.path}: it is damaged, or a kind of model that this "
                f"version does not know, or too large for the memory ({error})"
            ) from error
        FORKING.watch(self)

    def answer(self, body: Mapping[str, Any], receive: Receive, *, seconds: float | None = None) -> None:
        """Send a request and hand every piece of the answer to `receive`, in the calling thread.

        Not for the main thread: what a signal handler raises, Ctrl-C too, would be lost in the engine.
        Between pieces the request can be given up: `receive` returns true, raises, or `seconds` are over.
        Raises `ContextLengthError`, `InvalidRequestError`, `ModelTimeoutError`, `ServerError`.
        """
        FORKING.check()
        listener = _Listener(receive, seconds)
        request = {**body, "stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            with UNFINISHED.job():
                self.server.handle_chat_completions(request, listener.take)
        except ValueError as error:
            raise InvalidRequestError(f"the embedded model refused the request: {error}") from error
        except RuntimeError as error:
            raise ServerError(f"the engine failed: {error}") from error
        listener.check()


class _Listener:
    """What the engine calls back. What is raised there the engine would swallow: it is kept until later."""

    def __init__(self, receive: Receive, seconds: float | None) -> None:
        self._receive = receive
        self._seconds = seconds
        self._deadline = None if seconds is None else monotonic() + seconds
        self._failure: BaseException | None = None
        self._ended = False

    def take(self, chunk: Any) -> bool:
        """Take one piece or several; true gives the request up."""
        try:
            return self._hear(chunk)
        except BaseException as error:
            self._failure = error
            return True

    def check(self) -> None:
        """Raise what went wrong. Call it when the engine is done."""
        if self._failure is not None:
            raise self._failure
        if not self._ended:
            raise ServerError("the engine ended before its answer was whole")

    def _hear(self, chunk: Any) -> bool:
        if self._deadline is not None and monotonic() > self._deadline:
            raise ModelTimeoutError(f"the embedded model did not answer within {self._seconds:g} seconds")
        if UNFINISHED.is_exiting:
            raise ServerError("the interpreter is exiting")
        for piece in chunk if isinstance(chunk, list) else (chunk,):
            if "error" in piece:
                raise _error_of(piece["error"])
            given_up = self._receive(piece)
            self._ended = self._ended or given_up or "usage" in piece
            if given_up:
                return True
        return False


def engine_of(settings: EngineSettings) -> Engine:
    """The engine of these settings, loaded when nobody in this process has it.

    Raises `MissingExtraError` without the extra `local`, `ServerError` in a process that was forked from
    one that had loaded an engine: the engine's threads did not come along, it would never answer.
    """
    FORKING.check()
    with _turn.held():
        engine = _engines.get(settings)
        if engine is None:
            engine = _engines[settings] = Engine(settings)
        return engine


_engines: WeakValueDictionary[EngineSettings, Engine] = WeakValueDictionary()
_turn = Places(1)


def _xllamacpp() -> Any:
    # libgomp reads this once, when it is loaded. Spinning threads make a busy machine fifty times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if find_spec("xllamacpp") is None:
        raise MissingExtraError("the embedded model", extra="local")
    try:
        import xllamacpp
    except ImportError as error:
        error.add_note(
            "xllamacpp needs libgomp and libstdc++ of the system: apt-get install libgomp1 libstdc++6"
        )
        raise
    return xllamacpp


def _parameters(xllamacpp: Any, settings: EngineSettings, folder: str) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(settings.path)
    parameters.n_ctx = settings.context * settings.slots  # the engine divides it among the slots
    parameters.n_parallel = settings.slots
    parameters.n_batch = BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = settings.threads
    parameters.verbosity = -1
    parameters.warmup = parameters.ui = parameters.endpoint_slots = False
    parameters.cache_ram_mib = CACHE_MEBIBYTES
    if os.name == "posix":
        parameters.hostnames = [str(Path(folder, "engine.sock"))]
    else:
        parameters.api_keys = [secrets.token_urlsafe()]  # a port on the loopback that nobody has the key of
    return parameters


def _folder_for_sockets() -> str | None:
    return "/tmp" if os.name == "posix" and len(tempfile.gettempdir()) > LONGEST_SOCKET - 40 else None


def _remove(folder: str, process: int) -> None:
    if process == os.getpid():  # a child made by fork must not take away its parent's socket
        shutil.rmtree(folder, ignore_errors=True)


def _error_of(error: Mapping[str, Any]) -> ModelError:
    status, said = error.get("code"), error.get("message", "no reason given")
    if error.get("type") == "exceed_context_size_error":
        return ContextLengthError(
            f"the request has {error.get('n_prompt_tokens')} tokens, more than the {error.get('n_ctx')} that "
            "the embedded model was loaded to read: shorten it, or give LocalChatModel a larger context=",
            status=status,
        )
    if isinstance(status, int) and status < 500:
        return InvalidRequestError(f"the embedded model refused the request: {said}", status=status)
    return ServerError(f"the engine failed: {said}", status=status)
