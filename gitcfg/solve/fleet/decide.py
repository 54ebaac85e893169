"""Decides for a whole fleet: first what rules place, stratum by stratum, then the values of slots."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from itertools import chain

import msgspec

import gitcfg.progress as progress
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.rules.slots import RuleView
from gitcfg.git.tree import Tree
from gitcfg.model import Model
from gitcfg.model.rules import Allocation, Rule, RuleKind
from gitcfg.solve.conflicts import Exhausted, Unsolvable
from gitcfg.solve.fleet.answers import (
    Causes,
    RuleFailure,
    Solved,
    Unsolved,
    allocate_places,
    allocate_values,
    natural,
    nodes_of_placement,
    nodes_of_values,
    refuse_failed,
    suggest_rule,
)
from gitcfg.solve.fleet.placement import Baseline, PlacementProblemBuilder, Spots, is_placeholder
from gitcfg.solve.fleet.values import ValueProblemBuilder
from gitcfg.solve.placement import place
from gitcfg.solve.problem import Spot
from gitcfg.solve.values import assign_values

Allocations = dict[str, Allocation]


class Decider:
    """A repository whose allocations are decided."""

    def __init__(self, model: Model, tree: Tree, today: date) -> None:
        self._model = model
        self._tree = tree
        self._today = today
        self._causes = Causes()

    def decide(self) -> Solved | Unsolved:
        """Return the allocations of all rules. Those of rules with errors of their own stay as they are."""
        ruled = self._ruled({})
        if ruled is None:
            return Solved({})
        # Evaluate the fleet now, so that its errors are raised before anything is decided.
        _ = ruled.fleet.classes
        book = ruled.book
        circles = (*book.strata.circles, *ruled.valued.circles)
        # The demands of rules with errors are unknown: their allocations stay.
        aside = {name for circle in circles for name in circle.rules}
        aside |= {found.rule for found in book.unreadable}
        aside |= {name for name, rule in book.rules.items() if not self._has_features(rule)}
        unchanged = {name: self._model.allocations[name] for name in aside & self._model.allocations.keys()}
        placed = self._place(ruled)
        if isinstance(placed, Unsolved):
            return placed
        known = placed | unchanged
        final = ruled if not known else self._ruled(known) or ruled
        found = self._check_fixed(final) or self._assign(final, known)
        if isinstance(found, Unsolved):
            return found
        return Solved({name: found[name] for name in sorted(found)}, tuple(sorted(aside)))

    def _place(self, ruled: RuleView) -> Allocations | Unsolved:
        """Place features stratum by stratum: what is placed in one is present in the next."""
        made: Allocations = {}
        before: list[Rule] = []
        book = ruled.book
        for level, names in enumerate(book.strata.layers):
            rules = [book.rules[name] for name in names if self._chooses(book.rules[name])]
            if rules:
                now = self._ruled(made) if made else ruled
                found = self._stratum(now or ruled, level, rules, before)
                if isinstance(found, Unsolved):
                    return found
                made = made | found
                before += rules
        return made

    def _ruled(self, allocations: Allocations) -> RuleView | None:
        """Return the rules' view of the fleet with some allocations."""
        model = msgspec.structs.replace(self._model, allocations=allocations)
        fleet = Fleet(model, self._tree, self._today)
        return None if fleet.rule_engine is None else RuleView(fleet, fleet.rule_engine)

    def _chooses(self, rule: Rule) -> bool:
        return rule.count is not None and self._has_features(rule)

    def _has_features(self, rule: Rule) -> bool:
        return all(ref.name in self._model.features for ref in (rule.feature, rule.over) if ref is not None)

    def _stratum(
        self, ruled: RuleView, level: int, rules: Sequence[Rule], before: Sequence[Rule]
    ) -> Allocations | Unsolved:
        spots = Spots(Baseline(ruled.fleet, ruled.book, level), ruled)
        spots.add(rules, choose=True)
        spots.add(before, choose=False)
        previous = (
            (rule.feature.name, ref.name)
            for rule in rules
            if rule.feature is not None and rule.name in self._model.allocations
            for ref in self._model.allocations[rule.name].install
        )
        problem = PlacementProblemBuilder(spots, ruled, self._causes).problem(rules, before, previous)
        refuse_failed(ruled, (*rules, *before, *ruled.book.of_kind(RuleKind.LIMIT)))
        progress.note("placing features by", ", ".join(rule.name for rule in rules), blocks=True)
        found = place(problem)
        if isinstance(found, Unsolvable):
            return self._unsolved(found, nodes_of_placement(problem, found.causes))
        return self._allocated(spots, [spot for spot in found if not is_placeholder(spot[0])])

    def _check_fixed(self, ruled: RuleView) -> Unsolved | None:
        """Return the contradictions of what is fixed by hand or by rules, after everything is placed."""
        layers = ruled.book.strata.layers
        rules = [rule for rule in map(ruled.book.rules.__getitem__, chain(*layers)) if self._chooses(rule)]
        spots = Spots(Baseline(ruled.fleet, ruled.book, len(layers)), ruled)
        spots.add(rules, choose=False)
        problem = PlacementProblemBuilder(spots, ruled, self._causes).broken(rules)
        found = None if problem is None else place(problem)
        if problem is None or not isinstance(found, Unsolvable):
            return None
        nodes = nodes_of_placement(problem, found.causes)
        if not nodes:
            names = [cause.rule for cause in self._causes.named(found.causes) if cause.rule is not None]
            about = {candidate.name for name in names for candidate in ruled.slots(name)}
            nodes = tuple(sorted(about, key=natural))
        return self._unsolved(found, nodes)

    def _allocated(self, spots: Spots, found: Sequence[Spot]) -> Allocations:
        """Return places by rule: each belongs to the rule that had it, or to the first that may have it."""
        allocations = self._model.allocations.items()
        had = {(name, ref.name) for name, allocation in allocations for ref in allocation.install}
        slots = defaultdict[str, list[str]](list)
        for spot in found:
            rules = sorted(spots.open[spot])
            owner = next((rule for rule in rules if (rule, spot[1]) in had), rules[0])
            slots[owner].append(spot[1])
        return {rule: allocate_places(rule, names) for rule, names in slots.items()}

    def _assign(self, ruled: RuleView, known: Allocations) -> Allocations | Unsolved:
        """Assign values layer by layer: each layer reads those before it.

        `ruled` is the view with `known`.
        """
        for at, names in enumerate(ruled.valued.layers):
            now = (self._ruled(known) if at else ruled) or ruled
            rules = [ruled.book.rules[name] for name in names]
            builder = ValueProblemBuilder(now, rules, self._model.allocations, self._causes)
            refuse_failed(now, rules)
            problem = builder.problem()
            progress.note("assigning values by", ", ".join(names), blocks=True)
            found = assign_values(problem)
            if isinstance(found, Unsolvable):
                return self._unsolved(found, nodes_of_values(problem, found.causes))
            made = {rule: allocate_values(rule, values) for rule, values in builder.given(found).items()}
            known = known | made  # not changed in place: fleets refer to the previous one
        return known

    def _unsolved(self, found: Unsolvable, nodes: tuple[str, ...]) -> Unsolved:
        suggestion = None if found.suggestion is None else self._causes.named([found.suggestion])[0]
        return Unsolved(self._causes.named(found.causes), nodes, suggestion)


def decide(model: Model, tree: Tree, today: date) -> Solved | Unsolved:
    """Return the decisions for the rules of a repository, as close as possible to the present allocations.

    Raises:
        RuleFailure: What to decide is unknown.
        Exhausted: It takes more work than is allowed.
        Stopped: What nodes have is unknown.
    """
    found = Decider(model, tree, today).decide()
    if isinstance(found, Solved):
        return found

    def solvable(other: Model) -> bool:
        try:
            return isinstance(Decider(other, tree, today).decide(), Solved)
        except (RuleFailure, Exhausted, ModuleNotFoundError):  # without OR-Tools this is unknown
            return False

    return msgspec.structs.replace(found, suggestion=suggest_rule(model, found, solvable))
