"""GC306, GC311, GC503: the final values of nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from gitcfg.check.definitions import unfit
from gitcfg.check.findings import Tally, of
from gitcfg.compile.classad import find_unbalanced
from gitcfg.compile.declarations import COMPOSING
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass, finish_value
from gitcfg.compile.operations import LACKING, NOTHING, PENDING, Step, apply, identity
from gitcfg.compile.partial import MAX_WEIGHT, Cell
from gitcfg.compile.surface import Surface, Surfaces, Suspects
from gitcfg.compile.values import Misfit
from gitcfg.model import Finding, Op, Parameter
from gitcfg.model.names import shown
from gitcfg.model.secrets import is_secret, secret_name

_MOST_STEPS = 50
"""Of so many layers the guilty one is looked for: each is a judgement."""
_JUDGED_ALREADY = frozenset({Op.SET, Op.DEFAULT, Op.NULL})


class FinalValues:
    """What is wrong with values that several steps, or facts, have made."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces) -> None:
        self._fleet = fleet
        self._surfaces = surfaces
        self._suspects = Suspects(
            surfaces, lambda name, cell: any(_judged(fleet, name, cell)), safe=lambda value: True
        )
        self._tally = Tally()

    def see(self, node_class: NodeClass, surface: Surface) -> Iterator[Finding]:
        for name in self._suspects.of(node_class, surface):
            cell = self._surfaces.cell(node_class, name)
            self._tally.add(name, cell, node_class.names, partial(_judged, self._fleet, name, cell))
        for name in self._surfaces.params.of(surface.pending):
            cell = self._surfaces.cell(node_class, name)
            if cell.value is PENDING:
                found = [*_asked(node_class, name, cell), *_strange(self._fleet, node_class, name, cell)]
                facts = node_class.facts(name)
                value = node_class.value(name, cell)
                yield from found or _named(node_class, _value(self._fleet, name, cell, value, facts))

    def end(self) -> Iterable[Finding]:
        return self._tally.findings()


def _is_unfit(fleet: Fleet, name: str, cell: Cell) -> bool:
    return any(_judged(fleet, name, cell))


def _judged(fleet: Fleet, name: str, cell: Cell) -> Iterator[Finding]:
    """Yield what is wrong with a value that owes nothing to facts."""
    value = finish_value(fleet.declarations, name, cell.value)
    if is_secret(value):  # type and schema wait
        yield from _upon_secret(name, cell, secret_name(value))
    elif value is not PENDING and value is not NOTHING:
        yield from _value(fleet, name, cell, value)


def _upon_secret(name: str, cell: Cell, secret: str) -> Iterator[Finding]:
    """Operations that do nothing, for what a secret holds is known only on its way into the node."""
    ops = [step.op for step in cell.steps if step.op in COMPOSING]
    if ops:
        message = f"{name} is the secret {secret} below this, and nothing can be composed with a secret."
        hint = f"Take the ${ops[0]} away, or make the whole of it the secret."
        yield of("GC306", name, message, cell.origins, hint=hint)


def _named(node_class: NodeClass, findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield msgspec.structs.replace(finding, nodes=tuple(node_class.names))


def _asked(node_class: NodeClass, name: str, cell: Cell) -> Iterator[Finding]:
    for step in cell.steps:
        if step.op is Op.FACT and node_class.facts(name).get(step.given) is None:
            message = f"{name} wants the fact {step.given}, which is not given."
            hint = f"Write {step.given} under `facts:` of the nodes or their set."
            yield of("GC311", name, message, [step.origin], node_class.names, hint)


def _strange(fleet: Fleet, node_class: NodeClass, name: str, cell: Cell) -> Iterator[Finding]:
    """Facts that are no value of the parameter's type: what is composed on them would hide it."""
    for step in cell.steps:
        fact = node_class.definition.facts.get(step.given) if step.op is Op.FACT else None
        if fact is None or fact.value is None:
            continue
        try:
            fleet.declarations.value(name, fact.value, fact.text)
        except Misfit as misfit:
            message = f"The fact {step.given} does not fit: {name} {misfit}."
            yield of("GC306", name, message, cell.origins, node_class.names)


def _value(
    fleet: Fleet, name: str, cell: Cell, value: Any, facts: Mapping[str, Any] | None = None
) -> Iterator[Finding]:
    parameter = fleet.declarations.find(name)
    origins = cell.origins
    if cell.weight > MAX_WEIGHT:
        message = f"{name} is composed into more than {MAX_WEIGHT} characters; the rest is left out."
        yield of("GC306", name, message, origins)
    if isinstance(value, list) and not (parameter is not None and parameter.unique):
        yield from _repeated(name, value, cell)
    if isinstance(value, str) and any(step.op in (Op.AND, Op.OR) for step in cell.steps):
        yield from _unclosed(name, value, cell)
    single = len(cell.steps) == 1 and cell.steps[0].op in _JUDGED_ALREADY
    if parameter is None or value is None or (single and value == cell.value):
        return
    if any(step.origin in fleet.layers.misfits for step in cell.steps):
        return  # what does not fit is told where it is written (GC206)
    for finding in _final(fleet, parameter, name, value, cell):
        yield _blamed(fleet, parameter, finding, cell, facts)


def _unclosed(name: str, value: str, cell: Cell) -> Iterator[Finding]:
    reason = find_unbalanced(value)
    if reason:
        message = f"{name} cannot be composed out of these: {reason}."
        yield of("GC306", name, message, cell.origins)


def _final(fleet: Fleet, parameter: Parameter, name: str, value: Any, cell: Cell) -> Iterator[Finding]:
    origins = cell.origins
    try:
        fleet.declarations.value(name, value)
    except Misfit as misfit:
        yield of("GC306", name, f"The final value does not fit: {name} {misfit}.", origins)
        return
    yield from unfit(fleet, parameter, name, value, origins, "GC306", "The final value")


def _blamed(
    fleet: Fleet, parameter: Parameter, finding: Finding, cell: Cell, facts: Mapping[str, Any] | None
) -> Finding:
    """Return the finding with the layer first that brings what does not fit, where one does."""
    guilty: Step | None = None
    value: Any = NOTHING
    fits = False  # nothing at all is not enough: what is missing then is nobody's
    for step in cell.steps[:_MOST_STEPS]:
        value = apply(step, value, facts)
        before, fits = fits, _fits(fleet, parameter, value)
        guilty = None if fits else step if before else guilty
    if guilty is None:
        return finding
    origins = dict.fromkeys((guilty.origin, *finding.origins))
    hint = f"Without what is said at {guilty.origin} it would fit."
    return msgspec.structs.replace(finding, origins=tuple(origins), hint=hint)


def _fits(fleet: Fleet, parameter: Parameter, value: Any) -> bool:
    """Return whether a value satisfies its parameter."""
    if value is NOTHING or value is PENDING or value is LACKING:
        return False
    value = finish_value(fleet.declarations, parameter.name, value)
    try:
        fleet.declarations.value(parameter.name, value)
    except Misfit:
        return False
    return not any(unfit(fleet, parameter, parameter.name, value, [], "GC306", ""))


def _repeated(name: str, value: list[Any], cell: Cell) -> Iterator[Finding]:
    counts = Counter(map(identity, value))
    item = next((item for item in value if counts[identity(item)] > 1), None)
    if len(counts) < len(value):
        message = f"{name} holds {shown(repr(item))} more than once."
        hint = "Declare it `unique: true` if only the first shall count."
        yield of("GC503", name, message, cell.origins, hint=hint)
