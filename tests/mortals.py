"""Tasks done by processes of their own, which may be killed while they are at it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]

Run = Callable[..., int]


@contextmanager
def children_of(module: str) -> Iterator[Run]:
    """What has a task done by a child of a module that serves, and gives how the child ended.

    That is 0, 1 after an error, or minus the signal it died of. The module is loaded once for all of them.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def run(*arguments: Any, **options: Any) -> int:
            print(json.dumps([arguments, options], default=str), file=stdin, flush=True)
            return int(stdout.readline())

        yield run
        stdin.close()


def serve(perform: Callable[..., object]) -> None:
    """Let a child perform each task that is asked for."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                arguments, options = json.loads(line)
                perform(*arguments, **options)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
