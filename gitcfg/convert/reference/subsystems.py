"""The chapter of subsystems: where each runs, what restarts it, and what is then done."""

import shlex
from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Link, Part, Text
from gitcfg.convert.reference.settings import fact
from gitcfg.convert.reference.uses import Usage
from gitcfg.explain.kinds.parameters import covering, patterns
from gitcfg.model import Subsystem
from gitcfg.model.names import selects


class Interests(msgspec.Struct, frozen=True):
    """The parameters that each subsystem is interested in, by entry, and the subsystems of each parameter."""

    found: Mapping[str, tuple[str, ...]]
    concerned: Mapping[str, list[str]]

    def of(self, parameter: str) -> Iterator[Line]:
        """The subsystems that a parameter, or one of its family, concerns."""
        return ((Link("subsystem", name),) for name in self.concerned.get(parameter, ()))


def find_interests(usage: Usage) -> Interests:
    """Who is interested in what."""
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
    """A family is none of its members; if nothing is bound of it, its name stands for them."""
    declared = usage.fleet.model.parameters.get(owner)
    return () if declared is not None and declared.pattern and usage.families.get(owner) else (owner,)


def subsystem_chapter(usage: Usage, concerns: Interests) -> Chapter:
    """Every subsystem."""
    entries = []
    for name, found in sorted(usage.fleet.model.subsystems.items()):
        nodes = _find_nodes(usage, found)
        parts = tuple(_subsystem_parts(usage, found, nodes, concerns))
        cells = (usage.nodes.count(nodes),)
        entries.append(Entry("subsystem", name, found.description, found.origin.file, cells, parts))
    about = "Processes that settings affect: they are restarted or reloaded when one of theirs changes."
    return Chapter("subsystem", "Subsystems", about, ("nodes",), tuple(entries))


def _find_nodes(usage: Usage, found: Subsystem) -> tuple[str, ...]:
    """The nodes where it runs: those of its features, or all that are not retired."""
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
    """What is run, and when."""
    check = found.check.run if found.check else ()
    said = (
        ("Before installing", found.validate),
        ("To reload", found.reload),
        ("To restart", found.restart),
        ("To stop", found.stop),
        ("To check", check),
    )
    for label, command in said:
        yield from fact(label, [(Code(shlex.join(command)),)] if command else ())
