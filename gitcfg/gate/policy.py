"""What the gate demands: said at the tip that a push wants to move, and by the server's administrator."""

import msgspec

from gitcfg.gate.permits.permits import Permits, permits
from gitcfg.git.config import Config
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.reading import Reading
from gitcfg.load.root import FILE
from gitcfg.load.settings import load_settings
from gitcfg.model import Origin, Settings
from gitcfg.model.globs import selects
from gitcfg.model.kinds import SIGNERS

PUSHER = "gitcfg.pusher"
"""The administrator's word for which variable of the environment names who pushes."""


class Policy(msgspec.Struct, frozen=True):
    """What counts for the refs that a push moves.

    `signers` is what says who may sign where commits must be signed, `unreadable` that the settings could
    not be understood, so that the strictest count. `permits` are the rules about who may change what.
    """

    protected: tuple[str, ...]
    each: bool
    ratchet: bool
    signed: bool
    signers: bytes
    unreadable: bool = False
    permits: Permits = Permits()

    def protects(self, ref: str) -> bool:
        """Does the gate refuse what is wrong on this ref?"""
        return selects(self.protected, ref)


class Administrator(msgspec.Struct, frozen=True):
    """What `git config gitcfg.*` of the server says; None where it says nothing."""

    protected: tuple[str, ...] | None
    each: bool | None
    ratchet: bool | None
    signed: bool | None
    signers: bytes | None
    deletion: bool
    rewind: bool
    parsers: bool


def administrator(config: Config) -> Administrator:
    """Read it. GitcfgError: a value is none of those that there are, or no file where one should be."""
    check = config.choice("gitcfg.check", ("tip", "each"))
    signatures = config.choice("gitcfg.signatures", ("off", "require"))
    return Administrator(
        protected=config.all("gitcfg.protected") or None,
        each=None if check is None else check == "each",
        ratchet=config.flag("gitcfg.ratchet"),
        signed=None if signatures is None else signatures == "require",
        signers=config.file("gitcfg.allowedSigners"),
        deletion=config.flag("gitcfg.allowDeletion") or False,
        rewind=config.flag("gitcfg.allowRewind") or False,
        parsers=config.flag("gitcfg.parsers") or False,
    )


def policy(ruling: Tree | None, head: str, said: Administrator) -> Policy:
    """What a tip demands, but for what the administrator says; without a tip `head` is protected, too."""
    if ruling is None:
        default = Settings(Origin(FILE))
        demanded = Policy(tuple(dict.fromkeys((*default.protected, head))), False, False, False, b"")
    else:
        demanded = msgspec.structs.replace(_demanded(ruling), permits=permits(ruling))
    ours = {name: getattr(said, name) for name in ("protected", "each", "ratchet", "signed", "signers")}
    return msgspec.structs.replace(
        demanded, **{name: value for name, value in ours.items() if value is not None}
    )


def _demanded(ruling: Tree) -> Policy:
    reading = Reading(ruling)
    found, allowed = load_settings(reading), signers(ruling)
    if found is None or reading.findings:
        # Nothing may be opened by a file that cannot be read.
        return Policy(("*",), False, False, bool(allowed), allowed, unreadable=True)
    signed = found.signatures == "require"
    return Policy(found.protected, found.check == "each", found.ratchet, signed, allowed)


def signers(tree: Tree) -> bytes:
    """What a tree says of who may sign; nothing where no file does."""
    entry = tree.entry(SIGNERS)
    return tree.read(entry) if entry is not None and entry.kind is EntryKind.FILE else b""
