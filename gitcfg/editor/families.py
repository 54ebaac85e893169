"""Families of parameters as regular expressions of which, as in the program, the best fit alone counts."""

from collections.abc import Iterable, Mapping

from gitcfg.model import Parameter
from gitcfg.model.names import glob

MARK = r"\$\{"


def family_patterns(families: Iterable[Parameter], names: Iterable[str]) -> Mapping[str, Parameter]:
    """Each family by the expression of the names that it alone declares; families come best fit first.

    An editor applies all expressions that match, and those besides a name's own entry: so each excludes
    the declared names in it and the families that go before. What an instance completes is left out.
    """
    declared = tuple(names)
    before: list[str] = []
    result: dict[str, Parameter] = {}
    for family in families:
        own = to_regex(family.name)
        taken = [_escaped(name) for name in declared if glob(family.name).matches(name)]
        near = [other for other in before if _overlap(other, family.name)]
        others = [*taken, *map(to_regex, near)]
        excluded = f"(?!(?:{'|'.join(others)})$)" if others else ""
        result.setdefault(f"^(?!.*{MARK}){excluded}{own}$", family)
        before.append(family.name)
    return result


def to_regex(pattern: str) -> str:
    """A pattern of names as a regular expression. Names hold nothing but a dot that would need escaping."""
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return _escaped(pattern).replace("*", ".*").replace("?", ".")


def _escaped(name: str) -> str:
    return name.replace(".", r"\.")


def _overlap(one: str, other: str) -> bool:
    """Might two patterns match the same name? Beginnings and ends that differ say no."""
    starts = [_literal(pattern) for pattern in (one, other)]
    ends = [_literal(pattern[::-1]) for pattern in (one, other)]
    return _begin_alike(*starts) and _begin_alike(*ends)


def _literal(pattern: str) -> str:
    return pattern.replace("?", "*").partition("*")[0]


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
