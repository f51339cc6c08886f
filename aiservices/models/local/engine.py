"""The engine: llama.cpp in this process, by way of `xllamacpp`. The only module that imports it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from ctypes import py_object, pythonapi
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final
from weakref import WeakValueDictionary, finalize

from ...driving import Places
from ...driving.forking import reset_in_children
from ...errors import (
    ContextLengthError,
    InvalidRequestError,
    MissingExtraError,
    ModelError,
    ModelTimeoutError,
    ServerError,
)

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
        _loading.note()
        try:
            self._server: Any = xllamacpp.Server(_parameters(xllamacpp, settings, folder))
        except Exception as error:
            self._end()
            raise ServerError(
                f"the engine cannot load {settings.path}: it is damaged, or a kind of model that this "
                f"version does not know, or too large for the memory ({error})"
            ) from error

    def answer(self, body: Mapping[str, Any], receive: Receive, *, seconds: float | None = None) -> None:
        """Send a request and hand every piece of the answer to `receive`, in the calling thread.

        Between pieces the request can be given up: `receive` returns true, raises, or `seconds` are over.
        Raises `ContextLengthError`, `InvalidRequestError`, `ModelTimeoutError`, `ServerError`.
        """
        _loading.check()
        failure: BaseException | None = None
        deadline = None if seconds is None else monotonic() + seconds

        def take(chunk: Any) -> bool:
            nonlocal failure  # the engine swallows what is raised in here
            try:
                if deadline is not None and monotonic() > deadline:
                    raise ModelTimeoutError(f"the embedded model did not answer within {seconds:g} seconds")
                return any(_told(piece, receive) for piece in _pieces(chunk))
            except BaseException as error:
                failure = error
                return True

        request = {**body, "stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            self._server.handle_chat_completions(request, take)
        except ValueError as error:
            raise InvalidRequestError(f"the embedded model refused the request: {error}") from error
        except RuntimeError as error:
            raise ServerError(f"the engine failed: {error}") from error
        if failure is not None:
            raise failure

    def leak(self) -> None:
        """Keep the engine's memory for ever: for a child process, where unloading would wait for threads."""
        self._end.detach()
        pythonapi.Py_IncRef(py_object(self._server))


def engine_of(settings: EngineSettings) -> Engine:
    """The engine of these settings, loaded when nobody in this process has it.

    Raises `MissingExtraError` without the extra `local`, `ServerError` in a process that was forked from
    one that had loaded an engine: the engine's threads did not come along, it would never answer.
    """
    _loading.check()
    with _loading.turn.held():
        engine = _engines.get(settings)
        if engine is None:
            engine = _engines[settings] = Engine(settings)
        return engine


class _Loading:
    """Whether an engine was loaded here, or in the process that this one was forked from."""

    def __init__(self) -> None:
        self.turn = Places(1)
        self._loaded = self._inherited = False
        reset_in_children(self)

    def note(self) -> None:
        self._loaded = True

    def check(self) -> None:
        if self._inherited:
            raise ServerError(
                "this process was forked from one that had loaded the embedded model, whose threads stayed "
                "behind: start workers by 'spawn', or load the model in the workers only"
            )

    def reset_in_child(self) -> None:
        self._inherited = self._inherited or self._loaded
        for engine in list(_engines.values()):
            engine.leak()


_engines: WeakValueDictionary[EngineSettings, Engine] = WeakValueDictionary()
_loading = _Loading()


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


def _pieces(chunk: Any) -> list[Mapping[str, Any]]:
    return chunk if isinstance(chunk, list) else [chunk]


def _told(piece: Mapping[str, Any], receive: Receive) -> bool:
    if "error" in piece:
        raise _error_of(piece["error"])
    return receive(piece)


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
