"""Where rules, and what was decided for them, mention a definition by name."""

from collections.abc import Iterator

from gitcfg.edit.changes import Change, Path, Rename, Set
from gitcfg.edit.mentions import rename_in_bindings, rename_in_list
from gitcfg.edit.spots import Meaning

_FEATURES = ("install", "limit", "over")
_PERMITS = ("forbid", "allow")


def rename_in_rules(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """The changes of a file of rules that follow a definition to its new name."""
    found = said.get("rules")
    for name, rule in found.items() if isinstance(found, dict) else ():
        if isinstance(rule, dict):
            yield from _of_rule(kind, ("rules", name), rule, old, new)


def _of_rule(kind: str, at: Path, rule: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    for word in _PERMITS:
        permit = rule.get(word)
        key = "params" if kind == "parameter" else f"{kind}s"
        yield from rename_in_list(
            (*at, word, key), permit.get(key) if isinstance(permit, dict) else None, old, new
        )
    yield from rename_in_bindings((*at, "set"), rule.get("set"), kind, old, new)
    match kind:
        case "feature":
            yield from (Set((*at, key), new) for key in _FEATURES if rule.get(key) == old)
        case "parameter":
            for key in ("set",) if "over" in rule else ("set", "domain"):
                named = rule.get(key)
                if isinstance(named, dict) and old in named:
                    yield Rename((*at, key, old), new)


def rename_in_allocations(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """The changes of an allocation that follow a node, or a parameter, to its new name."""
    values = said.get("values")
    slots = values if isinstance(values, dict) else {}
    if kind == "node":
        yield from (Rename(("values", slot), f"{new}{_rest(slot)}") for slot in slots if _node(slot) == old)
        installed = said.get("install")
        for place, slot in enumerate(installed if isinstance(installed, list) else ()):
            if isinstance(slot, str) and _node(slot) == old:
                yield Set(("install", place), f"{new}{_rest(slot)}")
    elif kind == "parameter":
        named = ((slot, found) for slot, found in slots.items() if isinstance(found, dict))
        yield from (Rename(("values", slot, old), new) for slot, found in named if old in found)


def _node(slot: str) -> str:
    return slot.partition("/")[0]


def _rest(slot: str) -> str:
    """What of a slot says the instance."""
    return slot.removeprefix(_node(slot))
