"""One model, used from loops, threads and processes: its connections are kept apart, bounded and closed."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aiservices.messages import PartialText
from aiservices.models import Capability
from tests.models.fake_server import Answer, Script
from tests.models.openai.wire import DONE, HELLO, chunk, completion, model
from tests.programs import complaints

ROOT = Path(__file__).parents[3]
A_THEN_B = [chunk({"content": "a"}), chunk({"content": "b"}, "stop"), DONE]


def waited_for(condition: object, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_connections_are_used_again(script: Script) -> None:
    with model(script.will_say(completion("ok"))) as asking:
        for _ in range(3):
            asking.chat(HELLO)
        script.will_say(A_THEN_B)
        for _ in range(2):
            list(asking.stream(HELLO))
        assert script.connections == 1


@pytest.mark.anyio
async def test_asynchronous_connections_are_used_again(script: Script) -> None:
    async with model(script.will_say(completion("ok"))) as asking:
        for _ in range(3):
            await asking.achat(HELLO)
        script.will_say(A_THEN_B)
        for _ in range(2):
            assert len([event async for event in asking.astream(HELLO)]) == 3
        assert script.connections == 1


def test_one_model_serves_one_loop_after_another(script: Script) -> None:
    asking = model(script.will_say(completion("ok")))
    for _ in range(3):
        assert asyncio.run(asking.achat(HELLO)).text == "ok"
    assert asking.chat(HELLO).text == "ok"


def test_loops_in_several_threads_do_not_meet(script: Script) -> None:
    asking = model(script.will_say(Answer(completion("ok"), after=0.02)))

    async def several() -> list[str | None]:
        return [answer.text for answer in await asyncio.gather(*(asking.achat(HELLO) for _ in range(5)))]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: asyncio.run(several()), range(8)))
    assert answers == [["ok"] * 5] * 8


def test_threads_share_one_client(script: Script) -> None:
    asking = model(script.will_say(completion("ok")))
    with ThreadPoolExecutor(8) as pool:
        assert {answer.text for answer in pool.map(lambda _: asking.chat(HELLO), range(64))} == {"ok"}
    assert script.connections <= 8


def test_a_closed_model_opens_again_when_it_is_asked(script: Script) -> None:
    asking = model(script.will_say(completion("ok")))
    asking.close()  # before anything was opened
    for _ in range(2):
        assert asking.chat(HELLO).text == "ok"
        asking.close()
    assert script.connections == 2

    async def twice() -> None:
        for _ in range(2):
            assert (await asking.achat(HELLO)).text == "ok"
            await asking.aclose()

    asyncio.run(twice())
    assert script.connections == 4


def test_no_more_are_in_flight_than_allowed(script: Script) -> None:
    asking = model(script.will_say(Answer(completion("ok"), after=0.02)), max_in_flight=3)

    async def many() -> None:
        await asyncio.gather(*(asking.achat(HELLO) for _ in range(10)))

    threads = [threading.Thread(target=asking.chat, args=(HELLO,)) for _ in range(5)]
    threads.append(threading.Thread(target=asyncio.run, args=(many(),)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(script.requests) == 15
    assert script.peak <= 3


@pytest.mark.anyio
async def test_streams_that_are_being_read_take_no_place(script: Script) -> None:
    asking = model(script.will_say(A_THEN_B), max_in_flight=1)
    streams = [asking.astream(HELLO) for _ in range(5)]
    assert [await anext(stream) for stream in streams] == [PartialText("a")] * 5
    assert [len([event async for event in stream]) for stream in streams] == [2] * 5


@pytest.mark.anyio
async def test_five_hundred_at_once_all_are_answered(script: Script) -> None:
    asking = model(script.will_say(Answer(completion("ok"), after=0.02)), max_attempts=1)
    answers = await asyncio.gather(*(asking.achat(HELLO) for _ in range(500)))
    assert {answer.text for answer in answers} == {"ok"}
    assert script.connections <= 64
    await asking.aclose()


@pytest.mark.anyio
async def test_a_cancelled_call_gives_its_place_back(script: Script) -> None:
    asking = model(script.will_say(Answer(completion("ok"), after=30), completion("ok")), max_in_flight=1)
    waiting = asyncio.create_task(asking.achat(HELLO))
    assert await asyncio.to_thread(waited_for, lambda: script.now == 1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await asking.achat(HELLO)).text == "ok"


ENDLESS = Answer([chunk({"content": "a"})] * 10_000, between=0.01)


def test_closing_a_stream_hangs_up(script: Script) -> None:
    asking = model(script.will_say(ENDLESS))
    stream = asking.stream(HELLO)
    assert next(stream) == PartialText("a")
    stream.close()  # type: ignore[attr-defined]
    assert waited_for(lambda: script.ended == 1)


def test_dropping_a_stream_hangs_up(script: Script) -> None:
    asking = model(script.will_say(ENDLESS))
    for _ in asking.stream(HELLO):
        break
    gc.collect()
    assert waited_for(lambda: script.ended == 1)


@pytest.mark.anyio
async def test_closing_an_asynchronous_stream_hangs_up(script: Script) -> None:
    stream = model(script.will_say(ENDLESS)).astream(HELLO)
    assert await anext(stream) == PartialText("a")
    await stream.aclose()  # type: ignore[attr-defined]
    assert await asyncio.to_thread(waited_for, lambda: script.ended == 1)


@pytest.mark.anyio
async def test_cancelling_the_reader_of_a_stream_hangs_up(script: Script) -> None:
    stream = model(script.will_say(ENDLESS)).astream(HELLO)

    async def read() -> None:
        async for _ in stream:
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.3)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await asyncio.to_thread(waited_for, lambda: script.ended == 1)


def python(script: Script, text: str) -> str:
    """Run a script in an interpreter where each warning is an error, and give what it says."""
    head = f"""
        import asyncio, gc, os, sys
        from aiservices.messages import *
        from aiservices.models.openai import OpenAiChatModel
        hello = ChatRequest([UserMessage("Hello")])
        def make():
            return OpenAiChatModel("gpt-test", api_key="some-key", base_url={script.url!r})
    """
    code = textwrap.dedent(head) + textwrap.dedent(text)
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    # How long a step of a loop took is no warning, and in this mode the first one of any takes long.
    assert (done.returncode, complaints(done.stderr)) == (0, ""), done.stderr
    return done.stdout


def test_a_model_that_nobody_closes_does_not_warn(script: Script) -> None:
    script.will_say(completion("ok"))
    text = """
        def dropped():
            make().chat(hello)
        async def dropped_in_a_loop():
            await asyncio.gather(*(make().achat(hello) for _ in range(3)))
            gc.collect()
            await asyncio.sleep(0.05)
        async def kept_in_a_loop():
            await kept.achat(hello)
            kept.chat(hello)
        dropped()
        gc.collect()
        asyncio.run(dropped_in_a_loop())
        kept = make()
        for _ in range(2):
            asyncio.run(kept_in_a_loop())
        asyncio.run(make().achat(hello))
        from aiservices.driving import holding
        print(len(holding._held))
    """
    assert python(script, text) == "1\n", "only the blocking client of the model that is kept is still open"


def test_a_stream_that_nobody_closes_does_not_warn(script: Script) -> None:
    script.will_say(A_THEN_B)
    text = """
        print(next(make().stream(hello)))
        async def main():
            async for event in make().astream(hello):
                break
        asyncio.run(main())
    """
    assert python(script, text) == "PartialText(text='a')\n"


def test_a_forked_child_has_connections_of_its_own(script: Script) -> None:
    script.will_say(completion("ok"))
    text = """
        m = make()
        m.chat(hello)
        child = os.fork()
        if child == 0:
            try:
                m.chat(hello)
                asyncio.run(m.achat(hello))
            finally:
                os._exit(sys.exc_info()[0] is not None)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(m.chat(hello).text)
    """
    assert python(script, text) == "ok\n"
    assert len(script.requests) == 4
    assert script.connections == 3


def test_the_sdk_is_loaded_when_a_model_is_first_asked(script: Script) -> None:
    script.will_say(completion("ok"))
    text = """
        m = make()
        print({"openai", "httpx2", "tenacity"} & set(sys.modules))
        m.chat(hello)
        print({"openai", "httpx2", "tenacity"} & set(sys.modules) == {"openai", "httpx2"})
    """
    assert python(script, text) == "set()\nTrue\n"


def test_the_sdk_is_not_loaded_on_the_event_loop(script: Script) -> None:
    script.will_say(completion("ok"))
    text = """
        import threading
        class Watch:
            def find_spec(name, path, target=None):
                if name == "openai":
                    print(threading.current_thread() is threading.main_thread())
        sys.meta_path.insert(0, Watch)
        asyncio.run(make().achat(hello))
    """
    assert python(script, text) == "False\n"


def test_a_model_can_do_all_unless_it_is_said_otherwise(script: Script) -> None:
    assert model(script).capabilities == frozenset(Capability)
    assert model(script, capabilities=[Capability.TOOLS]).capabilities == {Capability.TOOLS}
