"""The chapter of subsystems: where each runs, what restarts it, and what is then done."""

import shlex
from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Link, Part, Text
from gitcfg.convert.reference.settings import fact
from gitcfg.convert.reference.uses import Uses
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


def interests(uses: Uses) -> Interests:
    """Who is interested in what."""
    found = {}
    for name, subsystem in sorted(uses.fleet.model.subsystems.items()):
        wanted = patterns(subsystem)
        found[name] = tuple(
            owner
            for owner in sorted(uses.names["parameter"])
            if any(selects(wanted, each) for each in (*uses.families.get(owner, ()), *_itself(uses, owner)))
        )
    concerned: dict[str, list[str]] = {}
    for name, owners in found.items():
        for owner in owners:
            concerned.setdefault(owner, []).append(name)
    return Interests(found, concerned)


def _itself(uses: Uses, owner: str) -> tuple[str, ...]:
    """A family is none of its members; if nothing is bound of it, its name stands for them."""
    declared = uses.fleet.model.parameters.get(owner)
    return () if declared is not None and declared.pattern and uses.families.get(owner) else (owner,)


def subsystems(uses: Uses, concerns: Interests) -> Chapter:
    """Every subsystem."""
    entries = []
    for name, found in sorted(uses.fleet.model.subsystems.items()):
        nodes = _running(uses, found)
        parts = tuple(_parts(uses, found, nodes, concerns))
        cells = (uses.nodes.count(nodes),)
        entries.append(Entry("subsystem", name, found.description, found.origin.file, cells, parts))
    about = "Processes that settings affect: they are restarted or reloaded when one of theirs changes."
    return Chapter("subsystem", "Subsystems", about, ("nodes",), tuple(entries))


def _running(uses: Uses, found: Subsystem) -> tuple[str, ...]:
    """The nodes where it runs: those of its features, or all that are not retired."""
    kinds = (kind for kind in uses.fleet.classes if not kind.said.retired)
    if found.features is None:
        return tuple(name for kind in kinds for name in kind.names)
    own = {ref.name for ref in found.features}
    return tuple(name for kind in kinds if not own.isdisjoint(kind.features) for name in kind.names)


def _parts(uses: Uses, found: Subsystem, nodes: tuple[str, ...], concerns: Interests) -> Iterator[Part]:
    runs: list[Line] = [(Text("everywhere"),)] if found.features is None else []
    runs += [uses.link("feature", ref.name) for ref in found.features or ()]
    yield from fact("Runs with", runs)
    yield from fact("Nodes", [uses.nodes.line(nodes)])
    concerned = concerns.found[found.name]
    restarting = {name for name in concerned if _restarts(uses, name)}
    rest = [name for name in concerned if name not in restarting]
    yield from fact("Restarted by", (uses.link("parameter", name) for name in sorted(restarting)))
    yield from fact("Reloaded by", (uses.link("parameter", name) for name in rest))
    yield from fact("Reloaded by files", ((Code(path),) for path in found.files))
    yield from fact("Its restart restarts", ((Code(ref.name),) for ref in found.covers))
    model = uses.fleet.model
    yield from fact("Restarted with", (uses.link("subsystem", name) for name in covering(model, found.name)))
    yield from _commands(found)


def _restarts(uses: Uses, name: str) -> bool:
    declared = uses.fleet.model.parameters.get(name)
    return declared is not None and declared.restart


def _commands(found: Subsystem) -> Iterator[Part]:
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
