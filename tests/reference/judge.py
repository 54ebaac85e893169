"""Simple findings, found in the most straightforward way: as (code, subjects, node or None).

What hangs on a doubtful parameter is not among them: `certain` leaves it out of others' findings too.
"""

from collections.abc import Iterator
from itertools import combinations

from tests.reference.definitions import wrong
from tests.reference.evaluate import Answer, evaluate
from tests.reference.references import Fact, missing
from tests.reference.repository import Document, Repository

CODES = frozenset(
    {"GC201", "GC202", "GC203", "GC204", "GC205", "GC207"}
    | {"GC301", "GC302", "GC303", "GC304", "GC305", "GC311"}
)
_EMPTY: tuple[object, ...] = (None, "", [], {})


def judge(repository: Repository) -> set[Fact]:
    """All findings of these codes."""
    found = {*missing(repository), *wrong(repository)}
    for node in repository.names:
        answer = evaluate(repository, node)
        facts = (
            *_features(repository, answer),
            *_parameters(repository, answer),
            *(("GC311", (name,)) for name in answer.missing_facts),
        )
        found.update((code, subjects, node) for code, subjects in facts)
    return certain(repository, found)


def certain(repository: Repository, facts: set[Fact]) -> set[Fact]:
    """Those that are not about a parameter, or the dependence of one, of which nothing certain is known."""
    doubts = {node: _doubts(repository, node) for node in repository.names}
    return {fact for fact in facts if fact[2] is None or not doubts[fact[2]] & {*fact[1]}}


def _doubts(repository: Repository, node: str) -> set[str]:
    doubtful = evaluate(repository, node).doubtful
    declared = [repository.declared(name) or {} for name in doubtful]
    return {*doubtful, *(other for said in declared for other in said.get("depends", []))}


def _features(repository: Repository, answer: Answer) -> Iterator[tuple[str, tuple[str, ...]]]:
    """GC301 and GC302, of what exists."""
    wanted = list(answer.features)
    for feature in wanted:
        depends = repository.features[feature].get("depends", [])
        wanted += [other for other in depends if other in repository.features and other not in wanted]
    for feature in wanted[len(answer.features) :]:
        yield "GC301", (feature,)
    for left, right in combinations(answer.features, 2):
        if _against(repository.features, left, right):
            yield "GC302", (left, right)


def _against(definitions: dict[str, Document], left: str, right: str) -> bool:
    """Does one of the two say that it conflicts with the other?"""
    return right in definitions[left].get("conflicts", []) or left in definitions[right].get("conflicts", [])


def _parameters(repository: Repository, answer: Answer) -> Iterator[tuple[str, tuple[str, ...]]]:
    """GC303, GC304 and GC305, of what is declared."""
    bound = set(answer.params)
    declared = {name: said for name in bound if (said := repository.declared(name)) is not None}
    for said in declared.values():
        for other in said.get("depends", []):
            if other in repository.parameters and other not in bound:
                yield "GC303", (other,)
    for name, said in declared.items():
        for other in said.get("conflicts", []):
            if other in bound and other in repository.parameters and other != name:
                low, high = sorted((name, other))
                yield "GC304", (low, high)
        must_change = "must_change" in said and said["must_change"].value
        if must_change and name in answer.params and _empty(answer.params[name]):
            yield "GC305", (name,)


def _empty(value: object) -> bool:
    return any(value == nothing and type(value) is type(nothing) for nothing in _EMPTY)
