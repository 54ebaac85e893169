"""What all definitions do with parameters: the types that this implies, and whether they collect values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial

from gitcfg.compile.declarations import implied_kinds
from gitcfg.history.documents import Documents
from gitcfg.history.ruling import Ruling
from gitcfg.history.snapshot import KINDS, Key, Place, Snapshot
from gitcfg.model import Op, Settings

_TELLS = re.compile(rb"\$(?:append|prepend|remove|and|or|merge|collect)|\\")
"""What a file holds that composes or collects: the word of an operation, or an escape that may hide one."""
_COLLECTED = "collected"

Counts = Counter[tuple[str, str]]
"""How many definitions imply a type for a name, or collect it."""


class Implied:
    """Counts what definitions imply and collect; files without operations are not even parsed."""

    def __init__(self, documents: Documents, content: Callable[[bytes], bytes]) -> None:
        self._by = lru_cache(maxsize=1 << 13)(partial(_of, documents, content))

    def follow(
        self, counts: Counts, settings: Settings, older: Snapshot, newer: Snapshot, keys: Iterable[Key]
    ) -> Counts:
        """The counts of a neighbour that is different in `keys`; the same ones if nothing changes them."""
        result = counts
        for kind, name in keys:
            if kind not in KINDS:
                continue
            less, more = (self._by(each.place(kind, name), settings) for each in (older, newer))
            if less != more:
                result = result + Counter(more) - Counter(less)
        return result


def _of(
    documents: Documents, content: Callable[[bytes], bytes], place: Place | None, settings: Settings
) -> frozenset[tuple[str, str]]:
    """Names with the types that the definition at a place implies, and those that it collects."""
    if place is None or not _TELLS.search(content(place[1])):
        return frozenset()
    definition = documents.definition(*place, settings)
    if definition is None:
        return frozenset()
    said = getattr(definition, "definition", definition)
    collected = ((name, _COLLECTED) for name, bound in said.params.items() if bound.op is Op.COLLECT)
    return frozenset((*implied_kinds(said.params.items()).items(), *collected))


def kinds(counts: Counts, ruling: Ruling) -> Mapping[str, str]:
    """The type that each name's operations imply, those of rules among them."""
    found: dict[str, str] = {}
    for name, kind in (*counts, *implied_kinds(ruling.bindings).items()):
        if kind != _COLLECTED:
            found[name] = min(kind, found.get(name, kind))
    return found


def collects(counts: Counts, ruling: Ruling) -> bool:
    """Is anything collected from other nodes?"""
    return any(kind == _COLLECTED for _, kind in counts) or ruling.collects
