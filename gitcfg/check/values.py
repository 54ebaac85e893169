"""Values (GC206, GC207, GC306, GC311, GC503, GC504, GC506, GC509): declared, bound, composed and final."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from gitcfg.check.findings import Tally, of
from gitcfg.check.structure import bindings, composed, listed
from gitcfg.compile.classad import find_unbalanced
from gitcfg.compile.declarations import COMPOSING, implied_kinds
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass, finish_value
from gitcfg.compile.operations import LACKING, NOTHING, PENDING, Step, apply, identity, is_reset
from gitcfg.compile.partial import MAX_WEIGHT, Cell, Partial
from gitcfg.compile.surface import Surface, Surfaces, Suspects
from gitcfg.compile.values import Misfit, is_macro_text
from gitcfg.load.document import read_again
from gitcfg.load.schema import FORMATS, unknown_formats
from gitcfg.model import Binding, Finding, ListEdit, Node, NodeSet, Op, Origin, Parameter
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.secrets import is_secret, secret_name

_TAKEN_OUT = (
    "Every reader of the repository can read it. Make a new secret, "
    "and store it with `gitcfg secret set NAME`."
)
_JUDGED = frozenset({Op.SET, Op.DEFAULT})


def definitions(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong with declarations and with single bindings."""
    unread = fleet.model.unread.get("parameters", frozenset())
    for parameter in fleet.model.parameters.values():
        if parameter.name not in unread:
            yield from _parameter(fleet, parameter)
    disagreeing: dict[str, list[Binding]] = {}
    sure = _Sure(fleet)
    for name, binding in bindings(fleet):
        if binding.op is Op.SET and type(binding.given) in sure[name]:
            continue
        if fleet.declarations.declared_kind(name) is None:
            disagreeing.setdefault(name, []).append(binding)
        else:
            yield from _binding(fleet, name, binding)
    for name, bound in disagreeing.items():
        yield from _agreement(fleet, name, bound)


class _Sure(dict[str, frozenset[type]]):
    """By parameter, the types of plain values that need no further check."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self._declarations = fleet.declarations

    def __missing__(self, name: str) -> frozenset[type]:
        parameter = self._declarations.find(name)
        judged = parameter is None or parameter.type is None or parameter.schema is not None
        self[name] = frozenset() if judged else self._declarations.as_written(name)
        return self[name]


def _parameter(fleet: Fleet, parameter: Parameter) -> Iterator[Finding]:
    name = parameter.name
    if not parameter.description:
        yield of("GC504", name, f"{name} has no description.", [parameter.origin])
    own = fleet.declarations.own_schema(parameter)
    reason = own.refusal if own is not None else None
    if reason:
        origin = parameter.schema_origin or parameter.origin
        yield of("GC102", origin.file, f"The schema of {name} is not valid: {reason}", [origin])
    elif own is not None:
        yield from _unknown_formats(fleet, parameter)
    if parameter.default is None:
        return
    if parameter.secret:
        message = f"{name} is secret, so it cannot have a default."
        yield of("GC206", name, message, [parameter.default.at], hint=_TAKEN_OUT, veiled=True)
        return
    if parameter.must_change:
        hint = "Remove the default: every layer that binds it sets a value."
        yield of(
            "GC207",
            name,
            f"{name} has `must_change`, so it cannot have a default.",
            [parameter.default.at],
            hint=hint,
        )
        return
    try:
        value = fleet.declarations.value_of(parameter, parameter.default)
    except Misfit as misfit:
        yield of("GC206", name, f"The default does not fit: {name} {misfit}.", [parameter.default.at])
        return
    yield from unfit(fleet, parameter, name, value, [parameter.default.at], "GC206", "The default")


def _unknown_formats(fleet: Fleet, parameter: Parameter) -> Iterator[Finding]:
    """Yield GC102 for an unknown format in a schema, which would validate nothing."""
    found = list(unknown_formats(parameter.schema or {}))
    origin = parameter.schema_origin or parameter.origin
    if not found:
        return
    document = read_again(fleet.tree, origin.file)
    own = ("parameters", parameter.name, "schema")
    above = own if document.key(*own) == origin else ("defaults", "schema")
    for path, form in found:
        place = document.at(*above, *path)
        message = f"The schema of {parameter.name} uses the format {shown(form)}, which does not exist."
        hint = did_you_mean(form, FORMATS) or f"There are {', '.join(FORMATS)}."
        yield of("GC102", origin.file, message, [place], hint=hint)


def _agreement(fleet: Fleet, name: str, bound: list[Binding]) -> Iterator[Finding]:
    """Yield what is wrong with the bindings of a parameter without a type, which may imply several types."""
    found = [finding for binding in bound for finding in _binding(fleet, name, binding)]
    kinds = implied_kinds((name, binding) for binding in bound)
    if found and kinds and not fleet.declarations.secret(name):
        message = f"What is bound to {name} has several types: one value is {kinds[name]}."
        hint = f"Declare the type of {name}."
        yield of("GC206", name, message, [binding.at for binding in bound], hint=hint)
    else:
        yield from found


def _binding(fleet: Fleet, name: str, binding: Binding) -> Iterator[Finding]:
    try:
        step = fleet.declarations.step(name, binding)
    except Misfit as misfit:
        secret = binding.op is not Op.SECRET and fleet.declarations.secret(name)
        hint = _TAKEN_OUT if secret else ""
        yield of("GC206", name, f"{name} {misfit}.", [binding.at], hint=hint, veiled=secret)
        return
    parameter = fleet.declarations.find(name)
    if parameter is not None and step.op in _JUDGED:
        yield from unfit(fleet, parameter, name, step.given, [binding.at], "GC206", "The value")


def unfit(
    fleet: Fleet, parameter: Parameter, name: str, value: Any, origins: list[Origin], code: str, what: str
) -> Iterator[Finding]:
    """Yield a finding if a value does not satisfy its parameter's schema. Text with macros is not checked."""
    own = fleet.declarations.own_schema(parameter)
    if own is None or own.refusal or value in (NOTHING, PENDING, LACKING) or is_macro_text(parameter, value):
        return
    reason = own.problem(value)
    if reason:
        yield of(code, name, f"{what} of {name} does not fit its schema: {reason}", origins)


# GC506: lists of nodes that drop parts of their set's list.

_LISTS = ("groups", "features", "without", "labels")


def memberships(fleet: Fleet) -> Iterator[Finding]:
    """Yield warnings about nodes' lists."""
    for name in sorted(fleet.model.nodes.keys() & fleet.roster.sets.keys()):
        yield from _dropped(fleet.model.nodes[name], fleet.roster.sets[name])


def _dropped(node: Node, nodeset: NodeSet) -> Iterator[Finding]:
    """Yield GC506 for a list that replaces the set's and lacks some of it."""
    words, origins = [], []
    for key in _LISTS:
        own: ListEdit = getattr(node, key)
        given: ListEdit = getattr(nodeset.definition, key)
        lost = _names(given) - _names(own)
        if own.op is Op.SET and given.op is not Op.REMOVE and lost:
            words.append(f"{key} {listed(sorted(lost))}")
            origins += [own.origin or node.origin, given.origin or nodeset.origin]
    if words:
        message = f"{node.name} drops what its node set {nodeset.name} sets: {'; '.join(words)}."
        hint = "Write {$prepend: [...]}, {$append: [...]} or {$remove: [...]} to compose the lists."
        yield of("GC506", node.name, message, origins, [node.name], hint)


def _names(edit: ListEdit) -> set[str]:
    return {item.feature if hasattr(item, "feature") else item.name for item in edit.items}


# GC509: values that discard composed ones.

_COMPOSING = frozenset({Op.APPEND, Op.PREPEND, Op.AND, Op.OR, Op.MERGE})


class _Head(msgspec.Struct, frozen=True):
    """What a layer does to the layers below, for parameters with composing steps.

    `sets`: places of plain values that are the first step to reset. `setting`, `closed` and `composing` are
    masks: of the names in `sets`, of those with a step that resets, and of those with a final step that
    composes. `inside`: plain values in the layer that discard what the layer itself composed, with the places
    of both.
    """

    sets: dict[str, Origin]
    setting: int
    closed: int
    composing: int
    inside: tuple[tuple[str, Origin, tuple[Origin, ...]], ...]


class DiscardedValues:
    """GC509: a plain value above steps that composed something."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces) -> None:
        self._surfaces = surfaces
        self._names = {name for name, _ in composed(fleet, *_COMPOSING)}
        self._heads: dict[int, tuple[Partial, _Head]] = {}
        self._discarded: dict[tuple[str, Origin, tuple[Origin, ...]], list[str]] = {}

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        if not self._names:
            return ()
        below = 0
        for place, part in enumerate(node_class.parts):
            head = self._head(part)
            for name in self._surfaces.params.of(below & head.setting):
                composed = self._composed(node_class.parts[:place], name)
                self._discarded.setdefault((name, head.sets[name], composed), []).extend(node_class.names)
            for event in head.inside:
                self._discarded.setdefault(event, []).extend(node_class.names)
            below = below & ~head.closed | head.composing
        return ()

    def end(self) -> Iterator[Finding]:
        hint = "Compose with it, as $and, $append or $merge do, or remove the lower operations."
        for (name, origin, below), nodes in self._discarded.items():
            message = f"This plain value of {name} discards what lower layers composed."
            yield of("GC509", name, message, [origin, *below], nodes, hint)

    def _composed(self, parts: tuple[Partial, ...], name: str) -> tuple[Origin, ...]:
        """Return the places of the acting steps of a parameter in these layers that compose."""
        acting: list[Step] = []
        for cell in (part.cells[name] for part in parts if name in part.cells):
            acting = [*cell.steps] if cell.closed else [*acting, *cell.steps]
        return _composing(acting)

    def _head(self, part: Partial) -> _Head:
        known = self._heads.get(id(part))
        if known is None:
            known = self._heads[id(part)] = (part, self._found(part))
        return known[1]

    def _found(self, part: Partial) -> _Head:
        sets: dict[str, Origin] = {}
        inside: list[tuple[str, Origin, tuple[Origin, ...]]] = []
        names = [name for name in part.cells if name in self._names]
        for name in names:
            steps = [step for step, _ in part.steps(name)]
            first = next(filter(is_reset, steps), None)
            if first is not None and first.op is Op.SET:
                sets[name] = first.origin
            inside += ((name, *event) for event in _discarding(steps))
        mask = self._surfaces.params.mask
        return _Head(
            sets,
            mask(sets),
            mask(name for name in names if part.cells[name].closed),
            mask(name for name in names if _composing(part.cells[name].steps)),
            tuple(inside),
        )


def _composing(steps: Iterable[Step]) -> tuple[Origin, ...]:
    return tuple(step.origin for step in steps if step.op in _COMPOSING)


def _discarding(steps: Iterable[Step]) -> Iterator[tuple[Origin, tuple[Origin, ...]]]:
    """Yield the places of plain values that discard composed steps, and the places of these."""
    acting: list[Step] = []
    for step in steps:
        composed = _composing(acting)
        if step.op is Op.SET and composed:
            yield step.origin, composed
        acting = [step] if is_reset(step) else [*acting, step]


# GC306, GC311, GC503: the final values of nodes.

_MOST_STEPS = 50
"""The most steps among which the cause is searched, since each needs a validation."""
_JUDGED_ALREADY = frozenset({Op.SET, Op.DEFAULT, Op.NULL})


class FinalValues:
    """The checks of values that several steps, or facts, determine."""

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
                found = [*_lacking(node_class, name, cell), *_misfits(self._fleet, node_class, name, cell)]
                facts = node_class.facts(name)
                value = node_class.value(name, cell)
                for finding in found or _value(self._fleet, name, cell, value, facts):
                    yield msgspec.structs.replace(finding, nodes=tuple(node_class.names))

    def end(self) -> Iterable[Finding]:
        return self._tally.findings()


def _judged(fleet: Fleet, name: str, cell: Cell) -> Iterator[Finding]:
    """Yield what is wrong with a value that does not depend on facts."""
    value = finish_value(fleet.declarations, name, cell.value)
    if is_secret(value):  # type and schema apply only to its content
        yield from _upon_secret(name, cell, secret_name(value))
    elif value is not PENDING and value is not NOTHING:
        yield from _value(fleet, name, cell, value)


def _upon_secret(name: str, cell: Cell, secret: str) -> Iterator[Finding]:
    """Yield operations on a secret. They have no effect, since its content is known only on its nodes."""
    ops = [step.op for step in cell.steps if step.op in COMPOSING]
    if ops:
        message = f"{name} is the secret {secret} below this, and a secret cannot be composed."
        hint = f"Remove ${ops[0]}, or put the whole value into the secret."
        yield of("GC306", name, message, cell.origins, hint=hint)


def _lacking(node_class: NodeClass, name: str, cell: Cell) -> Iterator[Finding]:
    for step in cell.steps:
        if step.op is Op.FACT and node_class.facts(name).get(step.given) is None:
            message = f"{name} uses the fact {step.given}, which does not exist."
            hint = f"Add {step.given} to `facts:` of the nodes or their set."
            yield of("GC311", name, message, [step.origin], node_class.names, hint)


def _misfits(fleet: Fleet, node_class: NodeClass, name: str, cell: Cell) -> Iterator[Finding]:
    """Yield facts that do not fit the parameter's type: composing would hide that."""
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
        message = f"{name} is composed into more than {MAX_WEIGHT} characters; the rest is cut off."
        yield of("GC306", name, message, origins)
    if isinstance(value, list) and not (parameter is not None and parameter.unique):
        yield from _repeated(name, value, cell)
    if isinstance(value, str) and any(step.op in (Op.AND, Op.OR) for step in cell.steps):
        reason = find_unbalanced(value)
        if reason:
            yield of("GC306", name, f"{name} cannot be composed from these values: {reason}.", cell.origins)
    single = len(cell.steps) == 1 and cell.steps[0].op in _JUDGED_ALREADY
    if parameter is None or value is None or (single and value == cell.value):
        return
    if any(step.origin in fleet.layers.misfits for step in cell.steps):
        return  # reported as GC206 where it is written
    for finding in _final(fleet, parameter, name, value, cell):
        yield _blamed(fleet, parameter, finding, cell, facts)


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
    """Return the finding, with the place of the layer that causes the misfit first, if there is one."""
    guilty: Step | None = None
    value: Any = NOTHING
    fits = False  # no value does not fit either, but then no layer is the cause
    for step in cell.steps[:_MOST_STEPS]:
        value = apply(step, value, facts)
        before, fits = fits, _fits(fleet, parameter, value)
        guilty = None if fits else step if before else guilty
    if guilty is None:
        return finding
    origins = dict.fromkeys((guilty.origin, *finding.origins))
    hint = f"It would fit without the value at {guilty.origin}."
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
        message = f"{name} contains {shown(repr(item))} more than once."
        hint = "Declare it `unique: true` to keep only the first one."
        yield of("GC503", name, message, cell.origins, hint=hint)
