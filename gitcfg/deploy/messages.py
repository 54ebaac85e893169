"""What a deploy and the far end of its line have to say to each other, as values."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from gitcfg.install.outcome import Outcome
from gitcfg.install.package import Actions

NO_AGENT, INSTALLED, RUNNING = "", "installed", "running"
"""Whether an agent keeps a node: there is none, it is set up, it runs now."""


class Line(Protocol):
    """A process on a node, its standard input and output. What it cannot do is an OSError."""

    def send(self, data: bytes) -> None:
        """Write all of it."""

    def receive(self, most: int) -> bytes:
        """At most that many bytes, as soon as there are some; nothing at the end."""

    def said(self) -> str:
        """The end of what it wrote to its standard error."""

    def ended(self) -> int | None:
        """Its exit code, once it is over."""


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
    report: Outcome | None = None
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

    outcome: Outcome
    differences: Mapping[str, str] = {}
    seconds: float = 0.0
    sent: int = 0
    received: int = 0


Decide = Callable[[Hello], Order | None]
Told = Callable[[str, str], None]
