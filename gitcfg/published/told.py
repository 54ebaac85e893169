"""What a commit of rendered nodes says of itself: trailers that name where it comes from."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from gitcfg import __version__
from gitcfg.model.nodeset import NodeSetError, expand, fold
from gitcfg.model.text import ABBREVIATED

SOURCE = "Gitcfg-Source"
_COMMIT = re.compile("[0-9a-f]{40}")
_VERSION, _NODES, _HELD = "Gitcfg-Version", "Gitcfg-Nodes", "Gitcfg-Held"


class Provenance(msgspec.Struct, frozen=True):
    """The commit that nodes were rendered from.

    `whole`: they were all nodes, as this version of gitcfg renders them, but for those `held`, which stayed
    as they had been before.
    """

    source: str
    whole: bool
    held: frozenset[str]


def parse_trailers(trailers: Mapping[str, str], most: int) -> Provenance:
    """What trailers say; node sets of more than `most` names are not read."""
    held, readable = _names(trailers.get(_HELD, ""), most)
    source = trailers.get(SOURCE, "")
    known = readable and _COMMIT.fullmatch(source) is not None
    whole = known and _NODES not in trailers and trailers.get(_VERSION) == __version__
    return Provenance(source, whole, held)


def _names(text: str, most: int) -> tuple[frozenset[str], bool]:
    try:
        return frozenset(expand(text, most)) if text else frozenset(), True
    except NodeSetError:
        return frozenset(), False


def render_message(subject: str, source: str, nodes: Iterable[str], held: Iterable[str]) -> str:
    """A commit's message; `nodes` are those that were asked for, none if all were."""
    lines = [f"{SOURCE}: {source}", f"{_VERSION}: {__version__}"]
    lines += [f"{word}: {fold(names)}" for word, names in ((_NODES, nodes), (_HELD, held)) if names]
    first = subject or f"Rendered from {source[:ABBREVIATED]}"
    return "\n".join((first, "", *lines, ""))
