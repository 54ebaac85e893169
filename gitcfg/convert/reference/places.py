"""Where entries stand: the names of their files and anchors, safe whatever the names are."""

import hashlib
import re
from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.convert.reference.content import Link, Reference

FOLDERS: Mapping[str, str] = {
    "feature": "features",
    "group": "groups",
    "parameter": "parameters",
    "subsystem": "subsystems",
    "nodeset": "nodesets",
    "override": "overrides",
    "rule": "rules",
}
"""The folder of each kind."""

INDEX = "README"
_LONGEST = 100
_ODD = re.compile(r"[^A-Za-z0-9_.+@ -]")
_ODD_IN_ANCHOR = re.compile(r"[^A-Za-z0-9_.-]")


class Places(msgspec.Struct, frozen=True):
    """The file of every entry, by kind and name, without its ending."""

    stems: Mapping[tuple[str, str], str]

    def file(self, kind: str, name: str) -> str:
        """An entry's file, from the top of the folder on."""
        return f"{FOLDERS[kind]}/{self.stems[kind, name]}.md"


def assign_places(reference: Reference) -> Places:
    """A file for every entry: also where upper and lower case are one no two are the same."""
    stems: dict[tuple[str, str], str] = {}
    for chapter in reference.chapters:
        taken = {INDEX.casefold()}
        for name in sorted(entry.name for entry in chapter.entries):
            stems[chapter.kind, name] = _free_stem(safe_name(name), taken)
    return Places(stems)


def _free_stem(stem: str, taken: set[str]) -> str:
    while stem.casefold() in taken:
        stem += "~"
    taken.add(stem.casefold())
    return stem


def safe_name(name: str) -> str:
    """A name that any file system takes; what is odd in it as `~` and its code, and no two names alike."""
    text = _escape(name, _ODD)
    text = f"~2e{text[1:]}" if text.startswith(".") else text
    text = f"{text[:-1]}~20" if text.endswith(" ") else text
    return text if len(text) <= _LONGEST else f"{text[:60]}~{_digest(name)}"


def anchor(link: Link) -> str:
    """The id of an entry in a page that holds all of them."""
    return f"{link.kind}-{_escape(link.name, _ODD_IN_ANCHOR)}"


def _escape(name: str, odd: re.Pattern[str]) -> str:
    return odd.sub(lambda found: "".join(f"~{byte:02x}" for byte in _bytes(found[0])), name)


def _bytes(text: str) -> Iterable[int]:
    return text.encode("utf-8", "surrogatepass")


def _digest(name: str) -> str:
    return hashlib.sha256(bytes(_bytes(name))).hexdigest()[:16]
