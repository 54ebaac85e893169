"""What features include, directly or not: cycles, depth, places, and attributes that rules give."""

import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cached_property

from gitcfg.compile.instances import Instance, Substitution, find_attributes, has_marks, instance_of
from gitcfg.load.parts import MAX_INSTANCES
from gitcfg.model import Feature, Use
from gitcfg.model.graph import components, reach, reverse
from gitcfg.model.rules import Rule
from gitcfg.nodeset import NodeSetError, expand

MAX_DEPTH = 100
MAX_CIRCLE = 6  # in larger cycles there are too many paths to follow: includes within them are ignored


class Inclusion:
    """The graph of the features that each feature includes.

    `reaches` is what each feature includes, directly or not. `circles` has, by feature, the cycle that it is
    in. `deep` are those with more than MAX_DEPTH levels of includes, `deepest` those of them that include no
    other of them.
    """

    def __init__(self, edges: Mapping[str, list[str]]) -> None:
        self.edges = edges
        self.reaches = reach(edges)
        order = components(edges)
        self.circles = {name: frozenset(members) for members in order if len(members) > 1 for name in members}
        depth: dict[str, int] = {}
        deepest = []
        for members in order:
            below = max((depth.get(target, 0) for name in members for target in edges[name]), default=0)
            depth.update(dict.fromkeys(members, below + len(members)))
            deepest += [name for name in members if below <= MAX_DEPTH < depth[name]]
        self.deep = frozenset(name for name, levels in depth.items() if levels > MAX_DEPTH)
        self.deepest = tuple(deepest)


# The number of places that a feature adds, counted before anything is composed.

_NOWHERE = frozenset[str]()
_AS = re.compile(r"\$\{as\}")
_RANGES = re.compile(r"\[[^\]]*\$\{")


class Places:
    """Counts the layers of a feature: one for each path of includes to each feature.

    Includes and instances multiply, so a count stops at `most`. `given` adds to an entry of a list what
    allocations decided for its instance.
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
        """Return the number of places of a feature without a list entry.

        If it needs an instance, one with an example name is used.
        """
        definition = self._features[feature]
        return self.of(Use(feature, definition.origin, "x" if has_marks(definition) else None))

    def crowded(self, feature: str) -> Use | None:
        """Return the include that causes too many places, or None.

        It is also None if a feature below has too many places itself.
        """
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
    """Return whether the number of names in an `as` depends on an outer instance."""
    return "${" in _AS.sub("", text) or _RANGES.search(text) is not None


def _names(use: Use) -> int:
    """Return the number of instances of an entry, for any name of the outer instance."""
    if use.instance is None or "${" not in use.instance:
        return 1
    try:
        return len(expand(_AS.sub("x", use.instance), MAX_INSTANCES))
    except NodeSetError:
        return 1


# Rules that give attributes to instances of features, and the features that these may be.


class GivingRules:
    """Rules that give instances attributes that no list sets, and what rules install for these."""

    def __init__(
        self, features: Mapping[str, Feature], rules: Mapping[str, Rule], inclusion: Inclusion
    ) -> None:
        self._features = features
        self._rules = rules
        self._inclusion = inclusion
        self._as_instances: dict[str, Set[str]] = {}

    def rules(self, feature: str, attribute: str) -> Iterator[Rule]:
        """Yield the rules that may give instances of a feature an attribute, on some nodes."""
        for rule in self._giving:
            if attribute in rule.domains and self.gives(rule, feature):
                yield rule

    def gives(self, rule: Rule, feature: str) -> bool:
        """Return whether a rule over instances may give attributes to those of a feature."""
        over = rule.over.name if rule.over is not None else ""
        return self._near(feature, over) or feature in self._installed(over)

    @cached_property
    def asking(self) -> frozenset[str]:
        """The features that refer to an attribute which rules may give their instances."""
        features = self._features.values() if self._giving else ()
        return frozenset(
            feature.name
            for feature in features
            if any(any(self.rules(feature.name, name)) for name in find_attributes(feature))
        )

    @cached_property
    def _giving(self) -> list[Rule]:
        return [rule for rule in self._rules.values() if rule.over is not None and rule.domains]

    @cached_property
    def _installing(self) -> list[tuple[str, Set[str]]]:
        """The features over whose instances rules install, and what they install."""
        return [
            (rule.over.name, {rule.feature.name, *self._inclusion.reaches[rule.feature.name]})
            for rule in self._rules.values()
            if rule.over is not None and rule.feature is not None and rule.feature.name in self._known
        ]

    @property
    def _known(self) -> Set[str]:
        return self._inclusion.edges.keys()

    def _near(self, feature: str, over: str) -> bool:
        return feature == over or self._inclusion.reaches.leads(feature, over)

    def _installed(self, over: str) -> Set[str]:
        """Return what rules may install for such instances, directly or through what other rules install."""
        if over not in self._as_instances:
            self._as_instances[over] = self._find_installed(over)
        return self._as_instances[over]

    def _find_installed(self, over: str) -> Set[str]:
        found, before = set[str](), -1
        while len(found) > before:
            before = len(found)
            for at, installed in self._installing:
                if at in found or self._near(at, over) or self._near(over, at):
                    found |= installed
        return found
