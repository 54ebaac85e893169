"""The options of `gitcfg deploy`, and their common checks."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated

import msgspec
import typer

from gitcfg.model import GitcfgError, Share
from gitcfg.model.names import shown
from gitcfg.model.text import seconds

Nodes = Annotated[
    list[str] | None,
    typer.Argument(
        help="Nodes: names, exec[001-100], @group; default: all that are not retired.", metavar="NODES"
    ),
]
At = Annotated[
    str | None,
    typer.Option(help="The commit; default: the protected branch as last fetched.", metavar="REV"),
]
Unreviewed = Annotated[
    bool, typer.Option("--unreviewed", help="Allow a commit that is on no protected branch; needs --reason.")
]
Reason = Annotated[
    str | None, typer.Option(help="Why it cannot wait for a review; recorded.", metavar="TEXT")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Connect, and show what would change. Exits 1 if anything would.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        help="Continue a run, given by its id or last, with the nodes that are not done.", metavar="RUN"
    ),
]
Batch = Annotated[
    str | None,
    typer.Option(
        help="Cumulative sizes of batches: 1,10%,50%; a last batch has the rest.",
        metavar="N|N%,...",
    ),
]
Jobs = Annotated[
    int, typer.Option(help="Maximum number of nodes at the same time.", metavar="N", min=1, max=1000)
]
MaxFailures = Annotated[
    str | None,
    typer.Option(help="Start no other node after more failures than this in the whole run.", metavar="N|N%"),
]
MaxUnreachable = Annotated[
    str | None,
    typer.Option(help="Start no other node after more unreachable nodes than this.", metavar="N|N%"),
]
Timeout = Annotated[str, typer.Option(help="Timeout of a node: 90s, 10m, 2h.", metavar="TIME")]
ConnectTimeout = Annotated[str, typer.Option(help="Timeout of a connection.", metavar="TIME")]
User = Annotated[str | None, typer.Option(help="User to log in as; default: as ssh does.", metavar="TEXT")]
SshConfig = Annotated[
    str | None, typer.Option("--ssh-config", help="Use this file, not ssh's own settings.", metavar="FILE")
]
AcceptNew = Annotated[
    bool,
    typer.Option("--accept-new", help="Trust unknown host keys, and write them to known_hosts."),
]
Sudo = Annotated[
    bool | None, typer.Option("--sudo/--no-sudo", help="Use sudo, or not; default: unless logged in as root.")
]
AskSudo = Annotated[
    bool, typer.Option("--ask-sudo", help="Ask once for sudo's password; without a terminal, read stdin.")
]
Root = Annotated[str, typer.Option(help="Folder on the nodes to use as /.", metavar="DIR")]
StateDir = Annotated[
    str, typer.Option("--state-dir", help="Folder on the nodes for gitcfg's state.", metavar="DIR")
]
_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%?)")


class Which(msgspec.Struct, frozen=True):
    """The nodes and the commit; `resume` names a run that has both."""

    words: tuple[str, ...]
    where: str | None
    at: str | None
    resume: str | None


class Consent(msgspec.Struct, frozen=True):
    """What the user has agreed to beforehand."""

    yes: bool
    dry: bool
    unreviewed: bool
    reason: str | None


class Limits(msgspec.Struct, frozen=True):
    """The number of nodes at once, the batches, and the failures after which no further node begins."""

    batches: tuple[Share, ...]
    jobs: int
    failures: Share | None
    unreached: Share | None

    @classmethod
    def read(cls, batch: str | None, jobs: int, failures: str | None, unreached: str | None) -> "Limits":
        """Read the options. Raise GitcfgError if they make no sense."""
        words = batch.split(",") if batch is not None else ()
        sizes = tuple(_parse_share("--batch", word, 1) for word in words)
        for before, after in pairwise(sizes):
            if before.percent == after.percent and before.number >= after.number:
                message = f"--batch: {after.written} is not larger than {before.written} before it."
                raise GitcfgError(message, "Sizes are cumulative: 1,10%,50%.")
        return cls(
            sizes,
            jobs,
            None if failures is None else _parse_share("--max-failures", failures, 0),
            None if unreached is None else _parse_share("--max-unreachable", unreached, 0),
        )


class SshOptions(msgspec.Struct, frozen=True):
    """How nodes are reached, and with which rights; times are in seconds."""

    timeout: float
    connect_timeout: float
    user: str | None
    ssh_config: str | None
    accept_new: bool
    sudo: bool | None
    ask_sudo: bool
    root: str
    state: str

    @classmethod
    def read(
        cls,
        times: tuple[str, str],
        login: tuple[str | None, str | None, bool],
        sudo: tuple[bool | None, bool],
        folders: tuple[str, str],
    ) -> "SshOptions":
        """Read the options. Raise GitcfgError if they make no sense."""
        if sudo == (False, True):
            raise GitcfgError("--no-sudo and --ask-sudo cannot be used together.", "Use one of them.")
        for option, folder in zip(("--root", "--state-dir"), folders, strict=True):
            if not folder.startswith("/") or ".." in folder.split("/") or not folder.isprintable():
                raise GitcfgError(f"{option} must be an absolute path, and {shown(folder)} is not one.")
        timeout = _parse_time("--timeout", times[0])
        return cls(timeout, _parse_time("--connect-timeout", times[1]), *login, *sudo, *folders)


class DeployOptions(msgspec.Struct, frozen=True):
    """All options of a deploy."""

    which: Which
    consent: Consent
    limits: Limits
    ways: SshOptions


def check_options(which: Which, consent: Consent, limits: Limits, ways: SshOptions) -> DeployOptions:
    """Combine the options. Raise GitcfgError if some exclude each other."""
    if which.resume is not None and (which.words or which.where is not None or which.at is not None):
        message = "--resume continues with the nodes and the commit of a run."
        raise GitcfgError(message, "Do not name nodes or a commit with it.")
    if consent.unreviewed and consent.reason is None and which.resume is None:
        message = "--unreviewed needs a reason."
        raise GitcfgError(
            message, "Use --reason TEXT to say why it cannot wait for a review; it is recorded."
        )
    if consent.reason is not None and not consent.unreviewed:
        raise GitcfgError("--reason needs --unreviewed.", "A reviewed commit has its reason in git.")
    return DeployOptions(which, consent, limits, ways)


def _parse_share(option: str, text: str, least: int) -> Share:
    found = _SHARE.fullmatch(text.strip())
    number = float(found[1]) if found else -1.0
    percent = bool(found and found[2])
    if (number < least and not (percent and number > 0)) or (percent and number > 100):
        raise GitcfgError(f"{option}: {shown(text)} is not a number of nodes.", "Write 3, or a share: 10%.")
    if not percent and number != int(number):
        message = f"{option}: {shown(text)} is not a whole number of nodes."
        raise GitcfgError(message, "Write 3, or a share: 10%.")
    return Share(number if percent else int(number), percent)


def _parse_time(option: str, text: str) -> float:
    found = seconds(text)
    if not found:
        raise GitcfgError(f"{option}: {shown(text)} is not a duration.", "Write 90s, 10m or 2h.")
    return found


def refuse_empty(context: typer.Context) -> None:
    """Raise GitcfgError if a word on the command line is empty: it may be a variable that was never set.

    An empty variable of the environment counts as not set.
    """
    for param in context.command.params:
        name = param.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params.get(name)
        words = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        if any(isinstance(word, str) and not word.strip() for word in words):
            option = param.opts[0] if param.param_type_name == "option" else "An argument for nodes"
            raise GitcfgError(f"{option} is empty.", "Omit it, or give it a value.")
