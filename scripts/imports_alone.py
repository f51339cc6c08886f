"""Import every module of the named packages alone, each in a fork of a process that imported none of them.

The forks share what all of our modules are built on: to import that anew for each would take minutes.

    python -X dev -W error scripts/imports_alone.py aiservices outputparsers

Complains about a module that cannot be imported first, that warns, that reaches for the network, or that
names something in `__all__` which it does not have. With `--extras-may-be-missing` a module may also end with
the ImportError that says which extra to install, or for want of pytest.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

SAYS_WHICH_EXTRA = re.compile(r"pip install ['\"]?aiservices\[[\w,-]+\]")
AT_ONCE = 2
DEPENDENCIES = ("pydantic", "openai", "jinja2", "jsonschema", "tenacity")


def modules_of(package: str) -> list[str]:
    """Every importable module of a package, found by its files, without importing any."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"there is no package {package}")
    folder = Path(spec.submodule_search_locations[0])
    parts = (path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py")))
    names = [".".join((package, *each)).removesuffix(".__init__") for each in parts]
    return [name for name in names if not name.endswith("__main__")]


def import_alone(module: str, *, extras_may_be_missing: bool) -> None:
    unraisable: list[object] = []
    sys.unraisablehook = lambda problem: unraisable.append(problem.exc_value)
    sys.addaudithook(refuse_the_network)
    try:
        names = vars(import_module(module)).get("__all__", ())
        missing = [name for name in names if not hasattr(sys.modules[module], name)]
    except ImportError as error:
        is_pytest_missing = error.name == "pytest"  # its plugins are imported by nobody else
        if extras_may_be_missing and (is_pytest_missing or SAYS_WHICH_EXTRA.search(str(error))):
            return
        raise
    gc.collect()
    if missing:
        raise AssertionError(f"__all__ names what is not there: {', '.join(missing)}")
    if unraisable:
        raise AssertionError(f"the import left behind: {unraisable}")


def refuse_the_network(event: str, _arguments: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise AssertionError(f"an import reached for the network ({event})")


def in_a_fork(module: str, *, extras_may_be_missing: bool) -> int:
    """Start the import and return the id of the process that tries it."""
    child = os.fork()
    if child:
        return child
    try:
        import_alone(module, extras_may_be_missing=extras_may_be_missing)
    except BaseException:  # whatever it is, the child tells it and ends
        os.write(2, f"{module} does not import alone:\n{traceback.format_exc(limit=-2)}\n".encode())
        os._exit(1)
    os._exit(0)


def failures(modules: list[str], *, extras_may_be_missing: bool) -> int:
    running = failed = 0
    for name in DEPENDENCIES:
        import_module(name)
    gc.freeze()  # what they hold is none of the children's garbage
    for module in modules:
        if running == AT_ONCE:
            failed += os.wait()[1] != 0
            running -= 1
        in_a_fork(module, extras_may_be_missing=extras_may_be_missing)
        running += 1
    return failed + sum(os.wait()[1] != 0 for _ in range(running))


def main(arguments: list[str]) -> int:
    packages = [each for each in arguments if not each.startswith("-")]
    modules = [module for package in packages for module in modules_of(package)]
    failed = failures(modules, extras_may_be_missing="--extras-may-be-missing" in arguments)
    print(f"{len(modules) - failed} of {len(modules)} modules import alone")
    return 1 if failed or not modules else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
