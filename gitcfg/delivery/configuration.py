"""All that a node needs of a commit: its files, and the subsystems that run on it."""

from collections.abc import Iterable, Mapping

from msgspec import UNSET, UnsetType

from gitcfg.comparison.comparison import Consequences
from gitcfg.comparison.files import Side
from gitcfg.compile.fleet import FleetNode
from gitcfg.delivery.document import ACTIVE, RETIRED, Check, Configuration, File, RunsHere
from gitcfg.library import Fleet, Node
from gitcfg.model import FileEntry, GitcfgError, Subsystem
from gitcfg.model.text import seconds
from gitcfg.render.files import RenderedFile, holding, selected, subsystems


def consequences(fleet: Fleet) -> Consequences:
    """What follows from mended files; one for many nodes judges what they have in common once."""
    return Consequences(fleet.compiled, fleet.compiled)


def configuration(fleet: Fleet, name: str, known: Consequences | None = None) -> Configuration:
    """What a node gets. `known` is of the same fleet, and lets 10 ms of 16 be spent once for all nodes.

    GitcfgError: the fleet is of no commit, or knows no such node.
    """
    if fleet.commit is None or name not in fleet:
        raise GitcfgError(f"There is no node {name} at a commit here.")
    part = fleet.valued([name])
    node = part[name]
    here = part.compiled[name]
    running = subsystems(part.compiled, here)
    return Configuration(
        name,
        fleet.commit,
        node.digest,
        RETIRED if here.said.retired else ACTIVE,
        node.features,
        node.groups,
        node.params,
        dict(_files(part, node, here, known or consequences(part))),
        {each: _runs(said, running) for each, said in running.items()},
    )


def _files(fleet: Fleet, node: Node, here: FleetNode, known: Consequences) -> Iterable[tuple[str, File]]:
    side = Side(fleet.compiled, fleet.engine)
    secret = holding(fleet.compiled, here, fleet.engine)
    for path, file in sorted(node.rendered.items()):
        taken = _taken(side, here, here.entries[path])
        due = known.of(here, here, taken, (path,))
        concerns = dict.fromkeys(due.reload, "reload") | dict.fromkeys(due.restart, "restart")
        yield path, _file(file, concerns, UNSET if path not in secret else None)


def _taken(side: Side, node: FleetNode, entry: FileEntry) -> tuple[str, ...]:
    """The parameters that a file is made of, or may be."""
    if entry.format is not None:
        return tuple(sorted(selected(side.fleet, entry, node.params)))
    analysis = side.analysis(entry)
    if analysis is None:
        return ()
    whatever = analysis.everything or analysis.computed
    return tuple(sorted(node.params if whatever else {name for name, _ in analysis.params}))


def _file(file: RenderedFile, concerns: Mapping[str, str], sealed: UnsetType | None) -> File:
    return File(file.content, file.mode, file.owner, file.group, file.digest, concerns, sealed)


def _runs(said: Subsystem, here: Iterable[str]) -> RunsHere:
    """A subsystem's commands; `covers` as the names of those that run here."""
    check = said.check
    named = [ref.name for ref in said.covers]
    return RunsHere(
        said.validate or None,
        said.reload or None,
        said.restart or None,
        said.stop or None,
        Check(check.run, seconds(check.timeout) or 60.0, check.retries) if check else None,
        said.using,
        tuple(each for each in here if each != said.name and ("*" in named or each in named)),
    )
