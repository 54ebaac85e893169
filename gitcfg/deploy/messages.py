"""The messages between a deploy and a node; types, lengths and characters of the node's are checked."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec.structs import asdict

from gitcfg.deploy.outcomes import FarError, Outcome, Unreadable
from gitcfg.install import outcome as installed
from gitcfg.install.package import Actions

NO_AGENT, INSTALLED, RUNNING = "", "installed", "running"
"""Whether an agent manages a node: there is none, it is installed, it is running."""


class Hello(msgspec.Struct, frozen=True):
    """The state of a node before it gets an order.

    `commit` and `digest` are of the installed package, None if there is none or it is unknown. `agent` is "",
    "installed" or "running". `report` is the outcome of the last installation, even if its connection was
    cut. `busy` names the process that is installing now. `interrupted` means that an installation was
    interrupted and is rolled back first. `owed` lists the pending actions of subsystems, like `restart
    startd`: the next installation runs them.
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
    """Why the record of what is installed cannot be read; the next installation renames it."""
    owed: tuple[str, ...] = ()


class Order(msgspec.Struct, frozen=True):
    """What a node must become: `package` is gitcfg.node/1, with the `content` of files.

    `hidden` are the true contents of files with secrets, by path. With `dry`, nothing is touched. `who` is
    shown to others that find the node busy; `wait` is how many seconds another installation may take to end.
    """

    package: Mapping[str, Any]
    actions: Actions = Actions()
    hidden: Mapping[str, str] = {}
    dry: bool = False
    force_agent: bool = False
    who: str = ""
    wait: float = 10.0


class Done(msgspec.Struct, frozen=True):
    """The result of an order. `differences` are of a dry run: the diffs by path.

    In a dry run, the outcome's result is `ok` if something differs, else `unchanged`; its lists are what
    would be changed, removed, restarted, reloaded and stopped. `sent` and `received` are bytes on the line,
    with the program; `seconds` is the time on the node.
    """

    outcome: installed.Outcome
    differences: Mapping[str, str] = {}
    seconds: float = 0.0
    sent: int = 0
    received: int = 0


Decide = Callable[[Hello], Order | None]
OnStep = Callable[[str, str], None]


# A node's messages as values: of the right types and lengths, and safe for a terminal.

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
    """Parse the node's first message. Raise Unreadable, as all of these functions, if it is not valid."""
    hello = _read(raw, _Hello)
    report = _make_outcome(hello.report) if hello.report and hello.report.result in _RESULTS else None
    return Hello(**{**_clean_all(asdict(hello)), "report": report})


def parse_done(raw: bytes, commit: str, sent: int, received: int) -> Done:
    """Parse the result of an order for a commit."""
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
    """Parse a step, and its state."""
    step, state = _read(raw, tuple[_Path, _Word])
    return clean(step), clean(state)


def parse_problem(raw: bytes) -> FarError:
    """Parse the reason why nothing was touched."""
    problem = _read(raw, _Problem)
    kind = Outcome(problem.kind) if problem.kind in _KINDS else Outcome.REFUSED
    return FarError(kind, clean(problem.message), *map(clean, problem.hints))


def parse_numbers(raw: bytes, most: int) -> tuple[int, ...]:
    """Parse the numbers, below `most`, of what the node lacks: each at most once, in order."""
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
    """Return a text without characters that a terminal obeys."""
    return _CONTROL.sub("\ufffd", text)
