"""GC402, GC407, GC408: expressions that are false, cannot be read, or fail, and cycles of rules."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

import gitcfg.progress as progress
from gitcfg.cel import CelProblem, Condition
from gitcfg.check.findings import of
from gitcfg.check.rules.ruled_fleet import RuledFleet, named
from gitcfg.check.structure import listed, some
from gitcfg.compile.rules.evaluate import VALUES, Candidate, read_values, strip_frames
from gitcfg.compile.rules.rulebook import Circle, find_places
from gitcfg.load.document import ScalarPlaces
from gitcfg.model import Finding, Ref
from gitcfg.model.rules import Rule, RuleKind

T = TypeVar("T")
_HINT = "Use a label, a group or a fact in the condition instead: a rule cannot depend on itself."


def meaningless(ruled: RuledFleet) -> Iterator[Finding]:
    """Yield expressions that cannot be read, and rules that install what they read."""
    places = ScalarPlaces(ruled.fleet.tree)
    for wrong in ruled.view.book.unreadable:
        message = f"The `{wrong.part}` of the rule {wrong.rule} cannot be read: {wrong.problem.message}"
        place = places.find(wrong.at, wrong.problem.line, wrong.problem.column)
        yield of("GC408", wrong.rule, message, [place], hint=wrong.problem.hint)
    for circle in ruled.view.book.strata.circles:
        yield _circle(circle, "installs what it reads", "install what each other reads, in a cycle")
    for circle in ruled.view.valued.circles:
        alone = "reads what depends on the values that it chooses"
        yield _circle(circle, alone, "read what depends on the values that each other chooses")
    rules = ruled.view.book.rules
    for name, deciding in ruled.view.book.led.items():
        which = f"{'rule' if len(deciding) == 1 else 'rules'} {listed(deciding)}"
        message = f"Where the limit {name} applies depends on what the {which} decides within it."
        origins = find_places(rules[name], [rules[other] for other in deciding])
        yield of("GC407", name, message, origins, hint=_HINT)


def _circle(circle: Circle, alone: str, together: str) -> Finding:
    one = len(circle.rules) == 1
    who = f"The rule {circle.rules[0]} {alone}." if one else f"The rules {listed(circle.rules)} {together}."
    return of("GC407", circle.rules, who, circle.origins, hint=_HINT)


class Failures:
    """Expressions of rules that failed during the check."""

    def __init__(self, ruled: RuledFleet) -> None:
        self._ruled = ruled
        self._found: dict[tuple[str, str], tuple[Ref, list[tuple[str, CelProblem]]]] = {}

    def add(self, rule: Rule, part: str, at: Ref, problems: Iterable[tuple[str, CelProblem]]) -> None:
        """Add an expression of a rule, with its key (`part`) and place, and the nodes on which it fails."""
        self._found.setdefault((rule.name, part), (at, []))[1].extend(problems)

    def answered(
        self,
        rule: Rule,
        part: str,
        at: Ref,
        asked: Sequence[Sequence[Candidate]],
        answers: tuple[Sequence[T], Mapping[int, CelProblem]] | CelProblem,
    ) -> list[T | None]:
        """Return the answers to an expression, None where it failed.

        If `answers` is a problem, the expression was stopped, and failed everywhere.
        """
        if isinstance(answers, CelProblem):
            answers = [], dict.fromkeys(range(len(asked)), strip_frames(answers))
        given, problems = answers
        failing = ((seen.name, problem) for row, problem in problems.items() for seen in asked[row])
        self.add(rule, part, at, failing)
        return [None if row in problems else given[row] for row in range(len(asked))]

    def findings(self) -> Iterator[Finding]:
        """Yield the expressions that failed, the conditions of rules first."""
        for rule in self._ruled.view.book.rules.values():
            self._add_known(rule)
        places = ScalarPlaces(self._ruled.fleet.tree)
        for (name, part), (at, problems) in sorted(self._found.items()):
            alike: dict[tuple[str, int, int, str], list[str]] = {}
            for node, problem in problems:
                alike.setdefault(problem.args, []).append(node)
            for (said, line, column, hint), nodes in alike.items():
                place = places.find(at, line, column)
                message = f"The `{part}` of the rule {name} fails: {said}"
                yield of("GC408", name, message, [place], sorted(set(nodes)), hint)

    def _add_known(self, rule: Rule) -> None:
        """Add what failed in `where` and `per`, which are evaluated to find where a rule applies."""
        failed = self._ruled.view.failed.get(rule.name, {})
        if not failed:
            return
        grouped = rule.per is not None and rule.kind is not RuleKind.SET
        held = self._ruled.view.places(rule.name).by_slot if grouped else {}
        for part, at in (("where", rule.where), ("per", rule.per)):
            here = [pair for pair in failed.items() if (pair[0] in held) is (part == "per")]
            if at is not None and here:
                self.add(rule, part, at, [(slot.partition("/")[0], problem) for slot, problem in here])


# GC402: invariants that do not hold for nodes, instances, or groups of them.

_GROUP = "nodes"
_OF_CLASSES = frozenset({"node.groups", "node.features", "node.params"})
"""What all nodes of one class have in common."""
_LABELS = "node.labels"
"""What most of them have in common."""

_IN_GROUPS: Mapping[str, Callable[[Candidate], Any]] = {
    name.removeprefix("node."): of for name, of in VALUES.items() if name.startswith("node.")
}
"""What a condition can read of each node in a group."""


class _Question(msgspec.Struct, frozen=True):
    """The values for one evaluation, and the nodes or instances (perhaps a group) that it is about."""

    members: Sequence[Candidate]
    row: dict[str, Any]
    group: str = ""


def invariants(ruled: RuledFleet, failures: Failures) -> Iterator[Finding]:
    """Yield the invariants that do not hold."""
    for rule in ruled.rules(RuleKind.REQUIRE):
        progress.note("checking the rule", rule.name)
        condition = ruled.view.book.requires.get(rule.name)
        if condition is None or rule.require is None or ruled.unknown(rule.name):
            continue
        grouped = _is_grouped(rule, condition)
        if grouped and ruled.names is not None:
            continue  # a part of the nodes is not a group
        asked = list(_of_groups(ruled, rule, condition) if grouped else _of_each(ruled, rule, condition))
        answers = failures.answered(
            rule, "require", rule.require, [one.members for one in asked], _answers(ruled, rule, asked)
        )
        wrong = [one for one, holds in zip(asked, answers, strict=True) if holds is False]
        if wrong:
            yield _finding(rule, rule.require, wrong)


def _is_grouped(rule: Rule, condition: Condition) -> bool:
    return rule.per is not None or _GROUP in condition.names


def judged_whole(ruled: RuledFleet) -> list[str]:
    """Return the rules with an invariant about groups as a whole."""
    requires = ruled.view.book.requires
    return [
        rule.name
        for rule in ruled.rules(RuleKind.REQUIRE)
        if rule.name in requires and _is_grouped(rule, requires[rule.name])
    ]


def _answers(
    ruled: RuledFleet, rule: Rule, asked: Sequence[_Question]
) -> tuple[list[bool], dict[int, CelProblem]] | CelProblem:
    book = ruled.view.book
    try:
        return book.requires[rule.name].holds_each([one.row for one in asked], book.budgets[rule.name])
    except CelProblem as problem:
        return problem


def _of_each(ruled: RuledFleet, rule: Rule, condition: Condition) -> Iterable[_Question]:
    """Return a question for each node or instance; those alike to the condition are one question."""
    alike: dict[Hashable, list[Candidate]] = {}
    labels, shared = _LABELS in condition.names, condition.names <= _OF_CLASSES | {_LABELS}
    kinds = ruled.fleet.node_classes
    for seen in _by_class(ruled, ruled.view.slots(rule.name)):
        same = (id(kinds[seen.name]), seen.definition.labels if labels else ()) if shared else seen.slot
        alike.setdefault(same, []).append(seen)
    return [_Question(those, read_values(condition, those[0])) for those in alike.values()]


def _of_groups(ruled: RuledFleet, rule: Rule, condition: Condition) -> Iterator[_Question]:
    """Yield a question for each group; a node with several instances in a group counts once."""
    own = replace(condition, names=condition.names - {_GROUP})
    for key, slots in ruled.view.groups(rule.name).items():
        group = "" if key is None else named(key)
        nodes = _nodes(ruled, slots, condition)
        for members in [(seen,) for seen in slots] if own.names else [slots]:
            row = read_values(own, members[0]) if own.names else {}
            yield _Question(members, {**row, _GROUP: nodes}, group)


def _nodes(ruled: RuledFleet, slots: Sequence[Candidate], condition: Condition) -> list[dict[str, Any]]:
    """Return the nodes of a group in order of name, with the values that the condition may read."""
    computed = "[" in condition.text
    parts = [name for name in _IN_GROUPS if computed or name in condition.text]
    first = {seen.name: seen for seen in reversed(slots)}
    found = {
        name: {part: _IN_GROUPS[part](seen) for part in parts}
        for name, seen in ((seen.name, seen) for seen in _by_class(ruled, first.values()))
    }
    return [found[name] for name in sorted(found)]


def _by_class(ruled: RuledFleet, slots: Iterable[Candidate]) -> list[Candidate]:
    """Return the slots sorted by class.

    After another class the values of a class have to be composed again.
    """
    kinds = ruled.fleet.node_classes
    return sorted(slots, key=lambda seen: kinds[seen.name].names[0])


def _finding(rule: Rule, require: Ref, wrong: Sequence[_Question]) -> Finding:
    said = rule.message.rstrip(".") or f"What the rule {rule.name} requires is false"
    groups = sorted({one.group for one in wrong if one.group})
    members = [seen for one in wrong for seen in one.members]
    names = listed(groups) if groups else ""
    if rule.over is not None and members and not groups:
        names = some([seen.slot for seen in members])
    origins = [ref.origin for ref in (require, rule.where, rule.over, rule.per) if ref is not None]
    nodes = sorted({seen.name for seen in members})
    return of("GC402", rule.name, f"{said} ({names})." if names else f"{said}.", origins, nodes)
