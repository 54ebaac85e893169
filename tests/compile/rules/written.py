"""Rules as their files would say them, for tests: every part stands on a line of its own."""

from typing import Any

from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.rules import Count, Rule, RuleKind

FILE = "rules/all.yaml"
_LINES = ("feature", "where", "over", "per", "require")


def rule(name: str, kind: RuleKind, line: int = 1, **said: Any) -> Rule:
    """A rule whose texts become references, and whose plain values become bindings."""
    for at, key in enumerate(_LINES, 1):
        if isinstance(said.get(key), str):
            said[key] = Ref(said[key], Origin(FILE, line + at, 5))
    if "params" in said:
        said["params"] = {param: plain(value, line) for param, value in said["params"].items()}
    return Rule(name, Origin(FILE, line, 3), kind, **said)


def install(name: str, feature: str, **said: Any) -> Rule:
    """A rule that installs a feature."""
    return rule(name, RuleKind.INSTALL, feature=feature, **said)


def setting(name: str, params: dict[str, Any], **said: Any) -> Rule:
    """A rule that sets parameters."""
    return rule(name, RuleKind.SET, params=params, **said)


def counted(least: int, most: int | None = None) -> Count:
    """A count."""
    return Count(least, most, Origin(FILE))


def plain(value: Any, line: int = 1) -> Binding:
    """A plain value, or a binding as it is."""
    place = Origin(FILE, line, 9)
    return value if isinstance(value, Binding) else Binding(Op.SET, value, None, place, place)
