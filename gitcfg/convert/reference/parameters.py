"""The chapters of parameters, and of the subsystems that they affect."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.operations import NOTHING
from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Link, Part, Table, Text
from gitcfg.convert.reference.usage import SECRET, Usage, binding_line, fact, value_piece
from gitcfg.explain.kinds.parameters import covering, patterns
from gitcfg.explain.trail import walk_layers
from gitcfg.model import FileEntry, Origin, Parameter, Subsystem
from gitcfg.model.names import selects
from gitcfg.nodeset import fold
from gitcfg.render.files import selected

_LEVELS = ("everyone", "experts", "developers")
_ABOUT = (
    "What may be set, and how it is declared. A name with an asterisk or a question mark declares a family."
)
_KINDS = {
    "feature": "feature",
    "group": "group",
    "nodeset": "node set",
    "override": "override",
    "rule": "rule",
}
"""The names of kinds of layers."""


class Interests(msgspec.Struct, frozen=True):
    """The parameters that affect each subsystem, by entry, and the subsystems that each parameter affects."""

    found: Mapping[str, tuple[str, ...]]
    concerned: Mapping[str, list[str]]

    def of(self, parameter: str) -> Iterator[Line]:
        """Return the subsystems that a parameter, or a member of its family, affects."""
        return ((Link("subsystem", name),) for name in self.concerned.get(parameter, ()))


def find_interests(usage: Usage) -> Interests:
    """Find which parameters affect which subsystems."""
    found = {}
    for name, subsystem in sorted(usage.fleet.model.subsystems.items()):
        wanted = patterns(subsystem)
        found[name] = tuple(
            owner
            for owner in sorted(usage.names["parameter"])
            if any(
                selects(wanted, each)
                for each in (*usage.families.get(owner, ()), *_stands_for_itself(usage, owner))
            )
        )
    concerned: dict[str, list[str]] = {}
    for name, owners in found.items():
        for owner in owners:
            concerned.setdefault(owner, []).append(name)
    return Interests(found, concerned)


def _stands_for_itself(usage: Usage, owner: str) -> tuple[str, ...]:
    """Return the entry itself, unless it is a family with bound members, which stand for it."""
    declared = usage.fleet.model.parameters.get(owner)
    return () if declared is not None and declared.pattern and usage.families.get(owner) else (owner,)


def build_parameter_chapter(usage: Usage, interests: Interests) -> Chapter:
    """Return the chapter of all parameters that are declared or bound."""
    takers = _find_parameter_files(usage)
    entries = tuple(
        _parameter_entry(usage, name, interests, takers) for name in sorted(usage.names["parameter"])
    )
    return Chapter("parameter", "Parameters", _ABOUT, ("type", "default"), entries)


def _parameter_entry(usage: Usage, name: str, interests: Interests, takers: Mapping[str, FileEntry]) -> Entry:
    found = usage.fleet.model.parameters.get(name)
    parameter = found or Parameter(name, Origin(""))
    kind = usage.fleet.declarations.kind(name)
    default = _default_line(usage, found)
    parts = (
        *fact("Declared", [(Text("nowhere"),)] if found is None else ()),
        *fact("Type", [(Text(kind or "any"),)]),
        *fact("Default", [default] if default else ()),
        *_declared_parts(parameter),
        *_related_parts(usage, parameter, interests),
        *fact("Of this family", _family_lines(usage, name)),
        *fact("Values by", usage.mentioned_by("confine", name)),
        *fact("Written to", _file_lines(usage, name, takers)),
        *_bound_parts(usage, name),
    )
    cells = ((Text(kind or ""),), default)
    return Entry("parameter", name, parameter.description, parameter.origin.file, cells, parts)


def _default_line(usage: Usage, found: Parameter | None) -> Line:
    default: Any = usage.fleet.declarations.default(found) if found else NOTHING
    if found is not None and found.secret:
        return SECRET
    return () if default is NOTHING else (value_piece(default),)


def _declared_parts(parameter: Parameter) -> Iterator[Part]:
    """Yield the parts about the declaration."""
    if parameter.must_change:
        yield from fact("Must be changed", [(Text("where it is bound, some layer has to give it a value"),)])
    if parameter.schema is not None:
        yield from fact("Values must satisfy", [(value_piece(parameter.schema),)])
    if parameter.separator:
        yield from fact("List separator", [(Text(parameter.separator),)])
    if parameter.unique:
        yield from fact("Equal items", [(Text("the first stays"),)])
    if parameter.macros:
        yield from fact("May hold macros of", [(Text(parameter.macros),)])
    if parameter.level:
        yield from fact("For", [(Text(_LEVELS[parameter.level]),)])
    if parameter.secret:
        yield from fact("Secret", [(Text("its value is shown to nobody"),)])
    yield from fact("Tags", ((Code(tag),) for tag in parameter.tags))


def _related_parts(usage: Usage, parameter: Parameter, interests: Interests) -> Iterator[Part]:
    """Yield the parts about other parameters and subsystems."""
    yield from fact("Needs", (usage.link("parameter", ref.name) for ref in parameter.depends))
    yield from fact("Needed by", usage.mentioned_by("need", parameter.name))
    mutual = [usage.link("parameter", ref.name) for ref in parameter.conflicts]
    yield from fact("Conflicts with", (*mutual, *usage.mentioned_by("exclude", parameter.name)))
    verb = "restarts" if parameter.restart else "reloads"
    yield from fact(f"A change {verb}", interests.of(parameter.name))


def _family_lines(usage: Usage, name: str) -> Iterator[Line]:
    members = usage.families.get(name, ())
    return iter([(Code(fold(members)),)] if members else ())


def _find_parameter_files(usage: Usage) -> Mapping[str, FileEntry]:
    """Return the files that are written from parameters, one for each path and selection."""
    found = {}
    for _, layer in walk_layers(usage.fleet.model):
        for entry in layer.files.values():
            if entry.format is not None:
                found[repr((entry.path, entry.params, entry.tags))] = entry
    return dict(sorted(found.items()))


def _file_lines(usage: Usage, name: str, takers: Mapping[str, FileEntry]) -> Iterable[Line]:
    names = [name, *usage.families.get(name, ())]
    values = dict.fromkeys(names, "")
    taking = {entry.path for entry in takers.values() if selected(usage.fleet, entry, values)}
    return ((Code(path),) for path in sorted(taking))


def _bound_parts(usage: Usage, name: str) -> Iterator[Part]:
    """Yield the table of layers that bind a parameter, with the values; nodes themselves are grouped."""
    rows: list[tuple[Line, ...]] = []
    family = name in usage.families
    for bound in usage.mentions.bindings.get(name, ()):
        called: Line = (Text(": "), Code(bound.name)) if family else ()
        layer: Line = (Text(f"{_KINDS[bound.layer.kind]} "), bound.layer, *called)
        rows.append((layer, binding_line(usage, bound.name, bound.binding)))
    own = usage.mentions.binding_nodes.get(name, ())
    if own:
        rows.append((usage.nodes.line(own), (Text("each its own"),)))
    if rows:
        yield Table("Set by", ("who", "value"), tuple(rows))


def build_subsystem_chapter(usage: Usage, concerns: Interests) -> Chapter:
    """Return the chapter of subsystems: where each runs, and what restarts it."""
    entries = []
    for name, found in sorted(usage.fleet.model.subsystems.items()):
        nodes = _find_nodes(usage, found)
        parts = tuple(_subsystem_parts(usage, found, nodes, concerns))
        cells = (usage.nodes.count(nodes),)
        entries.append(Entry("subsystem", name, found.description, found.origin.file, cells, parts))
    about = "Processes that settings affect: they are restarted or reloaded when one of theirs changes."
    return Chapter("subsystem", "Subsystems", about, ("nodes",), tuple(entries))


def _find_nodes(usage: Usage, found: Subsystem) -> tuple[str, ...]:
    """Return the nodes where a subsystem runs: those with its features, or all that are not retired."""
    kinds = (kind for kind in usage.fleet.classes if not kind.said.retired)
    if found.features is None:
        return tuple(name for kind in kinds for name in kind.names)
    own = {ref.name for ref in found.features}
    return tuple(name for kind in kinds if not own.isdisjoint(kind.features) for name in kind.names)


def _subsystem_parts(
    usage: Usage, found: Subsystem, nodes: tuple[str, ...], concerns: Interests
) -> Iterator[Part]:
    runs: list[Line] = [(Text("everywhere"),)] if found.features is None else []
    runs += [usage.link("feature", ref.name) for ref in found.features or ()]
    yield from fact("Runs with", runs)
    yield from fact("Nodes", [usage.nodes.line(nodes)])
    concerned = concerns.found[found.name]
    restarting = {name for name in concerned if _restarts(usage, name)}
    rest = [name for name in concerned if name not in restarting]
    yield from fact("Restarted by", (usage.link("parameter", name) for name in sorted(restarting)))
    yield from fact("Reloaded by", (usage.link("parameter", name) for name in rest))
    yield from fact("Reloaded by files", ((Code(path),) for path in found.files))
    yield from fact("Its restart restarts", ((Code(ref.name),) for ref in found.covers))
    model = usage.fleet.model
    yield from fact("Restarted with", (usage.link("subsystem", name) for name in covering(model, found.name)))
    yield from _command_parts(found)


def _restarts(usage: Usage, name: str) -> bool:
    declared = usage.fleet.model.parameters.get(name)
    return declared is not None and declared.restart


def _command_parts(found: Subsystem) -> Iterator[Part]:
    """Yield the commands of a subsystem."""
    check = found.check.run if found.check else ()
    commands = (
        ("Before installing", found.validate),
        ("To reload", found.reload),
        ("To restart", found.restart),
        ("To stop", found.stop),
        ("To check", check),
    )
    for label, command in commands:
        yield from fact(label, [(Code(shlex.join(command)),)] if command else ())
