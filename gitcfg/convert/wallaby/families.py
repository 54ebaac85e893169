"""Numbered names that are declared alike (`STARTD_1_ARGS`, `STARTD_2_ARGS`, ...) as one pattern."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

import msgspec

from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.names import MAX_NAME, Names
from gitcfg.convert.wallaby.store import Parameter, Store

_FEWEST = 3  # two names that look alike may be chance


class Family(msgspec.Struct, frozen=True):
    """A pattern, and the names that it stands for: no other name of the dump fits it."""

    pattern: str
    members: tuple[str, ...]


class _Candidate(msgspec.Struct, frozen=True):
    """Names that are equal but for the digits of one number, all of the same width."""

    before: str
    width: int
    after: str
    members: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"{self.before}{'?' * self.width}{self.after}"


def find_families(
    store: Store, names: Names, evidence: Mapping[str, Evidence], kinds: Mapping[str, str]
) -> tuple[Family, ...]:
    """The families that are certain: three or more members, declared alike, and nobody names just one."""
    referred = _find_referenced(store, names)
    lists = [frozenset(map(names.parameter, subsystem.params)) for subsystem in store.subsystems]
    taken: set[str] = set()
    result = []
    for candidate in _select_exact(_find_candidates(evidence), evidence):
        members = set(candidate.members)
        alike = {(_without_name(evidence[name].declaration), kinds[name]) for name in members}
        together = all(members.isdisjoint(listed) or members <= listed for listed in lists)
        if len(alike) == 1 and together and members.isdisjoint(taken | referred):
            result.append(Family(candidate.pattern, candidate.members))
            taken |= members
    return tuple(result)


def _find_candidates(names: Collection[str]) -> list[_Candidate]:
    """All of them, those with most members first."""
    found: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for name in names:
        for number in re.finditer(r"[0-9]+", name) if len(name) <= MAX_NAME else ():
            found[name[: number.start()], len(number[0]), name[number.end() :]].append(name)
    large = [_Candidate(*key, tuple(members)) for key, members in found.items() if len(members) >= _FEWEST]
    return sorted(large, key=lambda candidate: (-len(candidate.members), candidate.pattern))


def _select_exact(candidates: list[_Candidate], names: Collection[str]) -> list[_Candidate]:
    """Those whose patterns fit no other name."""
    spans = {(len(candidate.before), candidate.width) for candidate in candidates}
    fitting = Counter(
        f"{name[:start]}{'?' * width}{name[start + width :]}"
        for name in names
        for start, width in spans
        if len(name) >= start + width
    )
    return [candidate for candidate in candidates if fitting[candidate.pattern] == len(candidate.members)]


def _without_name(declaration: Parameter | None) -> Parameter | None:
    return None if declaration is None else msgspec.structs.replace(declaration, name="")


def _find_referenced(store: Store, names: Names) -> frozenset[str]:
    """Names that parameters depend on or conflict with: they have to be declared exactly."""
    used = (name for parameter in store.parameters for name in parameter.depends + parameter.conflicts)
    return frozenset(names.parameter(name) or name for name in used)
