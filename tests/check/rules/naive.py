"""What is wrong with small worlds of nodes and rules, told from the definitions alone, on dictionaries."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]
Told = dict[tuple[str, str], set[str]]
"""By code and rule, the nodes that findings are about."""
INCLUDES = {"mail": ["service"], "web": ["service"], "service": [], "dhcp": [], "interface": []}
PORTS, ADDRESSES = "port", "address"
Holds = Callable[[str, Data, Data], bool]

CONDITIONS: dict[str, Holds] = {
    "true": lambda name, node, unit: True,
    "false": lambda name, node, unit: False,
    '"x" in node.labels': lambda name, node, unit: "x" in node["labels"],
    'node.facts.rack == "r1"': lambda name, node, unit: node["facts"]["rack"] == "r1",
    'node.name != "n1"': lambda name, node, unit: name != "n1",
}
"""Conditions as CEL and as Python."""
OVER: dict[str, Holds] = {
    'self.as == "eth0"': lambda name, node, unit: unit["as"] == "eth0",
    'has(self.with.subnet) && self.with.subnet == "s1"': lambda name, node, unit: (
        unit["with"]["subnet"] == "s1"
    ),
}
FINAL: dict[str, Holds] = {
    '"service" in node.features': lambda name, node, unit: "service" in node["all"],
    '!("mail" in node.features)': lambda name, node, unit: "mail" not in node["all"],
}
"""What only rules ask that install nothing: `all` are the features in the end."""
GROUPS: dict[str, Callable[[list[Data]], bool]] = {
    "size(nodes) < 3": lambda nodes: len(nodes) < 3,
    'nodes.exists(n, "x" in n.labels)': lambda nodes: any("x" in node["labels"] for node in nodes),
}
LEVELS = (1, True, 1.0, "1", "true", 0, False)
"""What CEL has equal among these: 1 and 1.0."""
KEYS: dict[str, Callable[[str, Data, Data], Any]] = {
    "node.facts.rack": lambda name, node, unit: node["facts"]["rack"],
    "node.facts.level": lambda name, node, unit: (
        f"bool {level}" if isinstance(level := node["facts"]["level"], bool) else (level,)
    ),
    "node.name": lambda name, node, unit: name,
    "self.with.subnet": lambda name, node, unit: unit["with"]["subnet"],
}
ALL = CONDITIONS | OVER | FINAL


def files(world: Data) -> dict[str, str]:
    """The repository of a world; JSON is YAML."""
    found: Data = {f"features/{name}.yaml": {"include": include} for name, include in INCLUDES.items()}
    found["parameters/p.yaml"] = {"parameters": {PORTS: {"description": "A port.", "type": "integer"}}}
    for name, node in world["nodes"].items():
        uses = [*node["features"], *({"feature": "interface", **unit} for unit in node["units"])]
        state = {"state": "retired"} if node["retired"] else {}
        kept = {key: node[key] for key in ("labels", "facts", "params")}
        found[f"nodes/{name}.yaml"] = {**kept, "features": uses, **state}
    found["rules/r.yaml"] = {"rules": world["rules"]}
    found.update((f"allocations/{name}.yaml", said) for name, said in world["allocations"].items() if said)
    return {"gitcfg.yaml": "format: 1\n"} | {path: json.dumps(said) for path, said in found.items()}


class Naive:
    """One world, gone through as often as need be."""

    def __init__(self, world: Data) -> None:
        self.nodes = {name: dict(node) for name, node in world["nodes"].items() if not node["retired"]}
        self.retired = {name for name, node in world["nodes"].items() if node["retired"]}
        self.rules, self.allocations = world["rules"], world["allocations"]
        self.told: Told = defaultdict(set)
        for name, node in self.nodes.items():
            node["units"] = [{**unit, "with": dict(unit["with"])} for unit in node["units"]]
            node["by hand"] = set(node["features"]) | ({"interface"} if node["units"] else set())
            node["put"] = [(rule, slot) for rule, slot in self.puts() if slot.partition("/")[0] == name]
        for node in self.nodes.values():
            node["all"] = self.closed(
                node["by hand"] | {self.rules[rule]["install"] for rule, _ in node["put"]}
            )

    def puts(self, *, alone: str = "") -> Iterator[tuple[str, str]]:
        """Rules that install, and where: those that do not count by themselves, the others as was decided."""
        for name, rule in self.rules.items():
            if "install" in rule and name != alone:
                there = {slot for slot, _, _ in self.slots(rule, everywhere=True)}
                if "count" not in rule:
                    yield from ((name, slot) for slot, _, _ in self.slots(rule))
                else:
                    given = self.allocations.get(name, {}).get("install", [])
                    yield from ((name, slot) for slot in given if slot in there)

    def closed(self, features: set[str]) -> set[str]:
        return features | {inner for feature in features for inner in INCLUDES[feature]}

    def slots(self, rule: Data, everywhere: bool = False) -> Iterator[tuple[str, Data, Data]]:
        holds = ALL[rule.get("where", "true")]
        for name, node in self.nodes.items():
            for unit in node["units"] if "over" in rule else [{}]:
                if everywhere or holds(name, node, unit):
                    yield (f"{name}/{unit['as']}" if unit else name), node, unit

    def groups(self, rule: Data) -> dict[Any, list[tuple[str, Data, Data]]]:
        if "per" not in rule:
            return {None: list(self.slots(rule))}
        found: dict[Any, list[tuple[str, Data, Data]]] = defaultdict(list)
        for slot, node, unit in self.slots(rule):
            found[KEYS[rule["per"]](node_of(slot), node, unit)].append((slot, node, unit))
        return found

    def counted(self, slot: str, node: Data, feature: str, *, over: bool, alone: str = "") -> int:
        """How often a place has a feature; without what one rule puts there, where that is asked."""
        put = [(rule, at) for rule, at in node["put"] if rule != alone]
        if over:
            named = {
                at
                for rule, at in put
                if self.rules[rule]["install"] == feature and "over" in self.rules[rule]
            }
            return int(slot in named)
        features = self.closed(node["by hand"] | {self.rules[rule]["install"] for rule, _ in put})
        if feature == "service" and features & {"mail", "web"}:
            return len(features & {"mail", "web"})
        if feature == "dhcp":
            plain = "dhcp" in node["by hand"] or any(
                self.rules[rule]["install"] == "dhcp" and "over" not in self.rules[rule] for rule, _ in put
            )
            units = {
                at for rule, at in put if self.rules[rule]["install"] == "dhcp" and "over" in self.rules[rule]
            }
            return len(units) + int(plain)
        return int(feature in features)

    def judge(self) -> Told:
        """All that is wrong."""
        for name, rule in self.rules.items():
            for kind in ("install", "limit", "domain", "require"):
                if kind in rule and ("count" in rule or kind in ("domain", "require")):
                    getattr(self, kind)(name, rule)
        for name in self.allocations.keys() - {name for name, rule in self.rules.items() if leaves(rule)}:
            if self.allocations[name]:
                self.told["GC403", name] |= set()
        return self.told

    def install(self, name: str, rule: Data) -> None:
        over, feature = "over" in rule, rule["install"]
        there = {slot for slot, _, _ in self.slots(rule, everywhere=True)}
        right = {slot: node for slot, node, _ in self.slots(rule)}
        for slot in self.allocations.get(name, {}).get("install", []):
            if slot not in there:
                self.tell("GC403", name, slot)
            elif slot not in right:
                self.tell("GC401", name, slot)
            elif self.counted(slot, right[slot], feature, over=over, alone=name):
                self.tell("GC403", name, slot)
        self.count(name, rule, lambda slot, node: bool(self.counted(slot, node, feature, over=over)))

    def limit(self, name: str, rule: Data) -> None:
        over = "over" in rule
        self.count(name, rule, lambda slot, node: self.counted(slot, node, rule["limit"], over=over))

    def count(self, name: str, rule: Data, often: Callable[[str, Data], int]) -> None:
        said = rule["count"]
        least, most = (said, said) if isinstance(said, int) else (said.get("min", 0), said.get("max", 10**9))
        for members in self.groups(rule).values():
            numbers = {slot: often(slot, node) for slot, node, _ in members}
            found = sum(numbers.values())
            if not least <= found <= most:
                slots = [slot for slot, number in numbers.items() if number or found < least]
                self.told["GC401", name] |= set(map(node_of, slots))

    def require(self, name: str, rule: Data) -> None:
        text = rule["require"]
        if text in GROUPS:
            for members in self.groups(rule).values():
                if not GROUPS[text](list({node_of(slot): node for slot, node, _ in members}.values())):
                    self.told["GC402", name] |= {node_of(slot) for slot, _, _ in members}
            return
        for slot, node, unit in self.slots(rule):
            if not ALL[text](node_of(slot), node, unit):
                self.tell("GC402", name, slot)

    def domain(self, name: str, rule: Data) -> None:
        ((what, items),) = rule["domain"].items()
        right = {slot: (node, unit) for slot, node, unit in self.slots(rule)}
        given = self.allocations.get(name, {}).get("values", {})
        held = {}
        for slot, (node, unit) in right.items():
            by_hand = unit.get("with", {}).get(what) if "over" in rule else node["params"].get(what)
            decided = given.get(slot, {}).get(what)
            if by_hand is not None and decided is not None:
                self.tell("GC403", name, slot)
            held[slot] = decided if by_hand is None else by_hand
        for slot in given.keys() - right.keys():
            self.tell("GC403", name, slot)
        for slot, value in held.items():
            if value not in items:
                self.tell("GC401" if value is None else "GC404", name, slot)
        if "unique" in rule:
            self.unique(name, rule, items, held)

    def unique(self, name: str, rule: Data, items: list[Any], held: Data) -> None:
        scopes: dict[Any, list[str]] = defaultdict(list)
        for slot in held:
            at, said = node_of(slot), rule["unique"]
            among = {"fleet": 0, "node": at}
            scopes[among[said] if said in among else KEYS[said](at, self.nodes[at], {})].append(slot)
        for slots in scopes.values():
            if len(slots) > len(items):
                self.told["GC401", name] |= set(map(node_of, slots))
            for slot in slots:
                if held[slot] is not None and sum(held[other] == held[slot] for other in slots) > 1:
                    self.tell("GC404", name, slot)

    def tell(self, code: str, rule: str, slot: str) -> None:
        known = self.nodes.keys() | self.retired
        self.told[code, rule] |= {node_of(slot)} & known


def node_of(slot: str) -> str:
    return slot.partition("/")[0]


def leaves(rule: Data) -> bool:
    return "domain" in rule or ("install" in rule and "count" in rule)
