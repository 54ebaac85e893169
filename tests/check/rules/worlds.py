"""Random worlds of nodes and rules, and what gitcfg tells of them."""

from copy import deepcopy
from random import Random
from typing import Any

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.git.tree import DictTree
from tests.check.rules.naive import CONDITIONS, FINAL, GROUPS, LEVELS, OVER, Data, Told, files
from tests.compile.fleets import TODAY

CODES = ("GC401", "GC402", "GC403", "GC404")
NODES = ("node.facts.rack", "node.facts.level", "node.name")
ADDRESSES = [f"10.0.0.{number}" for number in range(1, 7)]


def told(world: Data) -> Told:
    """What gitcfg tells, by code and rule; nothing else may be wrong."""
    found: Told = {}
    for finding in check(compile_tree(DictTree(files(world)), TODAY)):
        assert finding.code in CODES or not finding.is_error, finding
        if finding.is_error:
            found.setdefault((finding.code, finding.subjects[0]), set()).update(finding.nodes)
    return found


def nodes(rng: Random) -> Data:
    return {
        f"n{number}": {
            "labels": rng.choice((["x"], [])),
            "facts": {"rack": rng.choice(("r1", "r2")), "level": rng.choice(LEVELS)},
            "features": rng.choice(([], [], ["mail"], ["web"], ["service"], ["dhcp"])),
            "params": rng.choice(({}, {}, {"port": rng.randrange(1, 8)})),
            "retired": rng.random() < 0.1,
            "units": [_unit(rng, name) for name in rng.choice(([], ["eth0"], ["eth0", "eth1"]))],
        }
        for number in range(rng.randrange(1, 7))
    }


def _unit(rng: Random, name: str) -> Data:
    address = rng.choice(({}, {}, {"address": f"10.0.0.{rng.randrange(1, 9)}"}))
    return {"as": name, "with": {"subnet": rng.choice(("s1", "s2")), **address}}


def rule(rng: Random) -> Data:
    """A rule of some kind, over nodes or interfaces, with or without groups."""
    over: Data = rng.choice(({}, {"over": "interface"}))
    kind = rng.choice(("install", "install", "limit", "domain", "require"))
    known = [*CONDITIONS, *(OVER if over else ()), *(FINAL if kind != "install" else ())]
    where = rng.choice(({}, {"where": rng.choice(known)}))
    per = rng.choice(({}, {"per": rng.choice([*NODES, *_subnet(over)])}))
    least = rng.randrange(3)
    count = rng.choice((least, {"min": least}, {"max": least}, {"min": least, "max": least + 1}))
    if kind == "install":
        placed = {"install": "dhcp" if over else rng.choice(("mail", "web", "dhcp")), **over, **where}
        return rng.choice((placed, {**placed, **per, "count": count}))
    if kind == "limit":
        most = {"max": least} if isinstance(count, int) else {"max": least + 1, **count}
        return {
            "limit": "dhcp" if over else rng.choice(("service", "mail", "dhcp")),
            **over,
            **where,
            **per,
            "count": most,
        }
    if kind == "domain":
        items = (
            {"address": ADDRESSES[: rng.randrange(1, 7)]}
            if over
            else {"port": [*range(1, rng.randrange(2, 7))]}
        )
        unique = rng.choice(({}, {"unique": rng.choice(("fleet", "node", *NODES))}))
        return {"domain": items, **over, **where, **unique}
    group = rng.choice(sorted(GROUPS))
    grouped = {"require": group, **over, **where, **per}
    if per:
        return grouped
    single = {"require": rng.choice(known), **over, **where}
    return rng.choice((single, grouped)) if over else single


def _subnet(over: Data) -> list[str]:
    return ["self.with.subnet"] if over else []


def slots(world: Data) -> list[str]:
    """Places, and some that are none."""
    units = [f"{name}/{unit['as']}" for name, node in world["nodes"].items() for unit in node["units"]]
    return [*world["nodes"], *units, "gone", "gone/eth0", "n0/eth9"]


def allocation(rng: Random, world: Data, rule: Data) -> Data:
    some = rng.sample(slots(world), rng.randrange(3))
    if "domain" not in rule:
        return {"install": some} if some else {}
    (what,) = rule["domain"]
    values = [f"10.0.0.{rng.randrange(1, 8)}" if what == "address" else rng.randrange(1, 8) for _ in some]
    return {"values": {slot: {what: value} for slot, value in zip(some, values, strict=True)}} if some else {}


def world(seed: int) -> Data:
    rng = Random(seed)
    made: Data = {"nodes": nodes(rng), "allocations": {}}
    made["rules"] = {f"rule{number}": rule(rng) for number in range(rng.randrange(1, 5))}
    domains = [name for name, said in made["rules"].items() if "domain" in said]
    for name in domains[1:]:
        del made["rules"][name]  # of two that speak of one thing, their naive reading is another
    if any("install" in said and "count" in said for said in made["rules"].values()):
        for said in made["rules"].values():
            if "limit" in said and said.get("where") in FINAL:
                del said["where"]  # which looks at what is placed within the limit
    for name, said in made["rules"].items():
        made["allocations"][name] = allocation(rng, made, said) if rng.random() < 0.8 else {}
    return made


def corrupted(rng: Random, made: Data) -> Data:
    """One line more, less, or another one."""
    made = deepcopy(made)
    said = made["allocations"][rng.choice(sorted(made["allocations"]))]
    kind: Any = rng.choice(("less", "more", "other"))
    if "install" in said:
        if kind != "more":
            said["install"].remove(rng.choice(said["install"]))
        if kind != "less":
            said["install"].append(rng.choice(["gone", "n0/eth7"]))
        return made
    slot = rng.choice(sorted(said["values"]))
    (what,) = said["values"][slot]
    if kind == "less":
        del said["values"][slot]
    elif kind == "more":
        said["values"][rng.choice(["gone", "n0/eth7"])] = {what: said["values"][slot][what]}
    else:
        said["values"][slot] = {what: rng.choice([99, 0]) if what == "port" else "10.0.0.99"}
    return made
