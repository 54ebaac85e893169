"""Random small repositories with rules, as plain dicts too, and an independent checker of what is placed."""

from collections.abc import Mapping
from itertools import chain, combinations
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import Struct

from gitcfg.model import Origin
from gitcfg.model.rules import Allocation, Domain, Rule, RuleKind, Uniqueness
from tests.compile.rules.written import counted, install, rule

FEATURES = ("a", "b", "c", "d")
LOWEST, HIGHEST = 1, 6
Spot = tuple[str, str]


class Repository(Struct):
    """`nodes`: what each says itself; `wants`: feature, label, whether per rack, at least and at most."""

    nodes: dict[str, dict[str, Any]]
    includes: dict[str, list[str]]
    depends: dict[str, list[str]]
    conflicts: dict[str, list[str]]
    wants: dict[str, tuple[str, str, bool, int, int]]
    limit: int
    ports: tuple[int, int]

    def files(self) -> dict[str, str]:
        """The repository as it is written."""
        found = {"parameters/all": "parameters:\n  port: {type: integer}\n", "features/service": "{}"}
        for name in FEATURES:
            lists = {
                "include": self.includes[name],
                "depends": self.depends[name],
                "conflicts": self.conflicts[name],
            }
            found[f"features/{name}"] = "\n".join(
                f"{key}: [{', '.join(said)}]" for key, said in lists.items()
            )
        for name, said in self.nodes.items():
            lines = [f"labels: [{said['label']}]", f"facts: {{rack: {said['rack']}}}"]
            lines += [
                f"features: [{', '.join(said['features'])}]",
                f"without: [{', '.join(said['without'])}]",
            ]
            lines += [f"params: {{port: {said['port']}}}"] if said["port"] else []
            found[f"nodes/{name}"] = "\n".join(lines)
        return found

    def rules(self) -> list[Rule]:
        """Its rules."""
        found = [
            install(
                name,
                feature,
                where=f'"{label}" in node.labels',
                count=counted(least, most),
                **({"per": "node.facts.rack"} if per else {}),
            )
            for name, (feature, label, per, least, most) in self.wants.items()
        ]
        most = counted(0, self.limit)
        ports = Domain("port", (f"{self.ports[0]}-{self.ports[1]}",), Origin("rules/all.yaml", 9), ())
        return [
            *found,
            rule("limit", RuleKind.LIMIT, feature="service", per="node.name", count=most),
            rule("port", RuleKind.DOMAIN, domains={"port": ports}, unique=Uniqueness("fleet")),
        ]


@st.composite
def repositories(draw: DrawFn) -> Repository:
    """Two or three nodes, four features and up to three rules that count."""
    names = [f"n{n}" for n in (1, 2, 10)][: draw(st.integers(2, 3))]
    few = st.lists(st.sampled_from(FEATURES), max_size=1)
    relations = {
        key: {name: [f for f in draw(few) if f > name] for name in FEATURES}
        for key in ("includes", "depends", "conflicts")
    }
    for name in FEATURES:
        relations["conflicts"][name] = [
            f for f in relations["conflicts"][name] if f not in relations["includes"][name]
        ]
        if draw(st.booleans()):
            relations["includes"][name].append("service")
    return Repository(
        nodes={name: _node(draw) for name in names},
        wants={f"r{n}": _want(draw) for n in range(draw(st.integers(1, 3)))},
        limit=draw(st.integers(1, 2)),
        ports=draw(st.sampled_from(((1, 6), (2, 4), (3, 4)))),
        **relations,
    )


def _node(draw: DrawFn) -> dict[str, Any]:
    return {
        "label": draw(st.sampled_from("xy")),
        "rack": draw(st.sampled_from("12")),
        "features": draw(st.one_of(st.just([]), st.lists(st.sampled_from(FEATURES), max_size=1))),
        "without": draw(st.one_of(*[st.just([])] * 3, st.just(["d"]))),
        "port": draw(st.sampled_from((None, None, None, 3, 4))),
    }


def _want(draw: DrawFn) -> tuple[str, str, bool, int, int]:
    least = draw(st.integers(0, 2))
    label = draw(st.sampled_from("xxy"))
    return draw(st.sampled_from(FEATURES)), label, draw(st.booleans()), least, least + draw(st.integers(0, 1))


def whole(said: Repository, features: set[str], without: list[str]) -> set[str]:
    """Features with all that they include."""
    found: set[str] = set()
    waiting = [name for name in features if name not in without]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in without:
            found.add(name)
            waiting += said.includes.get(name, [])
    return found


def stands(said: Repository, spots: set[Spot]) -> bool:
    """Does all hold that rules and features demand, as far as these spots have to do with it?"""
    has = {}
    for name, node in said.nodes.items():
        placed = {feature for feature, slot in spots if slot == name}
        by_hand = whole(said, set(node["features"]), node["without"])
        if placed & by_hand or placed & set(node["without"]):
            return False
        has[name] = whole(said, placed | set(node["features"]), node["without"])
        if any(_nested(said, placed, node["without"])) or not _fits(said, placed, has[name], node["without"]):
            return False
        services = {f for f in has[name] - {"service"} if "service" in whole(said, {f}, node["without"])}
        outer = [f for f in services if not any(f in whole(said, {g}, []) for g in services - {f})]
        if len(outer) > said.limit:
            return False
    return all(_counts(said, want, has) for want in said.wants.values())


def _nested(said: Repository, placed: set[str], without: list[str]) -> list[bool]:
    return [
        f in whole(said, {g}, without) for f in placed for g in placed - {f} if f in whole(said, {g}, without)
    ]


def _fits(said: Repository, placed: set[str], has: set[str], without: list[str]) -> bool:
    """Are dependencies and conflicts of what is placed, with what it includes, met?"""
    mine = whole(said, placed, without) - {"service"}
    for name in mine:
        if not set(said.depends[name]) <= has:
            return False
        apart = set(said.conflicts[name]) | {f for f in FEATURES if name in said.conflicts[f]}
        if apart & has:
            return False
    return True


def _counts(said: Repository, want: tuple[str, str, bool, int, int], has: Mapping[str, set[str]]) -> bool:
    feature, label, per, least, most = want
    groups: dict[str, list[bool]] = {} if per else {"": []}
    for name, node in said.nodes.items():
        if node["label"] == label:
            groups.setdefault(node["rack"] if per else "", []).append(feature in has[name])
    return all(least <= sum(found) <= most for found in groups.values())


def able(said: Repository) -> set[Spot]:
    """Where rules may place."""
    return {
        (feature, name)
        for feature, label, *_ in said.wants.values()
        for name, node in said.nodes.items()
        if node["label"] == label
    }


def asked(said: Repository, spot: Spot) -> bool:
    """Is there a rule that wants at least some of it, or something that may need it?

    Else it does not stand: it goes, wherever it was.
    """
    feature, name = spot
    node = said.nodes[name]
    brings = whole(said, {feature}, node["without"])
    there = whole(said, set(node["features"]), node["without"])
    near = {other for other, slot in able(said) if slot == name and other not in there}
    inside = [(other, whole(said, {other}, node["without"])) for other in near]
    lacking = {
        need
        for _, all_of in inside
        for one in all_of - {"service"}
        for need in said.depends[one]
        if need not in all_of | there
    }
    counted = {want[0] for want in said.wants.values() if want[3] and want[1] == node["label"]}
    return bool(brings & (lacking | counted))


def answers(said: Repository) -> list[set[Spot]]:
    """All placements that stand."""
    open_to = sorted(able(said))
    tried = chain.from_iterable(combinations(open_to, size) for size in range(len(open_to) + 1))
    return [set(spots) for spots in tried if stands(said, set(spots))]


def spots_of(said: Repository, allocations: Mapping[str, Allocation]) -> set[Spot]:
    """What was placed."""
    return {(said.wants[name][0], ref.name) for name, one in allocations.items() for ref in one.install}
