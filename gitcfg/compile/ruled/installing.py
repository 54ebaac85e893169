"""What rules install: stratum by stratum, for many nodes at once."""

from collections.abc import Iterable, Iterator, Mapping

from gitcfg.cel import CelProblem
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.brought import Installed
from gitcfg.compile.ruled.decided import Decided
from gitcfg.compile.ruled.shapes import Shape, Shapes
from gitcfg.compile.ruled.units import by_name
from gitcfg.model import Decision, Ref, Use
from gitcfg.model.rules import Rule


class Going:
    """A node while it is found out what rules install on it."""

    def __init__(self, name: str, said: Said, shape: Shape) -> None:
        self.name = name
        self.said = said
        self.shape = shape
        self.installed: tuple[Installed, ...] = ()

    def add(self, installed: Installed) -> None:
        """Install more; rules lie upon each other in the order of their names."""
        self.installed = tuple(sorted((*self.installed, installed), key=lambda each: each.rule))


class Installing:
    """Finds what rules install. Conditions see no overrides, and of features what earlier strata brought.

    Rules that count their places install where that was decided. `failed` are, by rule and slot, conditions
    that could not be evaluated: there the rule installs nothing.
    """

    def __init__(self, book: Rulebook, shapes: Shapes, decided: Decided) -> None:
        self._book = book
        self._shapes = shapes
        self._decided = decided
        self._known: dict[str, tuple[Installed, ...]] = {}
        self.failed: dict[str, dict[str, CelProblem]] = {}

    def of(self, name: str) -> tuple[Installed, ...]:
        """What rules install on a node that was looked at, in the order of their names."""
        return self._known[name]

    def look(self, nodes: Mapping[str, Said]) -> None:
        """Find it for those nodes of which it is not known. Stopped: that cannot be found."""
        going = {
            name: Going(name, said, self._shapes.of(said))
            for name, said in nodes.items()
            if name not in self._known and not said.retired
        }
        for names in self._book.strata.layers:
            rules = [self._book.rules[name] for name in names]
            found = [(one, new) for rule in rules for one, new in self._found(rule, going)]
            for one, new in found:
                one.add(new)
        self._known.update(dict.fromkeys(nodes.keys() - self._known.keys(), ()))
        self._known.update((name, one.installed) for name, one in going.items())

    def _found(self, rule: Rule, going: Mapping[str, Going]) -> Iterator[tuple[Going, Installed]]:
        if rule.feature is None:
            return
        if rule.count is not None:
            yield from self._placed(rule, rule.feature, going)
            return
        seen = [each for one in going.values() for each in self._seen(rule, one)]
        answers = self._book.asked(rule, seen)
        if answers.failed:
            self.failed.setdefault(rule.name, {}).update(answers.failed)
        for name, holding in _by_node(answers.holding).items():
            yield going[name], _installed(rule, rule.feature, holding)

    def _placed(
        self, rule: Rule, feature: Ref, going: Mapping[str, Going]
    ) -> Iterator[tuple[Going, Installed]]:
        """Where it was decided to install a feature. For instances that are gone that is nothing."""
        places = self._decided.places(rule.name)
        for one in [going[name] for name in going.keys() & places.keys()]:
            here = places[one.name]
            found = [seen for seen in self._seen(rule, one) if seen.self_.name in here]
            uses = [_use(seen, Ref(feature.name, here[seen.self_.name].origin)) for seen in found]
            if uses:
                decided = [Decision(rule.name, feature.name, feature.origin, use.origin) for use in uses]
                yield one, Installed(rule.name, tuple(uses), one.name, tuple(decided))

    def _seen(self, rule: Rule, one: Going) -> Iterator[Seen]:
        """What the condition of a rule is asked of: a node, or the instances on it."""
        features = self._shapes.features(one.shape, one.installed)
        if rule.over is None:
            yield Seen(one.name, one.said, features)
        elif rule.over.name in features:
            for unit in by_name(self._shapes.units(one.shape, one.installed, rule.over.name)):
                yield Seen(one.name, one.said, features, unit)


def _by_node(holding: Iterable[Seen]) -> dict[str, list[Seen]]:
    found: dict[str, list[Seen]] = {}
    for seen in holding:
        found.setdefault(seen.name, []).append(seen)
    return found


def _installed(rule: Rule, feature: Ref, holding: list[Seen]) -> Installed:
    """A rule's feature, plain or as each instance for which its condition holds."""
    return Installed(rule.name, tuple([_use(seen, feature) for seen in holding]))


def _use(seen: Seen, feature: Ref) -> Use:
    """A feature as it is installed in a place."""
    if seen.unit is None:
        return Use(feature.name, feature.origin)
    return Use(feature.name, feature.origin, seen.unit.name or None, seen.unit.attributes)
