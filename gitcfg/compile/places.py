"""How many places a feature brings features to: counted before anything is composed."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property

from gitcfg.compile.inclusion import MAX_CIRCLE, Inclusion
from gitcfg.compile.instances import Instance, Substitution, instance_of, marked
from gitcfg.load.parts import MAX_INSTANCES
from gitcfg.model import Feature, Use
from gitcfg.model.graph import reverse
from gitcfg.model.nodeset import NodeSetError, expand

_NOWHERE = frozenset[str]()
_AS = re.compile(r"\$\{as\}")
_RANGES = re.compile(r"\[[^\]]*\$\{")


class Places:
    """Counts the layers that a feature consists of, one for each way that leads to it.

    Includes and instances multiply, so a count stops at `most`. `given` is an entry of a list with what
    rules decided for its instance.
    """

    def __init__(
        self,
        features: Mapping[str, Feature],
        inclusion: Inclusion,
        most: int,
        given: Callable[[Use], Use] = lambda use: use,
    ) -> None:
        self.most = most
        self._features = features
        self._inclusion = inclusion
        self._given = given
        self._known: dict[tuple[str, str, frozenset[str]], int] = {}
        self._left = most

    def of(self, use: Use) -> int:
        """Return the number of places, or `most` + 1 if there are more."""
        self._left = self.most
        return self._of(use, _NOWHERE)

    def of_unused(self, feature: str) -> int:
        """Return the same for a feature that may be in no list; if it needs an instance, for any."""
        said = self._features[feature]
        return self.of(Use(feature, said.origin, "x" if marked(said) else None))

    def crowded(self, feature: str) -> Use | None:
        """Return the include that brings a feature to too many places, unless one below it does so itself."""
        if self.of_unused(feature) <= self.most:
            return None
        counts = [(self.of_unused(use.feature), use) for use in self._includes(feature)]
        if any(count > self.most for count, _ in counts):
            return None
        return max(counts, key=lambda count: count[0])[1] if counts else None

    def _includes(self, feature: str) -> tuple[Use, ...]:
        return tuple(use for use in self._features[feature].include if use.feature in self._features)

    def _of(self, use: Use, above: frozenset[str]) -> int:
        name = use.feature
        if name not in self._features or name in above or name in self._inclusion.deep:
            return 0
        whole = self._inclusion.circles.get(name, _NOWHERE)
        circle = above & whole
        if circle and len(whole) > MAX_CIRCLE:
            return 0
        instance = instance_of(self._given(use)) if name in self._varying else None
        key = (name, instance.key if instance else "", circle)
        if key in self._known:
            return self._known[key]
        total = self._counted(name, instance, circle | {name})
        if total <= self.most or self._left > 0:
            self._known[key] = total
        return total

    def _counted(self, name: str, instance: Instance | None, above: frozenset[str]) -> int:
        include = self._features[name].include
        total = 1
        if name in self._varying:
            self._left -= 1
            include = Substitution(name, instance).uses(include) if instance else include
        for use in include:
            if total > self.most or self._left <= 0:
                return self.most + 1
            total += (1 if instance else _names(use)) * self._of(use, above)
        return min(total, self.most + 1)

    @cached_property
    def _varying(self) -> frozenset[str]:
        """The features whose places depend on the names and attributes of their instances."""
        asking = {
            name
            for name, feature in self._features.items()
            if any(use.instance is not None and _asks(use.instance) for use in feature.include)
        }
        above, found = reverse(self._inclusion.edges) if asking else {}, set[str]()
        while asking:
            name = asking.pop()
            found.add(name)
            asking.update(other for other in above[name] if other not in found)
        return frozenset(found)


def _asks(text: str) -> bool:
    """Does it depend on an outer instance how many names an `as` stands for?"""
    return "${" in _AS.sub("", text) or _RANGES.search(text) is not None


def _names(use: Use) -> int:
    """For how many instances an entry stands, whatever the outer one is called."""
    if use.instance is None or "${" not in use.instance:
        return 1
    try:
        return len(expand(_AS.sub("x", use.instance), MAX_INSTANCES))
    except NodeSetError:
        return 1
