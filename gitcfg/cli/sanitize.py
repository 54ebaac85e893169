"""`gitcfg sanitize`: the same repository with every name and value replaced."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.convert.sanitize.sanitizer import (
    Keep,
    Sanitizer,
    check_folder,
    compare_findings,
    write_repository,
)
from gitcfg.explain.trail import origin_record
from gitcfg.library import open as opened
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.text import counted, safe

EPILOG = """Examples:

  gitcfg sanitize ../report                              the work tree, for a bug report

  gitcfg sanitize ../report --at main~3 --keep parameters

  gitcfg sanitize ../report --key ../key --mapping ../names.json"""
_KEEP = typer.Option(help="What else to keep; may be repeated.")
_NAMES = typer.Option(
    help="A parameter whose name, and the words in it, are kept; may be repeated.", metavar="PARAM"
)
_KEY = typer.Option(
    help="The key that determines all names, created if missing; default: random names.", metavar="FILE"
)
_MAPPING = typer.Option(help="Also write which name replaced which. Keep this file private.", metavar="FILE")
_SHORTEST = 16


@command(EPILOG, Items("gitcfg.sanitize/1", "differences", "difference"))
def sanitize(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The new folder; it must not exist.", metavar="DIR")],
    at: AtOption = None,
    keep: Annotated[list[Keep] | None, _KEEP] = None,
    keep_names: Annotated[list[str] | None, _NAMES] = None,
    key: Annotated[Path | None, _KEY] = None,
    mapping: Annotated[Path | None, _MAPPING] = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Copy the repository with other names and values, but the same findings. Exits 1 if some differ."""
    session: Session = context.obj
    _check_options(folder, key, mapping)
    source = session.open()
    with session.fleet(at) as fleet:
        before = source.repository.before(fleet.tree)
        trees = [fleet.tree] if before is None else [before, fleet.tree]
        names, kinds = frozenset(keep_names or ()), frozenset(keep or ())
        sanitizer = Sanitizer(_load_key(session, key), trees, names, kinds)
        versions = [sanitizer.files(tree) for tree in trees]
        write_repository(folder, versions)
        if mapping is not None:
            _write_private(mapping, msgspec.json.format(msgspec.json.encode(sanitizer.known())) + b"\n")
        found = fleet.all_findings
        with opened(folder, session.today).at("HEAD") as sanitized:
            missing, besides = compare_findings(found, sanitized.all_findings, sanitizer)
    differences = [*(("missing", one) for one in missing), *(("besides", one) for one in besides)]
    if output is Output.TEXT:
        _print_result(session, folder, len(versions[-1]), len(found), differences)
    else:
        record = {
            "schema": "gitcfg.sanitize/1",
            "folder": str(folder),
            "created": len(versions[-1]),
            "findings": len(found),
            "differences": [_difference_to_json(word, finding) for word, finding in differences],
        }
        write_record(record, output)
    return int(bool(differences))


def _difference_to_json(word: str, finding: Finding) -> Record:
    origins = [origin_record(origin) for origin in finding.origins]
    return {"difference": word, "code": finding.code, "origins": origins}


def _print_result(
    session: Session, folder: Path, files: int, findings: int, differences: Sequence[tuple[str, Finding]]
) -> None:
    """Print whether a sanitized repository has the findings of its original."""
    console = session.console(stderr=True)
    written = f"Wrote a repository of {counted(files, 'file')} to {folder}"
    if not differences:
        console.print(f"{written}; it has the same {counted(findings, 'finding')}.")
        return
    console.print(f"{written}, but its findings are not all the same.", style="yellow")
    for word, finding in differences:
        console.print(safe(f"  {word}: {finding.code} at {', '.join(map(str, finding.origins))}"))
    console.print("hint: Use --keep-names for the parameters whose names may be kept.", style="cyan")


def _check_options(folder: Path, key: Path | None, mapping: Path | None) -> None:
    """Raise GitcfgError if something would be overwritten, or the real names revealed."""
    check_folder(folder)
    for file in filter(None, (key, mapping)):
        if file.resolve().is_relative_to(folder.resolve()):
            message = f"{file} would reveal the names, because it is in {folder}."
            raise GitcfgError(message, "Choose a place outside of it.")
    if mapping is not None and os.path.lexists(mapping):
        raise GitcfgError(f"{mapping} already exists.", "Choose a new file.", code=REFUSED)


def _load_key(session: Session, file: Path | None) -> bytes:
    """Return the key in a file, which is created if missing. Raise GitcfgError if it is too short."""
    if file is None:
        return secrets.token_bytes(32)
    if not os.path.lexists(file):
        _write_private(file, secrets.token_hex(32).encode() + b"\n")
        session.console(stderr=True).print(f"Wrote a new key to {file}. Keep it private.")
    found = file.read_bytes()
    if len(found) < _SHORTEST:
        hint = f"It needs at least {_SHORTEST} bytes. Choose a new file."
        raise GitcfgError(f"The key in {file} is too short.", hint)
    return found


def _write_private(file: Path, data: bytes) -> None:
    """Write a new file that only its owner may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(descriptor)
