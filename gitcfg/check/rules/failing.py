"""GC407, GC408: expressions that mean nothing or fail on nodes, and rules that wait for themselves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from gitcfg.cel import CelProblem
from gitcfg.check.fold import of
from gitcfg.check.rules.looked import Looked
from gitcfg.check.structure import listed
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.limiting import places
from gitcfg.compile.ruled.reading import bare
from gitcfg.compile.ruled.strata import Circle
from gitcfg.load.inside import Inside
from gitcfg.model import Finding, Ref
from gitcfg.model.rules import Rule, RuleKind

T = TypeVar("T")
_HINT = "Let it ask for a label, a group or a fact instead: a rule cannot wait for itself."


def meaningless(looked: Looked) -> Iterator[Finding]:
    """Expressions that cannot be understood, and rules that install what they read."""
    inside = Inside(looked.fleet.tree)
    for wrong in looked.view.book.unreadable:
        message = f"The `{wrong.part}` of the rule {wrong.rule} cannot be read: {wrong.problem.message}"
        place = inside.of(wrong.at, wrong.problem.line, wrong.problem.column)
        yield of("GC408", wrong.rule, message, [place], hint=wrong.problem.hint)
    for circle in looked.view.book.strata.circles:
        yield _circle(circle, "installs what it reads", "install what each other reads, in a circle")
    for circle in looked.view.valued.circles:
        alone = "reads what follows from the values that it leaves open"
        yield _circle(circle, alone, "read what follows from the values that each other leaves open")
    rules = looked.view.book.rules
    for name, deciding in looked.view.book.led.items():
        which = f"{'rule' if len(deciding) == 1 else 'rules'} {listed(deciding)}"
        message = f"Where the limit {name} counts follows from what the {which} may decide only within it."
        origins = places(rules[name], [rules[other] for other in deciding])
        yield of("GC407", name, message, origins, hint=_HINT)


def _circle(circle: Circle, alone: str, together: str) -> Finding:
    one = len(circle.rules) == 1
    who = f"The rule {circle.rules[0]} {alone}." if one else f"The rules {listed(circle.rules)} {together}."
    return of("GC407", circle.rules, who, circle.origins, hint=_HINT)


class Failures:
    """Expressions of rules that failed somewhere while it was asked what is wrong."""

    def __init__(self, looked: Looked) -> None:
        self._looked = looked
        self._found: dict[tuple[str, str], tuple[Ref, list[tuple[str, CelProblem]]]] = {}

    def add(self, rule: Rule, part: str, at: Ref, problems: Iterable[tuple[str, CelProblem]]) -> None:
        """An expression of a rule, the key under which it stands, and nodes on which it fails."""
        self._found.setdefault((rule.name, part), (at, []))[1].extend(problems)

    def answered(
        self,
        rule: Rule,
        part: str,
        at: Ref,
        asked: Sequence[Sequence[Seen]],
        answers: tuple[Sequence[T], Mapping[int, CelProblem]] | CelProblem,
    ) -> list[T | None]:
        """Answers to an expression, None where it failed. A problem alone: it was stopped."""
        if isinstance(answers, CelProblem):
            answers = [], dict.fromkeys(range(len(asked)), bare(answers))
        given, problems = answers
        failing = ((seen.name, problem) for row, problem in problems.items() for seen in asked[row])
        self.add(rule, part, at, failing)
        return [None if row in problems else given[row] for row in range(len(asked))]

    def findings(self) -> Iterator[Finding]:
        """What failed of all that was asked; those go first that say where rules count."""
        for rule in self._looked.view.book.rules.values():
            self._add_known(rule)
        inside = Inside(self._looked.fleet.tree)
        for (name, part), (at, problems) in sorted(self._found.items()):
            alike: dict[tuple[str, int, int, str], list[str]] = {}
            for node, problem in problems:
                alike.setdefault(problem.args, []).append(node)
            for (said, line, column, hint), nodes in alike.items():
                place = inside.of(at, line, column)
                message = f"The `{part}` of the rule {name} fails: {said}"
                yield of("GC408", name, message, [place], sorted(set(nodes)), hint)

    def _add_known(self, rule: Rule) -> None:
        """What failed while it was found out where a rule counts: `where` before `per`."""
        failed = self._looked.view.failed.get(rule.name, {})
        if not failed:
            return
        grouped = rule.per is not None and rule.kind is not RuleKind.SET
        held = self._looked.view.places(rule.name).by_slot if grouped else {}
        for part, at in (("where", rule.where), ("per", rule.per)):
            here = [pair for pair in failed.items() if (pair[0] in held) is (part == "per")]
            if at is not None and here:
                self.add(rule, part, at, [(slot.partition("/")[0], problem) for slot, problem in here])
