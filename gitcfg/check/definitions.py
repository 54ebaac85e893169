"""GC206, GC207, GC504: parameters and what is bound to them, wherever it may apply."""

from collections.abc import Iterator
from typing import Any

from gitcfg.check.fold import of
from gitcfg.check.places import bindings
from gitcfg.compile.declarations import implied_kinds
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import LACKING, NOTHING, PENDING
from gitcfg.compile.values import Misfit, as_text
from gitcfg.load.document import read_again
from gitcfg.load.schema import FORMATS, unknown_formats
from gitcfg.model import Binding, Finding, Op, Origin, Parameter
from gitcfg.model.names import did_you_mean, shown

_TAKEN_OUT = (
    "What stands there everybody can read who has the repository: make a new one, "
    "and keep that with `gitcfg secret set NAME`."
)
_JUDGED = frozenset({Op.SET, Op.DEFAULT})


def definitions(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong with declarations and with single bindings."""
    unread = fleet.model.unread.get("parameters", frozenset())
    for parameter in fleet.model.parameters.values():
        if parameter.name not in unread:
            yield from _parameter(fleet, parameter)
    disagreeing: dict[str, list[Binding]] = {}
    for name, binding in bindings(fleet):
        if fleet.declarations.declared_kind(name) is None:
            disagreeing.setdefault(name, []).append(binding)
        else:
            yield from _binding(fleet, name, binding)
    for name, bound in disagreeing.items():
        yield from _agreement(fleet, name, bound)


def _parameter(fleet: Fleet, parameter: Parameter) -> Iterator[Finding]:
    name = parameter.name
    if not parameter.description:
        yield of("GC504", name, f"{name} has no description.", [parameter.origin])
    own = fleet.declarations.own_schema(parameter)
    reason = own.refusal if own is not None else None
    if reason:
        origin = parameter.schema_origin or parameter.origin
        yield of("GC102", origin.file, f"The schema of {name} is none: {reason}", [origin])
    elif own is not None:
        yield from _unknown_formats(fleet, parameter)
    if parameter.default is None:
        return
    if parameter.secret:
        message = f"{name} is secret, so it has no default."
        yield of("GC206", name, message, [parameter.default.at], hint=_TAKEN_OUT, veiled=True)
        return
    if parameter.must_change:
        hint = "Take the default away: whoever binds it says a value."
        yield of(
            "GC207", name, f"{name} must be changed, so it has no default.", [parameter.default.at], hint=hint
        )
        return
    try:
        value = fleet.declarations.value_of(parameter, parameter.default)
    except Misfit as misfit:
        yield of("GC206", name, f"The default does not fit: {name} {misfit}.", [parameter.default.at])
        return
    yield from unfit(fleet, parameter, name, value, [parameter.default.at], "GC206", "The default")


def _unknown_formats(fleet: Fleet, parameter: Parameter) -> Iterator[Finding]:
    """GC102 where a schema asks for a format that nobody knows, which would judge nothing."""
    found = list(unknown_formats(parameter.schema or {}))
    origin = parameter.schema_origin or parameter.origin
    if not found:
        return
    document = read_again(fleet.tree, origin.file)
    own = ("parameters", parameter.name, "schema")
    above = own if document.key(*own) == origin else ("defaults", "schema")
    for path, form in found:
        place = document.at(*above, *path)
        message = f"The schema of {parameter.name} asks for the format {shown(form)}, which does not exist."
        hint = did_you_mean(form, FORMATS) or f"There are {', '.join(FORMATS)}."
        yield of("GC102", origin.file, message, [place], hint=hint)


def _agreement(fleet: Fleet, name: str, bound: list[Binding]) -> Iterator[Finding]:
    """What is bound to a parameter without a type agrees on one."""
    found = [finding for binding in bound for finding in _binding(fleet, name, binding)]
    kinds = implied_kinds((name, binding) for binding in bound)
    if found and kinds and not fleet.declarations.secret(name):
        message = f"What is bound to {name} does not agree on a type: one of it is {kinds[name]}."
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
    fleet: Fleet,
    parameter: Parameter,
    name: str,
    value: Any,
    origins: list[Origin],
    code: str,
    what: str,
) -> Iterator[Finding]:
    """Where a value does not satisfy its parameter's schema. Text with macros waits for its target."""
    own = fleet.declarations.own_schema(parameter)
    if own is None or own.refusal or value in (NOTHING, PENDING, LACKING) or as_text(parameter, value):
        return
    reason = own.problem(value)
    if reason:
        yield of(code, name, f"{what} of {name} does not fit its schema: {reason}", origins)
