"""Try the installed wheel as a newcomer meets it; `scripts/build` runs a copy, away from the checkout.

    clean/bin/python -I wheel_smoke.py DEV_PYTHON WHEEL

The clean environment has the core dependencies only; mypy and pyright come from DEV_PYTHON and look into it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # for the neighbour, which an isolated interpreter does not see
from imports_alone import modules_of  # noqa: E402

USER = HERE / "wheel_user.py"
COMMAND = Path(sys.executable).with_name("aiservices")


def run(*command: object) -> str:
    """Run a command, fail with all that it printed, return what it printed."""
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "PYRIGHT_PYTHON_GLOBAL_NODE": "0"}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def packages_in(wheel: str) -> list[str]:
    """The top-level packages; each ships its py.typed."""
    names = zipfile.ZipFile(wheel).namelist()
    packages = sorted({name.split("/")[0] for name in names if name.endswith("/__init__.py")})
    untyped = [package for package in packages if f"{package}/py.typed" not in names]
    if untyped or "aiservices" not in packages or "outputparsers" not in packages:
        raise SystemExit(f"the wheel holds {packages}, without py.typed: {untyped}")
    return packages


def public_names(package: str) -> dict[str, list[str]]:
    """Module name -> its `__all__`, for each public module of an installed package that has what it needs."""
    found = {}
    for module in modules_of(package):
        if not any(part.startswith("_") for part in module.split(".")):
            with suppress(ImportError):  # of a missing extra: imports_alone.py has seen to all others
                found[module] = list(getattr(import_module(module), "__all__", ()))
    if not found.get(package):
        raise SystemExit(f"{package} has no __all__")
    return found


def everything_public(packages: list[str]) -> str:
    """A user's file that imports every public name and asks what type each has."""
    lines = []
    for package in packages:
        for module, names in public_names(package).items():
            alias = module.replace(".", "_")
            lines += [f"from {module} import {name} as {alias}_{name}" for name in names]
            lines += [f"reveal_type({alias}_{name})" for name in names]
    return "\n".join([*lines, ""])


def type_check(dev_python: str, packages: list[str]) -> None:
    names = HERE / "every_public_name.py"
    names.write_text(everything_public(packages), encoding="utf-8")
    told = run(dev_python, "-m", "mypy", "--strict", "--python-executable", sys.executable, USER, names)
    opaque = ('Revealed type is "Any"', 'Revealed type is "def (*Any, **Any) -> Any"')
    leaks = [line for line in told.splitlines() if any(each in line for each in opaque)]
    if leaks:
        raise SystemExit("public names whose type is lost:\n" + "\n".join(leaks))
    run(dev_python, "-m", "pyright", "--pythonpath", sys.executable, USER, names)


def main(dev_python: str, wheel: str) -> None:
    packages = packages_in(wheel)
    run(sys.executable, "-I", "-c", "import aiservices")
    run(sys.executable, "-I", "-X", "dev", "-W", "error", USER)
    alone = run(
        sys.executable,
        "-I",
        "-X",
        "dev",
        "-W",
        "error",
        HERE / "imports_alone.py",
        "--extras-may-be-missing",
        *packages,
    )
    run(COMMAND, "--help")
    type_check(dev_python, packages)
    print(f"the wheel is fine: {', '.join(packages)}; {alone.strip()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
