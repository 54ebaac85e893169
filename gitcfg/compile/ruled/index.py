"""The values that one `$collect` finds, by the facts that nodes must share: found once for all nodes."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.cel import OTHER_VARIABLES, Budget, CelProblem, compile_condition
from gitcfg.compile.cell import MAX_WEIGHT
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import weigh
from gitcfg.compile.nodes import Roster, Said
from gitcfg.compile.operations import as_items, identity
from gitcfg.compile.ruled.asking import Seen, asked
from gitcfg.compile.ruled.collect import NAME, Collect, Collected
from gitcfg.compile.ruled.reading import Where, bare
from gitcfg.compile.values import presentable
from gitcfg.model.secrets import is_secret

KNOWN = {name: kind for name, kind in OTHER_VARIABLES.items() if name != "other.params"}
"""Values of other nodes may be collected themselves: conditions see none."""
_A_NODE = 1_000
"""What each node may give on average, beyond what one value may weigh: what is collected from what was
collected grows with every step."""
_TOO_MUCH = CelProblem("more is collected than values may hold", hint="collect names, or from fewer nodes")


class Index:
    """What is collected, by key; `failed` is why it cannot be for some nodes, by their names."""

    def __init__(self, collect: Collect, classes: Iterable[NodeClass], roster: Roster) -> None:
        self.collect = collect
        self.failed: Mapping[str, CelProblem] = {}
        self.problem: CelProblem | None = None
        having = [kind for kind in classes if collect.feature in kind.features]
        nodes = {name: (kind, roster.said(name)) for kind in having for name in kind.names}
        values = {id(kind): _values(collect, kind) for kind in having if collect.param != NAME}
        weights = {kind: weigh(items) for kind, items in values.items()}
        left = MAX_WEIGHT + _A_NODE * len(nodes)
        self._found: dict[Hashable, list[tuple[str, Any]]] = {}
        for name in sorted(self._chosen(nodes)):
            kind, said = nodes[name]
            key = key_of(collect, said)
            if key is None:
                continue
            left -= weights.get(id(kind), 0)
            if left < 0:
                self._found, self.problem = {}, _TOO_MUCH
                break
            items = [name] if collect.param == NAME else values[id(kind)]
            self._found.setdefault(key, []).extend((name, item) for item in items)
        self._made: dict[Hashable, Collected] = {}

    def _chosen(self, nodes: Mapping[str, tuple[NodeClass, Said]]) -> Iterable[str]:
        """Those for which the condition holds."""
        if self.collect.where is None:
            return nodes
        try:
            where = Where(compile_condition(self.collect.where, KNOWN), None)
        except CelProblem as problem:
            self.problem = bare(problem)
            return ()
        seen = [Seen(name, said, kind.features) for name, (kind, said) in nodes.items()]
        answers = asked(where, seen, Budget())
        self.failed = answers.failed
        return [one.name for one in answers.holding]

    def of(self, said: Said) -> Collected:
        """What a node collects; nothing where it has not all the facts."""
        key = key_of(self.collect, said)
        if key not in self._made:
            self._made[key] = self._collected(self._found.get(key, []))
        return self._made[key]

    def _collected(self, found: list[tuple[str, Any]]) -> Collected:
        if self.collect.sort != NAME:
            found = sorted(found, key=lambda item: (_text(item[1]), item[0]))
        nodes, items = tuple(dict.fromkeys(name for name, _ in found)), [item for _, item in found]
        if self.collect.one:
            return Collected(items[0] if len(items) == 1 else None, nodes)
        join = self.collect.join
        return Collected(items if join is None else join.join(map(_text, items)), nodes)


def key_of(collect: Collect, said: Said) -> Hashable | None:
    """The facts that nodes must share; None where one is not given."""
    facts = [said.facts[name].value for name in collect.same if name in said.facts]
    known = len(facts) == len(collect.same) and None not in facts
    return tuple(map(identity, facts)) if known else None


def _values(collect: Collect, kind: NodeClass) -> list[Any]:
    """What nodes of a class give: of a list its items, of what is not bound, and of secrets, nothing."""
    value = kind.some((collect.param,)).get(collect.param)
    items = [] if value is None or is_secret(value) else as_items(value)
    return [item for item in items if presentable(item)]  # a fact may look like one, within a list


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
