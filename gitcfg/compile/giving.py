"""Rules that give attributes to instances of features, and which features these may be."""

from collections.abc import Iterator, Mapping, Set
from functools import cached_property

from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.instances import attributes_of
from gitcfg.model import Feature
from gitcfg.model.rules import Rule


class GivingRules:
    """Rules that give instances attributes that no list says, and what they install over these."""

    def __init__(
        self, features: Mapping[str, Feature], rules: Mapping[str, Rule], inclusion: Inclusion
    ) -> None:
        self._features = features
        self._rules = rules
        self._inclusion = inclusion
        self._as_instances: dict[str, Set[str]] = {}

    def rules(self, feature: str, attribute: str) -> Iterator[Rule]:
        """The rules that may give instances of a feature an attribute, on some nodes."""
        for rule in self._giving:
            if attribute in rule.domains and self.gives(rule, feature):
                yield rule

    def gives(self, rule: Rule, feature: str) -> bool:
        """May a rule over instances give those of a feature anything?"""
        over = rule.over.name if rule.over is not None else ""
        return self._near(feature, over) or feature in self._installed(over)

    @cached_property
    def asking(self) -> frozenset[str]:
        """The features that speak of an attribute which rules may give their instances."""
        features = self._features.values() if self._giving else ()
        return frozenset(
            feature.name
            for feature in features
            if any(any(self.rules(feature.name, name)) for name in attributes_of(feature))
        )

    @cached_property
    def _giving(self) -> list[Rule]:
        return [rule for rule in self._rules.values() if rule.over is not None and rule.domains]

    @cached_property
    def _installing(self) -> list[tuple[str, Set[str]]]:
        """Over which features rules install, and what."""
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
        """What may be installed as such an instance is, however often rules look at what others install."""
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
