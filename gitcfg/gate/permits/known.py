"""What rules can name, in the words in which it is asked for, and which names there are."""

from collections.abc import Collection

from gitcfg.check.references import JUDGING
from gitcfg.gate.permits.named import Thing, overlaps
from gitcfg.model import Model
from gitcfg.model.names import did_you_mean, is_glob, shown

KINDS_BY_WORD = {
    "feature": "features",
    "param": "params",
    "parameter": "params",
    "group": "groups",
    "node": "nodes",
    "file": "files",
    "subsystem": "subsystems",
    "template": "templates",
    "secret": "secrets",
    "rule": "rules",
}
"""Kinds as one says them, and as keys of `forbid` and `allow`."""
_COMING = ("nodes", "files")
"""What is named before there is any."""


def known_names(model: Model, kind: str) -> Collection[str]:
    """The names that definitions give to things of a kind."""
    if kind == "params":
        return {*model.parameters, *(name for name, _ in model.bindings())}
    if kind == "templates":
        return {*model.templates, *model.sources}
    if kind == "rules":
        return {*model.rules, *JUDGING}
    if kind == "groups":
        return {*model.groups, model.settings.default_group}
    return () if kind == "files" else getattr(model, kind)


def describe_unknown(model: Model, thing: Thing) -> str:
    """That nothing has a name, which may be a slip of the pen; or nothing."""
    known = known_names(model, thing.kind)
    if thing.kind in _COMING or is_glob(thing.name) or any(overlaps(one, thing.name) for one in known):
        return ""
    word = next(word for word, kind in KINDS_BY_WORD.items() if kind == thing.kind)
    return f"There is no {word} {shown(thing.name)} yet. {did_you_mean(thing.name, known)}".rstrip()
