"""The values that one `$collect` finds, by the facts that nodes must share: found once for all nodes."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.cel import OTHER_VARIABLES, Budget, CelProblem, compile_condition
from gitcfg.compile.cell import MAX_WEIGHT
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import weigh
from gitcfg.compile.nodes import Roster, Said
from gitcfg.compile.operations import as_items, identity
from gitcfg.compile.ruled.asking import Seen, asked
from gitcfg.compile.ruled.collect import NAME, Collect, Collected, Lack, Why
from gitcfg.compile.ruled.reading import Where, bare
from gitcfg.compile.values import presentable
from gitcfg.model.secrets import is_secret

KNOWN = {name: kind for name, kind in OTHER_VARIABLES.items() if name != "other.params"}
"""Values of other nodes may be collected themselves: conditions see none."""
_A_NODE = 1_000
"""What each node may give on average, beyond what one value may weigh: what is collected from what was
collected grows with every step."""


class _Given(msgspec.Struct, frozen=True):
    """What nodes of a class give, and why that is not all."""

    items: list[Any]
    weight: int = 0
    lack: Lack | None = None


class Index:
    """What is collected, by key; `problem` is why nothing can be, `failed` why not from some nodes, by name.

    Where one node gives nothing because of `failed`, or because it could not collect itself (`lacking`),
    nothing is collected at all from those with its key: half of it would pass for the whole.
    """

    def __init__(
        self,
        collect: Collect,
        classes: Iterable[NodeClass],
        roster: Roster,
        lacking: Callable[[NodeClass, str], Lack | None],
    ) -> None:
        self.collect = collect
        self.failed: Mapping[str, CelProblem] = {}
        self.problem: CelProblem | None = None
        self._whole: Lack | None = None
        self._parts: dict[Hashable, Lack] = {}
        self._found: dict[Hashable, list[tuple[str, Any]]] = {}
        self._made: dict[Hashable, Collected] = {}
        having = [kind for kind in classes if collect.feature in kind.features]
        nodes = {name: (kind, roster.said(name)) for kind in having for name in kind.names}
        chosen = self._chosen(nodes)
        for name in self.failed:
            self._lacks(key_of(collect, nodes[name][1]), Lack(Why.FAILED, collect))
        values = having if collect.param != NAME else ()
        self._fill(sorted(chosen), nodes, {id(kind): _values(collect, kind, lacking) for kind in values})

    def _fill(
        self, chosen: list[str], nodes: Mapping[str, tuple[NodeClass, Said]], values: Mapping[int, _Given]
    ) -> None:
        left = MAX_WEIGHT + _A_NODE * len(nodes)
        for name in chosen:
            kind, said = nodes[name]
            key = key_of(self.collect, said)
            given = values.get(id(kind)) or _Given([name])
            if key is None:
                continue
            self._lacks(key, given.lack)
            left -= given.weight
            if left < 0:
                self._whole = Lack(Why.TOO_MUCH, self.collect)
                return
            self._found.setdefault(key, []).extend((name, item) for item in given.items)

    def _lacks(self, key: Hashable | None, lack: Lack | None) -> None:
        if key is not None and lack is not None:
            self._parts.setdefault(key, lack)

    def _chosen(self, nodes: Mapping[str, tuple[NodeClass, Said]]) -> Iterable[str]:
        """Those for which the condition holds."""
        if self.collect.where is None:
            return nodes
        try:
            where = Where(compile_condition(self.collect.where, KNOWN), None)
        except CelProblem as problem:
            self.problem = bare(problem)
            self._whole = Lack(Why.UNREADABLE, self.collect)
            return ()
        seen = [Seen(name, said, kind.features) for name, (kind, said) in nodes.items()]
        answers = asked(where, seen, Budget())
        self.failed = answers.failed
        return [one.name for one in answers.holding]

    def of(self, said: Said) -> Collected:
        """What a node collects; nothing where it has not all the facts."""
        key = key_of(self.collect, said)
        if key not in self._made:
            lack = self._whole or self._parts.get(key)
            found = self._found.get(key, [])
            self._made[key] = self._collected(found) if lack is None else Collected(None, lack=lack)
        return self._made[key]

    def _collected(self, found: list[tuple[str, Any]]) -> Collected:
        if self.collect.sort != NAME:
            found = sorted(found, key=lambda item: (_text(item[1]), item[0]))
        nodes, items = tuple(dict.fromkeys(name for name, _ in found)), [item for _, item in found]
        if self.collect.one:
            lack = Lack(Why.NOT_ONE, self.collect, nodes, len(items))
            return Collected(items[0], nodes) if len(items) == 1 else Collected(None, nodes, lack)
        join = self.collect.join
        return Collected(items if join is None else join.join(map(_text, items)), nodes)


def key_of(collect: Collect, said: Said) -> Hashable | None:
    """The facts that nodes must share; None where one is not given."""
    facts = [said.facts[name].value for name in collect.same if name in said.facts]
    known = len(facts) == len(collect.same) and None not in facts
    return tuple(map(identity, facts)) if known else None


def _values(collect: Collect, kind: NodeClass, lacking: Callable[[NodeClass, str], Lack | None]) -> _Given:
    """What nodes of a class give: of a list its items, of what is not bound, and of secrets, nothing."""
    value = kind.some((collect.param,)).get(collect.param)
    if is_secret(value):
        return _Given([], lack=Lack(Why.SECRET, collect))
    items = [item for item in ([] if value is None else as_items(value)) if presentable(item)]
    return _Given(items, weigh(items), lacking(kind, collect.param))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
