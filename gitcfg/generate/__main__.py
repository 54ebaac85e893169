"""`python -m gitcfg.generate`: write a random repository, for load tests and for trying out gitcfg."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import NoReturn

import msgspec

from gitcfg.generate.options import PROFILES
from gitcfg.generate.repository import MISTAKES, write
from gitcfg.model import GitcfgError
from gitcfg.model.findings import REFUSED

_NAME = "python -m gitcfg.generate"
_DESCRIPTION = """\
Write a random gitcfg repository into a folder, for load tests and to try gitcfg on.
The same arguments always give the same files."""
_EPILOG = f"""\
profiles:
  small   100 nodes with about 50 parameters each
  large   10,000 nodes with about 500 parameters each
  stress  2,000 nodes with 90 instances of one feature each

examples:
  {_NAME} pool                       100 nodes
  {_NAME} pool --seed 7 --nodes 500  other values, more nodes
  {_NAME} pool --mistake GC301       with an error to find

codes of mistakes:
{fill(" ".join(sorted(MISTAKES)), 72, initial_indent="  ", subsequent_indent="  ")}

exit codes: 0 success, 2 wrong usage, 4 the folder is not empty"""


class _Parser(ArgumentParser):
    """Parser that reports wrong usage as gitcfg does."""

    def error(self, message: str) -> NoReturn:
        """Raise GitcfgError with the message."""
        text = f"{message[:1].upper()}{message[1:]}."
        raise GitcfgError(text, f"Run `{_NAME} --help` for a list of options.")


def main(arguments: Sequence[str]) -> int:
    """Write the repository that arguments ask for, and return the exit code."""
    try:
        folder, count = _generate(arguments)
    except GitcfgError as error:
        sys.stderr.write(f"error: {error.message}\n" + "".join(f"hint: {hint}\n" for hint in error.hints))
        return error.code
    except OSError as error:
        sys.stderr.write(f"error: {error.filename}: {error.strerror}.\n")
        return 2
    sys.stdout.write(f"Wrote {count:,} files to {folder}.\n")
    return 0


def _generate(arguments: Sequence[str]) -> tuple[Path, int]:
    """Write the repository, and return its folder and the number of files."""
    parser = _Parser(
        prog=_NAME, description=_DESCRIPTION, epilog=_EPILOG, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="a new or empty folder")
    parser.add_argument(
        "--profile", choices=PROFILES, default="small", help="size and shape (default: small)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the random values (default: 0)"
    )
    parser.add_argument("--nodes", metavar="N", type=int, help="number of nodes, instead of the profile's")
    parser.add_argument(
        "--mistake",
        metavar="CODE",
        action="append",
        default=[],
        help="a finding that `gitcfg check` is to report; may be repeated",
    )
    given = parser.parse_args(arguments)
    folder: Path = given.folder
    if folder.is_dir() and any(folder.iterdir()):
        raise GitcfgError(f"{folder} is not empty.", "Choose a new folder.", code=REFUSED)
    mistakes = tuple(code.upper() for code in given.mistake)
    options = msgspec.structs.replace(PROFILES[given.profile](given.seed), mistakes=mistakes)
    if given.nodes is not None:
        options = msgspec.structs.replace(options, nodes=given.nodes)
    return folder, write(options, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
