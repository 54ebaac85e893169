"""What a node says, as values: of the right types, of limited length, and fit for a terminal."""

import re
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec.structs import asdict

from gitcfg.deploy.messages import Done, Hello
from gitcfg.deploy.problems import BUSY, FULL, REFUSED, SUDO, FarError, Unreadable
from gitcfg.install.outcome import FAILED, OK, REVERTED, UNCHANGED, Outcome
from gitcfg.install.outcome import REFUSED as NOT_LET

_Word = Annotated[str, msgspec.Meta(max_length=256)]
_Commit = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
_Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_NoDigest = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")]
_Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]
_Path = Annotated[str, msgspec.Meta(max_length=8192)]
_Paths = Annotated[tuple[_Path, ...], msgspec.Meta(max_length=20_000)]

MOST_HELLO, MOST_DONE, MOST_TOLD, MOST_PROBLEM = 4 << 20, 16 << 20, 4096, 1 << 20
_KINDS = (FULL, BUSY, SUDO, REFUSED)
_RESULTS = (OK, UNCHANGED, NOT_LET, REVERTED, FAILED)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

T = TypeVar("T")


class _Outcome(msgspec.Struct, frozen=True):
    result: _Word
    commit: _Word
    digest: _NoDigest
    step: _Path = ""
    command: _Paths = ()
    exit: int | None = None
    output: _Text = ""
    changed: _Paths = ()
    removed: _Paths = ()
    restarted: _Paths = ()
    reloaded: _Paths = ()
    stopped: _Paths = ()
    kept: _Paths = ()


class _Hello(msgspec.Struct, frozen=True):
    python: _Word
    host: _Word
    user: _Word
    agent: Literal["", "installed", "running"] = ""
    commit: _Commit | None = None
    digest: _Digest | None = None
    report: _Outcome | None = None
    busy: _Word = ""
    interrupted: bool = False
    problem: _Path = ""
    owed: _Paths = ()


class _Done(msgspec.Struct, frozen=True):
    outcome: _Outcome
    differences: Annotated[dict[_Path, _Text], msgspec.Meta(max_length=20_000)] = {}
    seconds: float = 0.0


class _Problem(msgspec.Struct, frozen=True):
    kind: _Word
    message: _Path
    hints: Annotated[tuple[_Path, ...], msgspec.Meta(max_length=20)] = ()


def hello_of(raw: bytes) -> Hello:
    """The node's first words."""
    said = _read(raw, _Hello)
    report = _outcome(said.report) if said.report and said.report.result in _RESULTS else None
    return Hello(**{**_cleaned(asdict(said)), "report": report})


def done_of(raw: bytes, commit: str, sent: int, received: int) -> Done:
    """What came of an order for a commit."""
    said = _read(raw, _Done)
    stands = said.outcome.result in (OK, UNCHANGED)
    if said.outcome.result not in _RESULTS or said.outcome.commit not in (commit, commit if stands else ""):
        raise Unreadable()
    if stands and not said.outcome.digest:
        raise Unreadable()
    differences = {clean(path): clean(text) for path, text in said.differences.items()}
    return Done(_outcome(said.outcome), differences, said.seconds, sent, received)


def told_of(raw: bytes) -> tuple[str, str]:
    """A step, and how far it is."""
    step, state = _read(raw, tuple[_Path, _Word])
    return clean(step), clean(state)


def problem_of(raw: bytes) -> FarError:
    """Why nothing was touched."""
    said = _read(raw, _Problem)
    kind = said.kind if said.kind in _KINDS else REFUSED
    return FarError(kind, clean(said.message), *map(clean, said.hints))


def numbers_of(raw: bytes, most: int) -> tuple[int, ...]:
    """Which of so many things the node lacks: each at most once, in order."""
    found = _read(raw, tuple[int, ...])
    if any(not 0 <= one < most for one in found) or sorted(set(found)) != list(found):
        raise Unreadable()
    return found


def _read(raw: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise Unreadable() from None


def _outcome(said: _Outcome) -> Outcome:
    return Outcome(**_cleaned(asdict(said)))


def _cleaned(said: dict[str, Any]) -> dict[str, Any]:
    return {key: _clean_any(value) for key, value in said.items()}


def _clean_any(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(clean(one) for one in value)
    return clean(value) if isinstance(value, str) else value


def clean(text: str) -> str:
    """A text without what a terminal would obey."""
    return _CONTROL.sub("\ufffd", text)
