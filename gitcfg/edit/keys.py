"""Nodes' keys in keys/*.txt: parsed, accepted a line each, and forgotten."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from gitcfg.compile.nodes import Roster
from gitcfg.edit.draft import Draft
from gitcfg.load.document import MAX_BYTES
from gitcfg.load.keys import ALGORITHM, FOLDER, public_key
from gitcfg.model import REFUSED, GitcfgError, Model
from gitcfg.model.names import HOST, did_you_mean, shown
from gitcfg.nodeset import abridged

_DEFAULT = f"{FOLDER}/nodes.txt"
_HINT = "Lines are NODE ssh-ed25519 AAAA..., as `gitcfg-agent key` prints them."
_KEY = re.compile(r"(\s*\S+\s+)\S+\s+\S+")
_NUMBERS = re.compile("[0-9]+")


class KnownKeys(StrEnum):
    """What becomes of a key that a node has already."""

    KEEP = "keep"
    REPLACE = "replace"


def parse_keys(data: bytes, name: str | None) -> dict[str, str]:
    """Return keys by node out of lines `NODE ssh-ed25519 AAAA...`; OpenSSH's own (`*.pub`) is that of `name`.

    Raise GitcfgError if a line is none, or a node has two.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == ALGORITHM:
            words.insert(0, _owner(name))
        node, key = words[0], " ".join(words[1:3])
        if not HOST.fullmatch(node) or public_key(key) is None:
            raise GitcfgError(f"Line {number} holds no Ed25519 key: {shown(line.strip())}.", _HINT)
        if found.setdefault(node, key) != key:
            raise GitcfgError(f"Line {number} has a second key of {node}.", "Hand in just one of them.")
    return found


def accept_keys(draft: Draft, keys: Mapping[str, str], another: KnownKeys = KnownKeys.KEEP) -> None:
    """Write nodes' keys, each into the file that has its neighbours'.

    Raise GitcfgError if a node is unknown and may not walk in, or has another key already (4).
    """
    model = draft.model
    _refuse_strangers(model, keys)
    others = {node: key for node, key in keys.items() if node in model.keys and model.keys[node].text != key}
    if others and another is KnownKeys.KEEP:
        has = "has another key" if len(others) == 1 else "have other keys"
        hint = "If they were set up anew, --replace takes the new ones."
        raise GitcfgError(f"{abridged(others)} {has} already.", hint, code=REFUSED)
    _replace(draft, others)
    _append(draft, {node: key for node, key in keys.items() if node not in model.keys})


def forget_keys(draft: Draft, nodes: Iterable[str]) -> None:
    """Take nodes' lines out, and with its last line a file. Raise GitcfgError if one has no key."""
    known, gone = draft.model.keys, dict[str, set[int]]()
    for node in nodes:
        if node not in known:
            raise GitcfgError(f"git has no key of {shown(node)}.", did_you_mean(node, known))
        origin = known[node].origin
        gone.setdefault(origin.file, set()).add(origin.line - 1)
    for file, lines in gone.items():
        draft.write(file, _without(draft.text(file) or "", lines) or None)


def _without(text: str, numbers: set[int]) -> str:
    """Return a text without some lines, counted from 0."""
    lines = text.split("\n")
    kept = [line for number, line in enumerate(lines) if number not in numbers]
    if kept and len(lines) - 1 in numbers:  # the last line had no end, nor shall the one before it
        kept[-1] = kept[-1].removesuffix("\r")
    return "\n".join(kept)


def rename_key(draft: Draft, old: str, new: str) -> None:
    """Give a node's key, if it has one, to another name."""
    if old in draft.model.keys:
        origin = draft.model.keys[old].origin
        lines = (draft.text(origin.file) or "").split("\n")
        lines[origin.line - 1] = lines[origin.line - 1].replace(old, new, 1)
        draft.write(origin.file, "\n".join(lines))


def _owner(name: str | None) -> str:
    if name is None:
        raise GitcfgError("It is not said whose key it is.", "Name one node, or write NODE before the key.")
    return name


def _refuse_strangers(model: Model, nodes: Iterable[str]) -> None:
    if model.settings.walk_in is not None:
        return
    roster = Roster(model)
    strange = sorted(node for node in nodes if node not in roster)
    if strange:
        near, make = did_you_mean(strange[0], roster.names()), f"`gitcfg new node {strange[0]}` makes it."
        raise GitcfgError(f"There is no node {abridged(strange)}.", near, make)


def _replace(draft: Draft, keys: Mapping[str, str]) -> None:
    """Replace keys; remarks behind them stay."""
    files: dict[str, list[str]] = {}
    for node, key in keys.items():
        origin = draft.model.keys[node].origin
        lines = files.setdefault(origin.file, (draft.text(origin.file) or "").split("\n"))
        lines[origin.line - 1] = _KEY.sub(rf"\g<1>{key}", lines[origin.line - 1], count=1)
    for file, lines in files.items():
        draft.write(file, "\n".join(lines))


def _append(draft: Draft, keys: Mapping[str, str]) -> None:
    places = _Places(draft)
    added: dict[str, list[str]] = {}
    for node in sorted(keys):
        line = f"{node} {keys[node]}"
        added.setdefault(places.of(node, len(line) + 2), []).append(line)
    for file, lines in added.items():
        draft.write(file, _with(draft.text(file) or "", lines))


def _with(text: str, lines: Iterable[str]) -> str:
    """Return a text with more lines at its end, which ends as it did before."""
    end = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        return end.join([text, *lines])
    return text + "".join(f"{line}{end}" for line in lines)


class _Places:
    """Which file a key belongs into: that of nodes whose names differ only in numbers, or the only one."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._sizes: dict[str, int] = {}
        self._near: dict[str, Counter[str]] = {}
        self._all: Counter[str] = Counter()
        for node, key in draft.model.keys.items():
            self._near.setdefault(_shape(node), Counter())[key.origin.file] += 1
            self._all[key.origin.file] += 1

    def of(self, node: str, size: int) -> str:
        """Return the file, which has room for so many bytes more."""
        near = self._near.get(_shape(node))
        only = next(iter(self._all)) if len(self._all) == 1 else _DEFAULT
        file = first = near.most_common(1)[0][0] if near else only
        number = 1
        while self._size(file) + size > MAX_BYTES:
            number += 1
            file = f"{first.removesuffix('.txt')}-{number}.txt"
        self._sizes[file] += size
        return file

    def _size(self, file: str) -> int:
        if file not in self._sizes:
            self._sizes[file] = len(self._draft.content(file))
        return self._sizes[file]


def _shape(node: str) -> str:
    return _NUMBERS.sub("0", node)
