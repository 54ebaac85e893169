"""Random orders that suit a repository as it is: definitions made, modified, renamed and deleted."""

import json
from random import Random
from typing import Any

from gitcfg.cli.edits import OPTIONS
from gitcfg.edit.draft import Draft, definitions
from gitcfg.edit.kinds import KINDS
from gitcfg.edit.yaml.tree import from_json, to_yaml

VALUES = ("x", {"$append": "y"}, ["a", "b: c"], "017", None)
LISTS = {
    "feature": ("include", "depends", "conflicts", "after"),
    "group": ("features", "nodes"),
    "node": ("groups", "features", "without", "labels"),
    "nodeset": ("groups", "features", "labels"),
    "override": ("features", "without"),
    "subsystem": ("params", "features", "covers"),
    "parameter": ("depends", "conflicts", "tags"),
    "secret": ("recipients",),
    "allocation": ("install",),
}
"""By kind, the lists that orders are about."""
OF = {"groups": "group", "nodes": "node", "params": "parameter", "covers": "subsystem", "install": "node"}
PARTS = {"add": "add", "remove": "remove", "set": "put", "unset": "take"}
NAMES = {(option.part.value, option.key): option.name for option in OPTIONS}

Line = dict[str, Any]


def drawn(rng: Random, draft: Draft) -> Line:
    """An order as JSON has it; often it is about what an order before has named."""
    kind = rng.choice(tuple(KINDS))
    known = names(draft, kind)
    do = rng.choices(("rename", "modify", "new", "delete"), (5, 4, 2, 1))[0] if known else "new"
    if do == "new":
        place = {"in": rng.choice(("", f"{KINDS[kind].folder}/more"))}
        return {"do": do, "kind": kind, "name": fresh(rng), **place, "fields": {"description": "New."}}
    line = {"do": do, "kind": kind, "name": one_of(rng, known)}
    if do == "rename":
        line["to"] = rng.choice((fresh(rng), fresh(rng), one_of(rng, known)))
    return {**line, **said(rng, draft, kind)} if do == "modify" else line


def fresh(rng: Random) -> str:
    """A name out of few, so that it comes again."""
    return f"fresh{rng.randrange(4)}"


def one_of(rng: Random, known: list[str]) -> str:
    """One of the names, and more often one that is fresh."""
    some = [name for name in known if name.startswith("fresh")]
    return rng.choice(some if some and rng.random() < 0.5 else known)


def names(draft: Draft, kind: str) -> list[str]:
    """The definitions of a kind that are no families."""
    return sorted(name for name in definitions(draft.model, KINDS[kind]) if "*" not in name)


def said(rng: Random, draft: Draft, kind: str) -> Line:
    """What a definition shall say from now on."""
    if KINDS[kind].binds and (kind not in LISTS or rng.random() < 0.5):
        param = one_of(rng, names(draft, "parameter"))
        bound = KINDS[kind].binds
        return rng.choice(({"set": {bound: {param: rng.choice(VALUES)}}}, {"unset": {bound: [param]}}))
    key = rng.choice(LISTS[kind])
    of = OF.get(key, "parameter" if kind == "parameter" else "feature")
    item = one_of(rng, [*names(draft, of), "odd"])
    if rng.random() < 0.2:
        return {"remove": {key: [item]}}
    return {"add": {key: [item]}, "at": rng.choice((None, 0, 1))}


def sayable(line: Line) -> bool:
    """Is there an option for all that a line says? Not all lists have one."""
    return all((PARTS[part], key) in NAMES for part in PARTS.keys() & line.keys() for key in line[part])


def words(line: Line) -> list[str]:
    """The command that asks for the same."""
    found = [line["do"], line["kind"], line["name"], *([line["to"]] if "to" in line else ())]
    if line.get("in"):
        found += ["--in", line["in"]]
    if line.get("at") is not None:
        found += ["--at", str(line["at"])]
    for key, value in line.get("fields", {}).items():
        found += ["--field", f"{key}={to_yaml(from_json(value))}"]
    for part in PARTS.keys() & line.keys():
        for key, items in line[part].items():
            pairs = items.items() if isinstance(items, dict) else ((item, None) for item in items)
            for name, value in pairs:
                text = f"{name}={to_yaml(from_json(value))}" if part == "set" else name
                found += [NAMES[PARTS[part], key], text]
    return found


def encoded(line: Line) -> bytes:
    """A line of a file of orders."""
    return json.dumps(line).encode()
