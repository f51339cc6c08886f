"""The engine as a guest in the process: no port, no threads in the way, nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest

from aiservices.driving.workers import run_in_worker
from aiservices.errors import ContextLengthError, MissingExtraError, ModelTimeoutError, ServerError
from aiservices.models.local import LocalChatModel
from aiservices.models.local.weights import Weights
from tests.models.local.asking import endless, say
from tests.programs import complaints

ROOT = Path(__file__).parents[3]
SECONDS = 60


def listening_ports() -> set[str]:
    """The TCP ports on which this process listens, as the kernel tells."""
    sockets = {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}  # noqa: PTH115
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                ports.add(fields[1])
    return ports


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_tcp_port_is_opened(weights: Weights) -> None:
    before = listening_ports()
    model = LocalChatModel(weights.path, context=256, threads=1)
    model.chat(say())
    assert listening_ports() == before
    model.close()


def test_nothing_is_loaded_before_the_first_request_or_kept_after_closing(weights: Weights) -> None:
    program = f"""
import os, sys, tempfile
from pathlib import Path
from aiservices.messages import ChatRequest, ChatRequestParameters, UserMessage
from aiservices.models.local import LocalChatModel

def folders():
    return list(Path(tempfile.gettempdir()).glob("aiservices-*"))

model = LocalChatModel({str(weights.path)!r}, context=256)
assert "xllamacpp" not in sys.modules and not folders()
request = ChatRequest([UserMessage("Hello")], parameters=ChatRequestParameters(max_output_tokens=2))
first = model.chat(request).text
assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
assert len(folders()) == 1
model.close()
assert not folders()
assert model.chat(request).text
assert len(folders()) == 1
del model
assert not folders()
left_open = LocalChatModel({str(weights.path)!r}, context=256)
next(left_open.stream(request))
print("done")
"""
    ran = run_program(program)
    assert (ran.stdout, complaints(ran.stderr), ran.returncode) == ("done\n", "", 0)


def run_program(program: str) -> "subprocess.CompletedProcess[str]":
    """Run a program with all warnings as errors and a temporary folder of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    with TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", program],
            cwd=ROOT,
            env={**environment, "TMPDIR": folder},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_made_by_fork_is_refused_at_once_and_can_leave(model: LocalChatModel) -> None:
    model.chat(say())
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        said = b"answered"
        try:
            signal.alarm(20)  # a child that hangs is ended by this
            model.chat(say())
        except ServerError as error:
            said = str(error).encode()
        finally:
            os.write(writing, said)
            os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        assert "start workers by 'spawn'" in pipe.read()
    assert status == 0
    assert model.chat(say()).text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_ends_as_usual_and_leaves_its_parents_engine_alone(weights: Weights) -> None:
    ran = run_program(f"""
import os, sys, warnings
from aiservices.messages import ChatRequest, ChatRequestParameters, UserMessage
from aiservices.models.local import LocalChatModel
model = LocalChatModel({str(weights.path)!r}, context=256)
request = ChatRequest([UserMessage("Hello")], parameters=ChatRequestParameters(max_output_tokens=2))
model.chat(request)
warnings.simplefilter("ignore")
child = os.fork()
if not child:
    import signal
    signal.alarm(20)
    del model
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(os.listdir(os.environ["TMPDIR"])))
assert model.chat(request).text
""")
    assert (ran.stdout, complaints(ran.stderr), ran.returncode) == ("7 1\n", "", 0)


def test_models_with_the_same_settings_share_one_engine(model: LocalChatModel, weights: Weights) -> None:
    twin = LocalChatModel(weights.name, context=2048, slots=2)
    assert twin._opened() is model._opened()
    twin.close()
    assert model.chat(say()).text


def test_several_threads_ask_at_once(model: LocalChatModel) -> None:
    jobs = [run_in_worker(partial(model.chat, say(f"Say {number}."))) for number in range(4)]
    assert all(job.result(SECONDS).text for job in jobs)


def test_a_request_that_is_too_long_is_an_error_with_the_numbers(model: LocalChatModel) -> None:
    with pytest.raises(ContextLengthError, match=r"has \d{4} tokens, more than the 2048 .* context="):
        model.chat(say("word " * 4000))


def test_the_time_is_limited(model: LocalChatModel) -> None:
    with pytest.raises(ModelTimeoutError, match=r"within 0\.2 seconds"):
        model.chat(endless(timeout=0.2))


def test_a_signal_ends_a_blocking_answer(model: LocalChatModel) -> None:
    class TooSlowError(Exception):
        pass

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TooSlowError):
            model.chat(endless())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert model.chat(say()).text


def test_a_file_that_the_engine_cannot_load_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(ServerError, match=r"cannot load .*broken\.gguf"):
        LocalChatModel(path).chat(say())


def test_without_the_extra_the_error_names_it(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    lonely = LocalChatModel(weights.path, context=128)
    with pytest.raises(MissingExtraError, match=r"pip install .aiservices\[local\]"):
        lonely.chat(say())


@pytest.mark.parametrize("name", ["context", "slots", "threads"])
def test_sizes_are_checked_when_the_model_is_made(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        LocalChatModel(**{name: 0})  # type: ignore[arg-type]


def test_threads_that_load_at_the_same_time_load_once(weights: Weights) -> None:
    fresh = LocalChatModel(weights.path, context=192)
    together = threading.Barrier(3)

    def open_it() -> object:
        together.wait(SECONDS)
        return fresh._opened()

    jobs = [run_in_worker(open_it) for _ in range(3)]
    assert len({id(job.result(SECONDS)) for job in jobs}) == 1
    fresh.close()
