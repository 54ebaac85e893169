"""What a deploy and a node say to each other; of a node, types, lengths and characters are checked."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec.structs import asdict

from gitcfg.deploy.outcomes import FarError, Outcome, Unreadable
from gitcfg.install import outcome as installed
from gitcfg.install.package import Actions

NO_AGENT, INSTALLED, RUNNING = "", "installed", "running"
"""Whether an agent keeps a node: there is none, it is set up, it runs now."""


class Hello(msgspec.Struct, frozen=True):
    """What stands on a node before it is asked for anything.

    `commit` and `digest` are of the package in force, None where there is none or nobody knows it. `agent` is
    "", "installed" or "running". `report` is what the last installation came to, also one whose line was cut.
    `busy` says who is installing now, `interrupted` that an installation died and is taken back first. `owed`
    is what subsystems still have to do for what is in force, like `restart startd`: an order to install has
    them do it.
    """

    python: str
    host: str
    user: str
    commit: str | None = None
    digest: str | None = None
    agent: str = NO_AGENT
    report: installed.Outcome | None = None
    busy: str = ""
    interrupted: bool = False
    problem: str = ""
    """Why the record of what is in force cannot be read; an order to install sets it aside."""
    owed: tuple[str, ...] = ()


class Order(msgspec.Struct, frozen=True):
    """What a node is asked to become: `package` as gitcfg.node/1, files with their `content`.

    `hidden` are the true contents of files that hold secrets, by path. With `dry` nothing is touched. `who`
    is named to others that find the node busy; `wait`: seconds that somebody else may take to end.
    """

    package: Mapping[str, Any]
    actions: Actions = Actions()
    hidden: Mapping[str, str] = {}
    dry: bool = False
    force_agent: bool = False
    who: str = ""
    wait: float = 10.0


class Done(msgspec.Struct, frozen=True):
    """What came of an order. `differences` are of a dry run: by path, what would change, as a diff.

    In a dry run the outcome's result is `ok` where something differs and `unchanged` where nothing does; its
    lists tell what would be changed, removed, restarted, reloaded and stopped. `sent` and `received` are
    bytes on the line, the program included, `seconds` what the node took.
    """

    outcome: installed.Outcome
    differences: Mapping[str, str] = {}
    seconds: float = 0.0
    sent: int = 0
    received: int = 0


Decide = Callable[[Hello], Order | None]
OnStep = Callable[[str, str], None]


# What a node says, as values: of the right types, of limited length, and fit for a terminal.

_Word = Annotated[str, msgspec.Meta(max_length=256)]
_Commit = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
_Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_NoDigest = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")]
_Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]
_Path = Annotated[str, msgspec.Meta(max_length=8192)]
_Paths = Annotated[tuple[_Path, ...], msgspec.Meta(max_length=20_000)]

MOST_HELLO, MOST_DONE, MOST_STEP, MOST_PROBLEM = 4 << 20, 16 << 20, 4096, 1 << 20
_KINDS = (Outcome.FULL, Outcome.BUSY, Outcome.SUDO, Outcome.REFUSED)
_IN_FORCE = (installed.OK, installed.UNCHANGED)
_RESULTS = (*_IN_FORCE, installed.REFUSED, installed.REVERTED, installed.FAILED)
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


def parse_hello(raw: bytes) -> Hello:
    """Parse the node's first words. Raise Unreadable, as all of these, if they are not."""
    hello = _read(raw, _Hello)
    report = _make_outcome(hello.report) if hello.report and hello.report.result in _RESULTS else None
    return Hello(**{**_clean_all(asdict(hello)), "report": report})


def parse_done(raw: bytes, commit: str, sent: int, received: int) -> Done:
    """Parse what came of an order for a commit."""
    done = _read(raw, _Done)
    outcome = done.outcome
    in_force = outcome.result in _IN_FORCE
    if outcome.result not in _RESULTS or outcome.commit not in (commit, commit if in_force else ""):
        raise Unreadable()
    if in_force and not outcome.digest:
        raise Unreadable()
    differences = {clean(path): clean(text) for path, text in done.differences.items()}
    return Done(_make_outcome(outcome), differences, done.seconds, sent, received)


def parse_step(raw: bytes) -> tuple[str, str]:
    """Parse a step, and how far it is."""
    step, state = _read(raw, tuple[_Path, _Word])
    return clean(step), clean(state)


def parse_problem(raw: bytes) -> FarError:
    """Parse why nothing was touched."""
    problem = _read(raw, _Problem)
    kind = Outcome(problem.kind) if problem.kind in _KINDS else Outcome.REFUSED
    return FarError(kind, clean(problem.message), *map(clean, problem.hints))


def parse_numbers(raw: bytes, most: int) -> tuple[int, ...]:
    """Parse which of so many things the node lacks: each at most once, in order."""
    found = _read(raw, tuple[int, ...])
    if any(not 0 <= one < most for one in found) or sorted(set(found)) != list(found):
        raise Unreadable()
    return found


def _read(raw: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise Unreadable() from None


def _make_outcome(outcome: _Outcome) -> installed.Outcome:
    return installed.Outcome(**_clean_all(asdict(outcome)))


def _clean_all(fields: dict[str, Any]) -> dict[str, Any]:
    for key, value in fields.items():
        if isinstance(value, tuple):
            fields[key] = tuple(map(clean, value))
        elif isinstance(value, str):
            fields[key] = clean(value)
    return fields


def clean(text: str) -> str:
    """Return a text without what a terminal would obey."""
    return _CONTROL.sub("\ufffd", text)
