"""Nodes' keys in keys/*.txt: parsed, accepted one per line, and removed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import count

from gitcfg.compile.nodes import Roster
from gitcfg.edit.draft import Draft
from gitcfg.load.document import MAX_BYTES
from gitcfg.load.keys import ALGORITHM, FOLDER, public_key
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import HOST, did_you_mean, shown
from gitcfg.nodeset import abridged

_DEFAULT = f"{FOLDER}/nodes.txt"
_HINT = "Write lines NODE ssh-ed25519 AAAA..., as `gitcfg-agent key` prints them."
_KEY = re.compile(r"(\s*\S+\s+)\S+\s+\S+")
_NUMBERS = re.compile("[0-9]+")


class KnownKeys(StrEnum):
    """What to do with a key of a node that has one already."""

    KEEP = "keep"
    REPLACE = "replace"


def parse_keys(data: bytes, name: str | None) -> dict[str, str]:
    """Return keys by node from lines `NODE ssh-ed25519 AAAA...`; a line of OpenSSH's `*.pub` is for `name`.

    Raise GitcfgError if a line is not a key, or a node has two.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == ALGORITHM:
            if name is None:
                hint = "Name one node, or write NODE before the key."
                raise GitcfgError("The key has no node.", hint)
            words.insert(0, name)
        node, key = words[0], " ".join(words[1:3])
        if not HOST.fullmatch(node) or public_key(key) is None:
            raise GitcfgError(f"Line {number} has no Ed25519 key: {shown(line.strip())}.", _HINT)
        if found.setdefault(node, key) != key:
            raise GitcfgError(f"Line {number} has a second key of {node}.", "Give only one of them.")
    return found


def accept_keys(draft: Draft, keys: Mapping[str, str], known: KnownKeys = KnownKeys.KEEP) -> None:
    """Write nodes' keys, each into the file that has the keys of similarly named nodes.

    Raise GitcfgError if a node is unknown and unknown nodes are not accepted, or if it has another key (4).
    """
    model = draft.model
    if model.settings.walk_in is None:
        roster = Roster(model)
        unknown = sorted(node for node in keys if node not in roster)
        if unknown:
            near, make = (
                did_you_mean(unknown[0], roster.names()),
                f"Run `gitcfg new node {unknown[0]}` to create it.",
            )
            raise GitcfgError(f"There is no node {abridged(unknown)}.", near, make)
    changed = {node: key for node, key in keys.items() if node in model.keys and model.keys[node].text != key}
    if changed and known is KnownKeys.KEEP:
        has = "has another key" if len(changed) == 1 else "have other keys"
        hint = "If they were reinstalled, use `--replace` to accept the new keys."
        raise GitcfgError(f"{abridged(changed)} {has} already.", hint, code=REFUSED)
    _replace_keys(draft, changed)
    _append_keys(draft, {node: key for node, key in keys.items() if node not in model.keys})


def forget_keys(draft: Draft, nodes: Iterable[str]) -> None:
    """Remove the lines of nodes, and files that become empty. Raise GitcfgError if a node has no key."""
    known, removed = draft.model.keys, defaultdict[str, set[int]](set)
    for node in nodes:
        if node not in known:
            raise GitcfgError(f"The repository has no key of {shown(node)}.", did_you_mean(node, known))
        origin = known[node].origin
        removed[origin.file].add(origin.line - 1)
    for file, numbers in removed.items():
        lines = (draft.text(file) or "").split("\n")
        rest = [line for number, line in enumerate(lines) if number not in numbers]
        if rest and len(lines) - 1 in numbers:  # the last line has no end, before and after
            rest[-1] = rest[-1].removesuffix("\r")
        draft.write(file, "\n".join(rest) or None)


def rename_key(draft: Draft, old: str, new: str) -> None:
    """Move a node's key, if it has one, to another name."""
    if old in draft.model.keys:
        origin = draft.model.keys[old].origin
        lines = (draft.text(origin.file) or "").split("\n")
        lines[origin.line - 1] = lines[origin.line - 1].replace(old, new, 1)
        draft.write(origin.file, "\n".join(lines))


def _replace_keys(draft: Draft, keys: Mapping[str, str]) -> None:
    """Replace keys; comments behind them stay."""
    files: dict[str, list[str]] = {}
    for node, key in keys.items():
        origin = draft.model.keys[node].origin
        lines = files.setdefault(origin.file, (draft.text(origin.file) or "").split("\n"))
        lines[origin.line - 1] = _KEY.sub(rf"\g<1>{key}", lines[origin.line - 1], count=1)
    for file, lines in files.items():
        draft.write(file, "\n".join(lines))


def _append_keys(draft: Draft, keys: Mapping[str, str]) -> None:
    """Add keys, each to the file of nodes whose names differ only in numbers, or to the only file."""
    neighbours = defaultdict[str, Counter[str]](Counter)
    files = set[str]()
    for node, known in draft.model.keys.items():
        neighbours[_NUMBERS.sub("0", node)][known.origin.file] += 1
        files.add(known.origin.file)
    default = next(iter(files)) if len(files) == 1 else _DEFAULT
    sizes: dict[str, int] = {}
    added = defaultdict[str, list[str]](list)
    for node in sorted(keys):
        line = f"{node} {keys[node]}"
        near = neighbours.get(_NUMBERS.sub("0", node))
        file = first = near.most_common(1)[0][0] if near else default
        for number in count(2):
            if file not in sizes:
                sizes[file] = len(draft.content(file))
            if sizes[file] + len(line) + 2 <= MAX_BYTES:
                break
            file = f"{first.removesuffix('.txt')}-{number}.txt"
        sizes[file] += len(line) + 2
        added[file].append(line)
    for file, lines in added.items():
        text = draft.text(file) or ""
        end = "\r\n" if "\r\n" in text else "\n"
        if text and not text.endswith("\n"):  # the file still ends without a line break
            draft.write(file, end.join([text, *lines]))
        else:
            draft.write(file, text + "".join(f"{line}{end}" for line in lines))
