"""What the gate demands, by the current tip of a ref and by the server's git configuration."""

import re

import msgspec

from gitcfg.gate.permits.rules import Permits, load_permits
from gitcfg.git.repository import Config, unknown_value
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.loader import Loader
from gitcfg.load.repository import FILE, load_settings
from gitcfg.model import Origin, Settings
from gitcfg.model.names import SIGNERS, selects
from gitcfg.model.text import seconds
from gitcfg.sandbox.budget import Budget

PUSHER = "gitcfg.pusher"
"""The setting by which the administrator names the environment variable with the pusher."""


_SIZE = re.compile(r"([1-9][0-9]{0,11})([kmg]?)")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Policy(msgspec.Struct, frozen=True):
    """What the gate demands of the refs that a push moves.

    `signers` is the text of allowed signers if commits must be signed. `unreadable`: the settings could not
    be read, so the strictest ones count. `permits` are the rules for who may change what.
    """

    protected: tuple[str, ...]
    each: bool
    ratchet: bool
    signed: bool
    signers: bytes
    unreadable: bool = False
    permits: Permits = Permits()

    def protects(self, ref: str) -> bool:
        """Return whether the gate refuses errors on this ref."""
        return selects(self.protected, ref)


class Administrator(msgspec.Struct, frozen=True):
    """The settings `git config gitcfg.*` of the server; None for those that are not set."""

    protected: tuple[str, ...] | None
    each: bool | None
    ratchet: bool | None
    signed: bool | None
    signers: bytes | None
    deletion: bool
    rewind: bool
    parsers: bool


def load_administrator(config: Config) -> Administrator:
    """Load the server's configuration. Raise GitcfgError if a value is unknown or a file is missing."""
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


def load_budget(config: Config) -> Budget:
    """Load the limits of the cost of judging a push. Raise GitcfgError if a value cannot be read."""
    default = Budget()
    time, memory = config.last("gitcfg.timeLimit"), config.last("gitcfg.memoryLimit")
    limit = None if time is None else seconds(f"{time}s" if time.isdigit() else time)
    size = None if memory is None else _SIZE.fullmatch(memory.lower())
    if time is not None and not limit:
        raise unknown_value("gitcfg.timeLimit", time, "a number of seconds, or a duration like `2m`")
    if memory is not None and size is None:
        expected = "a number of bytes, or a size like `512m` or `2g`"
        raise unknown_value("gitcfg.memoryLimit", memory, expected)
    most = int(size[1]) * _UNITS[size[2]] if size else default.memory
    return Budget(limit or default.seconds, most)


def load_policy(ruling: Tree | None, head: str | None, administrator: Administrator) -> Policy:
    """Return what a tip demands, overridden by the administrator's settings.

    Only the administrator may stop protecting `head`, the branch of HEAD; None: HEAD belongs to a work tree
    and is not protected.
    """
    if ruling is None:
        default = Settings(Origin(FILE))
        demanded = Policy(default.protected, False, False, False, b"")
    else:
        demanded = msgspec.structs.replace(_load_demands(ruling), permits=load_permits(ruling))
    if head is not None and not demanded.protects(head):
        demanded = msgspec.structs.replace(demanded, protected=(*demanded.protected, head))
    names = ("protected", "each", "ratchet", "signed", "signers")
    ours = {name: getattr(administrator, name) for name in names if getattr(administrator, name) is not None}
    return msgspec.structs.replace(demanded, **ours)


def _load_demands(ruling: Tree) -> Policy:
    loader = Loader(ruling)
    found, allowed = load_settings(loader), load_signers(ruling)
    if found is None or loader.findings:
        # A file that cannot be read must not remove any protection.
        return Policy(("*",), False, False, bool(allowed), allowed, unreadable=True)
    signed = found.signatures == "require"
    return Policy(found.protected, found.check == "each", found.ratchet, signed, allowed)


def load_signers(tree: Tree) -> bytes:
    """Return the text of a tree's allowed signers, empty if there is no such file."""
    entry = tree.entry(SIGNERS)
    return tree.read(entry) if entry is not None and entry.kind is EntryKind.FILE else b""
