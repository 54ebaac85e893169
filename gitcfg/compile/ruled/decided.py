"""What was decided for rules that leave a choice, by node: taken as it stands, never decided here."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.compile.ruled.brought import Attributes, Values
from gitcfg.model import Binding, Decision, Op, Ref
from gitcfg.model.rules import Allocation, Rule, RuleKind

_NO_PLACES: Mapping[str, Mapping[str, Ref]] = {}
_NO_ATTRIBUTES: Attributes = {}


class Decided:
    """Allocations by the nodes of their slots. What is decided of what no rule leaves open is nothing."""

    def __init__(self, rules: Iterable[Rule], allocations: Mapping[str, Allocation]) -> None:
        self._rules: dict[str, dict[str, None]] = {}
        self._places: dict[str, dict[str, dict[str, Ref]]] = {}
        self._values: dict[str, Values] = {}
        self._attributes: dict[str, dict[str, dict[str, Mapping[str, Binding]]]] = {}
        for rule in rules:
            found = allocations.get(rule.name)
            if found is None:
                continue
            if rule.kind is RuleKind.INSTALL and rule.count is not None:
                self._add_places(rule, found)
            elif rule.kind is RuleKind.DOMAIN:
                self._add_values(rule, found)

    def _add_places(self, rule: Rule, found: Allocation) -> None:
        places = self._places[rule.name] = {}
        for ref in found.install:
            node, _, name = ref.name.partition("/")
            if node and (rule.over is not None or not name):  # nodes that walk in have no name yet
                places.setdefault(node, {})[name] = ref
                self._rules.setdefault(node, {})[rule.name] = None

    def _add_values(self, rule: Rule, found: Allocation) -> None:
        for slot, given in found.values.items():
            node, _, name = slot.partition("/")
            values = {key: _left_open(rule, key, said) for key, said in given.items() if key in rule.domains}
            if not node or not values or (name and rule.over is None):
                continue
            self._rules.setdefault(node, {})[rule.name] = None
            if rule.over is None:
                self._values[node] = (*self._values.get(node, ()), (rule.name, _defaults(values)))
            else:
                instances = self._attributes.setdefault(node, {}).setdefault(rule.over.name, {})
                instances[name] = {**instances.get(name, {}), **values}

    def rules(self, node: str) -> tuple[str, ...]:
        """The rules for which something was decided about a node."""
        return tuple(self._rules.get(node, ()))

    def places(self, rule: str) -> Mapping[str, Mapping[str, Ref]]:
        """By node, the instances on it ("": the node itself) where a rule puts its feature."""
        return self._places.get(rule, _NO_PLACES)

    def values(self, node: str) -> Values:
        """The values of a node by rule, lowest first."""
        return self._values.get(node, ())

    def attributes(self, node: str) -> Attributes:
        """The attributes of instances on a node."""
        return self._attributes.get(node, _NO_ATTRIBUTES)


def _left_open(rule: Rule, name: str, said: Binding) -> Binding:
    """A value with the rule that left it open."""
    decision = Decision(rule.name, name, rule.domains[name].origin, said.origin)
    return msgspec.structs.replace(said, decided=(decision,))


def _defaults(values: Mapping[str, Binding]) -> dict[str, Binding]:
    """What is said by hand wins."""
    return {param: msgspec.structs.replace(bound, op=Op.DEFAULT) for param, bound in values.items()}
