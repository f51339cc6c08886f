"""The command `aiservices`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from .asking import add_ask
from .errors import AiServiceError, MissingExtraError
from .ingesting import add_ingest
from .models.local.catalogue import CATALOGUE
from .models.local.pulling import pull
from .models.local.weights import cached_path, is_intact


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, `sys.argv` by default, and give the exit code.

    0 is success, 1 a failure that was said on standard error, 2 a command line that makes no sense (which
    argparse reports by `SystemExit`), 130 an interruption.
    """
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.command(arguments)
    except (AiServiceError, MissingExtraError) as error:
        print(f"aiservices: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("aiservices: interrupted", file=sys.stderr)
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aiservices", description="Annotated Protocols become AI services.")
    parser.add_argument("--version", action="version", version=f"aiservices {_version()}")
    topics = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    model = topics.add_parser("model", help="the weights of embedded models: pull, list")
    actions = model.add_subparsers(title="commands", required=True, metavar="COMMAND")
    fetching = actions.add_parser(
        "pull", help="fetch the weights of a model once; does nothing when they are there"
    )
    fetching.add_argument("name", help=f"one of {', '.join(CATALOGUE)}")
    fetching.set_defaults(command=_pull)
    listing = actions.add_parser("list", help="the models that can be pulled, and which are here")
    listing.set_defaults(command=_list)
    add_ask(topics)
    add_ingest(topics)
    return parser


def _pull(arguments: argparse.Namespace) -> int:
    pull(arguments.name, say=lambda line: print(line, flush=True))
    return 0


def _list(_: argparse.Namespace) -> int:
    for known in CATALOGUE.values():
        path = cached_path(known)
        state = (
            "not here" if not path.exists() else str(path) if is_intact(path, known) else f"damaged: {path}"
        )
        print(f"{known.name:<20} {known.megabytes:>4} MB  {known.title}, {known.licence}  {state}")
    return 0


def _version() -> str:
    try:
        return version("aiservices")
    except PackageNotFoundError:  # a checkout that is not installed
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
