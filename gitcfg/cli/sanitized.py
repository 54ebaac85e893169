"""What `gitcfg sanitize` does and tells: the key, the files, and whether the findings are the same."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gitcfg.cli.session import Session
from gitcfg.convert.sanitize.keep import Keep
from gitcfg.convert.sanitize.sanitizer import Sanitizer, check_folder, write_repository
from gitcfg.convert.sanitize.verify import compare_findings
from gitcfg.library import Fleet
from gitcfg.library import open as opened
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.text import counted, safe

_SHORTEST = 16


class Request(msgspec.Struct, frozen=True):
    """What is asked for."""

    folder: Path
    at: str | None
    names: frozenset[str]
    keep: frozenset[Keep]
    key: Path | None
    mapping: Path | None


def answered(session: Session, request: Request) -> int:
    """Write the repository; 1 if its findings are not those of the original."""
    _refuse(request)
    source = session.open()
    with session.fleet(request.at) as fleet:
        before = source.repository.before(fleet.tree)
        trees = [fleet.tree] if before is None else [before, fleet.tree]
        sanitizer = Sanitizer(_key(session, request.key), trees, request.names, request.keep)
        versions = [sanitizer.files(tree) for tree in trees]
        write_repository(request.folder, versions)
        if request.mapping is not None:
            _private(request.mapping, msgspec.json.format(msgspec.json.encode(sanitizer.known())) + b"\n")
        return _compared(session, request, fleet, sanitizer, len(versions[-1]))


def _compared(session: Session, request: Request, fleet: Fleet, sanitizer: Sanitizer, files: int) -> int:
    with opened(request.folder, session.today).at("HEAD") as made:
        missing, besides = compare_findings(fleet.all_findings, made.all_findings, sanitizer)
        console = session.console(stderr=True)
        told = f"A repository of {counted(files, 'file')} is in {request.folder}"
        if not (missing or besides):
            console.print(f"{told}; it has the same {counted(len(fleet.all_findings), 'finding')}.")
            return 0
    console.print(f"{told}, but its findings are not all the same.", style="yellow")
    for line in (*_lines("missing", missing), *_lines("besides", besides)):
        console.print(safe(line))
    console.print("hint: Say which parameters' names may stay with --keep-names.", style="cyan")
    return 1


def _lines(word: str, findings: Iterable[Finding]) -> Iterable[str]:
    return (f"  {word}: {finding.code} at {', '.join(map(str, finding.origins))}" for finding in findings)


def _refuse(request: Request) -> None:
    """GitcfgError: what is asked for would overwrite something, or give the names away."""
    check_folder(request.folder)
    for file in filter(None, (request.key, request.mapping)):
        if file.resolve().is_relative_to(request.folder.resolve()):
            raise GitcfgError(
                f"{file} would give the names away: it lies in {request.folder}.", "Put it elsewhere."
            )
    if request.mapping is not None and os.path.lexists(request.mapping):
        raise GitcfgError(f"{request.mapping} is there already.", "Choose a new file.", code=REFUSED)


def _key(session: Session, file: Path | None) -> bytes:
    """What a file holds; a new one if it is not there. GitcfgError: it is too short."""
    if file is None:
        return secrets.token_bytes(32)
    if not os.path.lexists(file):
        _private(file, secrets.token_hex(32).encode() + b"\n")
        session.console(stderr=True).print(f"A new key is in {file}; keep it to yourself.")
    found = file.read_bytes()
    if len(found) < _SHORTEST:
        raise GitcfgError(
            f"The key in {file} is too short.", f"It must have {_SHORTEST} bytes; name a new file."
        )
    return found


def _private(file: Path, data: bytes) -> None:
    """A new file that nobody else may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(descriptor)
