"""What features ask of the nodes that get them: others that must be there, and others that must not."""

from collections.abc import Iterable, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Origin
from gitcfg.solve.fleet.causes import Cause
from gitcfg.solve.fleet.ground import Ground

Lacking = tuple[str, Cause]
"""A feature that has to be there, and why."""


class Demands:
    """The demands of features with all that they include, looked at once for nodes that are alike."""

    def __init__(self, fleet: Fleet, ground: Ground) -> None:
        self._features = fleet.model.features
        self._ground = ground
        self._apart: dict[str, dict[str, tuple[Origin, ...]]] = {}
        for name in sorted(self._features):
            for ref in self._features[name].conflicts:
                for one, other in ((name, ref.name), (ref.name, name)):
                    known = self._apart.setdefault(one, {})
                    known[other] = (*known.get(other, ()), ref.origin)
        self._lacking: dict[tuple[str, frozenset[str], frozenset[str]], tuple[Lacking, ...]] = {}
        self._clashing: dict[tuple[str, frozenset[str], frozenset[str]], Cause | None] = {}

    def lacking(self, feature: str, node: str) -> tuple[Lacking, ...]:
        """What a feature depends on that a node does not have."""
        have, without = self._ground.features(node), self._ground.without(node)
        key = (feature, have, without)
        if key not in self._lacking:
            whole = self._ground.whole(feature, without)
            self._lacking[key] = tuple(self._missing(whole, have | whole | self._ground.later))
        return self._lacking[key]

    def _missing(self, whole: Iterable[str], have: frozenset[str]) -> Iterator[Lacking]:
        for name in sorted(whole):
            for ref in self._features[name].depends:
                if ref.name not in have:
                    yield ref.name, Cause(f"{name} depends on {ref.name}", (ref.origin,))

    def clash(self, feature: str, node: str) -> Cause | None:
        """Why a node may not get a feature, for what it has."""
        return self._apart_from(feature, self._ground.features(node), self._ground.without(node))

    def clash_of(self, one: str, other: str, node: str) -> Cause | None:
        """Why a node may not get two features together."""
        without = self._ground.without(node)
        return self._apart_from(one, self._ground.whole(other, without), without)

    def _apart_from(self, feature: str, have: frozenset[str], without: frozenset[str]) -> Cause | None:
        key = (feature, have, without)
        if key not in self._clashing:
            pairs = (
                Cause(f"{min(name, other)} conflicts with {max(name, other)}", origins)
                for name in sorted(self._ground.whole(feature, without))
                for other, origins in self._apart.get(name, {}).items()
                if other in have and other != name
            )
            self._clashing[key] = next(pairs, None)
        return self._clashing[key]
