"""GC201: everything that is referred to exists. GC103: names do not differ only in case."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from gitcfg.check.findings import of
from gitcfg.check.results import FILES
from gitcfg.check.structure import bindings, composed, files
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NAME, parse_collect
from gitcfg.compile.values import Misfit
from gitcfg.model import Finding, Model, Op, Origin, Ref, Severity, Undeclared
from gitcfg.model.names import PARAMETER, did_you_mean, is_glob, shown
from gitcfg.model.rules import Permit


def references(fleet: Fleet) -> Iterator[Finding]:
    """Yield GC201 for every name that does not exist."""
    fleet.compile_layers()
    model = fleet.model
    for ref in model.mentioned_features():
        if ref.name not in model.features:
            yield missing("feature", ref.name, ref.origin, model.features)
    for ref in (ref for node in model.hosts() for ref in node.groups.items):
        if ref.name not in model.groups:
            yield missing("group", ref.name, ref.origin, model.groups)
    yield from _parameters(model)
    yield from _subsystems(model)
    yield from _contents(fleet)
    yield from _bound(fleet)
    yield from _collected(fleet)


def missing(noun: str, name: str, origin: Origin, known: Collection[str]) -> Finding:
    """Return GC201 for one mention of a name."""
    hint = did_you_mean(name, known)
    return of("GC201", name, f"There is no {noun} {shown(name)}.", [origin], hint=hint)


def _parameters(model: Model) -> Iterator[Finding]:
    """Yield undeclared names in `depends` and `conflicts`, for any setting of `undeclared`."""
    if unreadable(model):
        return
    for parameter in model.parameters.values():
        for ref in (*parameter.depends, *parameter.conflicts):
            if ref.name not in model.parameters:
                yield missing("parameter", ref.name, ref.origin, model.parameters)


def _subsystems(model: Model) -> Iterator[Finding]:
    for subsystem in model.subsystems.values():
        for ref in subsystem.params:
            if not (is_glob(ref.name) or ref.name in model.parameters or unreadable(model)):
                yield missing("parameter", ref.name, ref.origin, model.parameters)
        for ref in subsystem.covers:
            if ref.name != "*" and ref.name not in model.subsystems:
                yield missing("subsystem", ref.name, ref.origin, model.subsystems)


def _contents(fleet: Fleet) -> Iterator[Finding]:
    model = fleet.model
    bound = fleet.bindings.names
    for entry in files(model):
        if entry.template is not None and entry.template.name not in model.templates:
            yield missing("template", entry.template.name, entry.template.origin, model.templates)
        if entry.source is not None and entry.source.name not in model.sources:
            yield missing("file", entry.source.name, entry.source.origin, model.sources)
        for name in entry.params:
            plain = not is_glob(name) and not name.startswith("!")
            if plain and name not in bound and not declared(fleet, name):
                yield missing("parameter", name, entry.origin, model.parameters)


def declared(fleet: Fleet, name: str) -> bool:
    """Return whether a parameter is declared, or may be in a file that could not be read."""
    return unreadable(fleet.model) or fleet.declarations.find(name) is not None


def unreadable(model: Model, kind: str = "parameters") -> bool:
    """Return whether a file of a kind could not be read, so that not even its names are known."""
    return any("/" in name for name in model.unread.get(kind, ()))


def _bound(fleet: Fleet) -> Iterator[Finding]:
    """Yield bound parameters with wrong names (GC103), and undeclared ones unless these are allowed."""
    undeclared = fleet.model.settings.undeclared
    grave = Severity.WARNING if undeclared is Undeclared.WARNING else Severity.ERROR
    seen: dict[str, tuple[str, Origin]] = {
        name.casefold(): (name, parameter.origin) for name, parameter in fleet.model.parameters.items()
    }
    fine: set[str] = set()
    for name, binding in bindings(fleet):
        named = binding.op is Op.SECRET and isinstance(binding.given, str)  # else it is GC206
        if named and binding.given not in fleet.model.secrets:
            yield missing("secret", binding.given, binding.at, fleet.model.secrets)
        if name not in fine:
            found = tuple(_named(fleet, name, binding.origin, seen, grave))
            yield from found
            fine.update(() if found else (name,))
    for name, origin in _constrained(fleet.model):
        yield from () if name in fine else _named(fleet, name, origin, seen, grave)


def _constrained(model: Model) -> Iterator[tuple[str, Origin]]:
    """Yield every parameter with a domain.

    The names in rules over instances are attributes, not parameters.
    """
    for rule in model.rules.values():
        if rule.over is None:
            yield from ((name, domain.origin) for name, domain in rule.domains.items())


def _collected(fleet: Fleet) -> Iterator[Finding]:
    """Yield missing features and parameters that values are collected from, without those of GC206."""
    if fleet.collecting is None:
        return
    bound, model = fleet.bindings.names, fleet.model
    for _, binding in composed(fleet, Op.COLLECT):
        with suppress(Misfit):
            found = parse_collect(binding.given)
            if found.feature not in model.features:
                yield missing("feature", found.feature, binding.at, model.features)
            if not (found.param == NAME or found.param in bound or declared(fleet, found.param)):
                yield missing("parameter", found.param, binding.at, model.parameters)


def _named(
    fleet: Fleet, name: str, origin: Origin, seen: dict[str, tuple[str, Origin]], grave: Severity
) -> Iterator[Finding]:
    if not PARAMETER.fullmatch(name):
        yield of("GC103", name, f"{shown(name)!r} is not a valid name for a parameter.", [origin])
        return
    first, place = seen.setdefault(name.casefold(), (name, origin))
    if first != name:
        names = (min(name, first), max(name, first))
        message = f"The parameters {names[0]} and {names[1]} differ only in case."
        yield of("GC103", names, message, [origin, place])
    if fleet.model.settings.undeclared is not Undeclared.ALLOW and not declared(fleet, name):
        hint = did_you_mean(name, fleet.model.parameters) or "Declare it under parameters/."
        yield of("GC201", name, f"There is no parameter {name}.", [origin], hint=hint, grave=grave)


# GC201: what rules about permissions refer to.

JUDGING = FILES
"""The files that determine how a push is judged. For permissions they are rules, named by their paths."""
_SHEETS = {"subsystem": "subsystems", "rule": "rules"}
"""The kinds of files with many definitions, of which not even the names may be known."""


def rule_names(fleet: Fleet) -> Iterator[Finding]:
    """Yield GC201 for every name that does not exist.

    Nodes are left out, since they come and go, and so are paths, since nodes may have others.
    """
    for rule in fleet.model.rules.values():
        if rule.permit is not None:
            yield from _missing(fleet.model, rule.permit)
            bound = fleet.bindings.names if rule.permit.params else ()
            for ref in _exact(rule.permit.params):
                if ref.name not in bound and not declared(fleet, ref.name):
                    yield missing("parameter", ref.name, ref.origin, fleet.model.parameters)


def _missing(model: Model, permit: Permit) -> Iterator[Finding]:
    groups = {*model.groups, model.settings.default_group}
    for noun, refs, known in (
        ("group", permit.groups, groups),
        ("subsystem", permit.subsystems, model.subsystems),
        ("template", permit.templates, {*model.templates, *model.sources}),
        ("secret", permit.secrets, model.secrets),
        ("rule", permit.rules, {*model.rules, *JUDGING}),
    ):
        if not unreadable(model, _SHEETS.get(noun, "")):
            found = (ref for ref in _exact(refs) if ref.name not in known)
            yield from (missing(noun, ref.name, ref.origin, known) for ref in found)


def _exact(refs: Iterable[Ref]) -> Iterator[Ref]:
    return (ref for ref in refs if not is_glob(ref.name))
