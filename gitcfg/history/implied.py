"""The types that operations imply for parameters, over all definitions, followed from commit to commit."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial

from gitcfg.compile.declarations import implied_kinds
from gitcfg.history.documents import Documents
from gitcfg.history.ruling import Ruling
from gitcfg.history.snapshot import KINDS, Key, Place, Snapshot
from gitcfg.model import Settings

_COMPOSES = re.compile(rb"\$(?:append|prepend|remove|and|or|merge)|\\")
"""What a file holds that composes: the word of an operation, or an escape that may hide one."""

Counts = Counter[tuple[str, str]]
"""How many definitions imply a type for a name."""


class Implied:
    """Counts what definitions imply; files without operations are not even parsed."""

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
    """Names and types that the definition at a place implies."""
    if place is None or not _COMPOSES.search(content(place[1])):
        return frozenset()
    definition = documents.definition(*place, settings)
    if definition is None:
        return frozenset()
    said = getattr(definition, "definition", definition)
    return frozenset(implied_kinds(said.params.items()).items())


def kinds(counts: Counts, ruling: Ruling) -> Mapping[str, str]:
    """The type that each name's operations imply, those of rules among them."""
    found: dict[str, str] = {}
    for name, kind in (*counts, *implied_kinds(ruling.bindings).items()):
        found[name] = min(kind, found.get(name, kind))
    return found
