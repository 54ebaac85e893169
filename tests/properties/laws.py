"""The laws, each as a function of a repository's files: gitcfg against the naive evaluator, or itself."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from gitcfg.check.run import check
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.operations import TrailStep
from gitcfg.git.tree import DictTree
from gitcfg.model import Finding
from tests.properties.reordered import reordered
from tests.reference import Answer, Repository, evaluate, judge, read_repository
from tests.reference.judge import CODES, certain
from tests.reference.values import distinct, key

TODAY = date(2026, 11, 20)
Files = Mapping[str, str]
Law = Callable[[Files], None]


def compiled(files: Files) -> Fleet:
    """What gitcfg makes of the files."""
    return compile_tree(DictTree(files), TODAY)


def rendering_is_naive(files: Files) -> None:
    """Shared partials give every node the features and values that layer after layer gives it."""
    fleet, repository = compiled(files), read_repository(files)
    assert list(fleet.names) == repository.names
    for name in repository.names:
        answer, node = evaluate(repository, name), fleet[name]
        assert node.features == answer.features, name
        found = {param: key(value) for param, value in node.params.items() if param not in answer.doubtful}
        assert found == {param: key(value) for param, value in answer.params.items()}, name


def trails_are_naive(files: Files) -> None:
    """Every step of every trail, acting or overridden, is that of the naive evaluator."""
    fleet, repository = compiled(files), read_repository(files)
    for name in repository.names:
        answer = evaluate(repository, name)
        for param in answer.trails:
            found = _told(repository, param, fleet[name].trail(param))
            assert found == _naive(repository, param, answer), (name, param)


def _told(repository: Repository, param: str, steps: Iterable[TrailStep]) -> list[Any]:
    return [
        (step.op.value, _once(repository, param, step.result), step.bound, step.path, step.overridden)
        for step in steps
    ]


def _naive(repository: Repository, param: str, answer: Answer) -> list[Any]:
    return [
        (step.op, _once(repository, param, step.result), step.bound, step.path, step.overridden)
        for step in answer.trails[param]
    ]


def _once(repository: Repository, param: str, result: Any) -> str:
    """A step's result; of a list whose equal items are dropped at the end, after they are dropped."""
    declared = repository.declared(param) or {}
    unique = "unique" in declared and declared["unique"].value and isinstance(result, list)
    return key(distinct(result) if unique else result)


def last_step_is_the_value(files: Files) -> None:
    """The value is the last acting step's result, and every bound parameter has one."""
    fleet = compiled(files)
    for name in fleet.names:
        node = fleet[name]
        for param, value in node.params.items():
            acting = [step for step in node.trail(param) if not step.overridden]
            assert key(acting[-1].result) == key(value), (name, param)
            assert acting[-1].bound, (name, param)


def findings_are_naive(files: Files) -> None:
    """What the naive judge can find, gitcfg finds, and nothing else of that kind."""
    repository = read_repository(files)
    findings = check(compiled(files))
    found = {fact for finding in findings if finding.code in CODES for fact in _facts(finding)}
    assert certain(repository, found) == judge(repository)
    misfits = {fact for finding in findings if finding.code == "GC206" for fact in finding.subjects}
    for name in repository.names:
        assert evaluate(repository, name).wrong <= misfits, name


def _facts(finding: Finding) -> list[tuple[str, tuple[str, ...], str | None]]:
    return [(finding.code, finding.subjects, node) for node in finding.nodes or (None,)]


def nothing_is_said_twice(files: Files) -> None:
    """A fact with all its places and nodes is one finding."""
    said = [(found.code, found.subjects, found.nodes, found.message) for found in check(compiled(files))]
    assert len(said) == len(set(said))


def order_changes_nothing(files: Files) -> None:
    """Neither the order of files nor that of keys in them means anything."""
    backwards = {path: _reordered(path, text) for path, text in reversed(list(files.items()))}
    one, other = compiled(files), compiled(backwards)
    assert _meaning(check(one)) == _meaning(check(other))
    for name in one.names:
        assert one[name].features == other[name].features
        assert key(dict(one[name].params)) == key(dict(other[name].params))


def _reordered(path: str, text: str) -> str:
    return reordered(text) if path.endswith(".yaml") else text


def _meaning(findings: Iterable[Finding]) -> list[Any]:
    """Findings without the places that they were found at."""
    return sorted((finding.code, finding.subjects, finding.nodes, finding.severity) for finding in findings)
