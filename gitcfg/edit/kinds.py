"""The kinds of definitions that can be edited: their folders, and their keys."""

import re
from collections.abc import Mapping

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.model.names import FAMILY, HOST, NAME, SHEETS, did_you_mean, shown


class Kind(msgspec.Struct, frozen=True):
    """A kind: its folder, its keys in the order in which they are written, and what each key holds.

    `binds` is the mapping in which parameters are bound.
    """

    name: str
    noun: str
    folder: str
    names: re.Pattern[str]
    keys: tuple[str, ...]
    lists: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    binds: str = "params"

    @property
    def sheet(self) -> str:
        """The key below which one file holds many definitions; empty if each has its own file."""
        return self.folder if self.folder in SHEETS else ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The keys that are set as a whole."""
        return tuple(key for key in self.keys if key not in self.maps)

    def mapping(self, key: str) -> str:
        """Return the mapping that a key means. Raise GitcfgError if there is none."""
        return self.known(self.binds if key == "params" else key, self.maps)

    def known(self, key: str, among: tuple[str, ...]) -> str:
        """Return a key if it is one of some. Raise GitcfgError if it is not."""
        if key in among:
            return key
        near = did_you_mean(key, among) or f"Use one of: {', '.join(among)}."
        article = "an" if self.noun[0] in "aeiou" else "a"
        raise GitcfgError(f"Cannot edit {shown(key)} of {article} {self.noun} this way.", near)


_LAYER = ("params", "files")
_HOST = (
    "nodes",
    "description",
    "address",
    "state",
    "groups",
    "features",
    "without",
    "params",
    "labels",
    "facts",
    "node_facts",
    "files",
)
_NODE = tuple(key for key in _HOST if key not in ("nodes", "node_facts"))
_HOST_LISTS = ("groups", "features", "without", "labels")
_HOST_MAPS = ("params", "facts", "files")

_COMMANDS = ("validate", "reload", "restart", "stop")
_DECLARED = ("description", "type", "schema", "default", "must_change", "restart")
_RULED = ("install", "limit", "set", "domain", "require", "forbid", "allow")

_ALL = (
    Kind(
        "feature",
        "feature",
        "features",
        NAME,
        ("description", "include", "depends", "conflicts", "after", *_LAYER),
        ("include", "depends", "conflicts", "after"),
        _LAYER,
    ),
    Kind(
        "group", "group", "groups", NAME, ("description", "features", *_LAYER), ("features", "nodes"), _LAYER
    ),
    Kind("node", "node", "nodes", HOST, _NODE, _HOST_LISTS, _HOST_MAPS),
    Kind("nodeset", "node set", "nodesets", NAME, _HOST, _HOST_LISTS, (*_HOST_MAPS, "node_facts")),
    Kind(
        "override",
        "override",
        "overrides",
        NAME,
        ("nodes", "where", "reason", "until", "features", "without", *_LAYER),
        ("features", "without"),
        _LAYER,
    ),
    Kind("hold", "hold", "holds", NAME, ("nodes", "where", "reason", "until", "commit")),
    Kind(
        "secret", "secret", "secrets", NAME, ("description", "for", "version", "recipients"), ("recipients",)
    ),
    Kind(
        "subsystem",
        "subsystem",
        "subsystems",
        NAME,
        ("description", "params", "files", "features", "covers", *_COMMANDS, "check", "using"),
        ("params", "files", "features", "covers"),
    ),
    Kind(
        "parameter",
        "parameter",
        "parameters",
        FAMILY,
        (*_DECLARED, "depends", "conflicts", "secret", "separator", "unique", "macros", "level", "tags"),
        ("depends", "conflicts", "tags"),
    ),
    Kind(
        "rule",
        "rule",
        "rules",
        NAME,
        ("description", *_RULED, "where", "over", "per", "count", "unique", "message"),
        maps=("set",),
        binds="set",
    ),
    Kind("allocation", "allocation", "allocations", NAME, ("install", "values"), ("install",), ("values",)),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


def kind_of(word: str) -> Kind:
    """Return the kind of that name. Raise GitcfgError if there is none that can be edited."""
    found = KINDS.get(word.lower()) or KINDS.get(word.lower().removesuffix("s"))
    if found is None:
        raise GitcfgError(f"{shown(word)} is not a kind to edit.", f"Use one of: {', '.join(KINDS)}.")
    return found
