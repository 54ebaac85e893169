"""GC514: secrets that come into a file with everything else, and so close it to all but its owner."""

from collections.abc import Iterable, Iterator
from functools import partial

from gitcfg.check.fold import of
from gitcfg.check.watch import Tally
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.surface import Surface, Surfaces
from gitcfg.model import FileEntry, Finding
from gitcfg.model.names import shown
from gitcfg.render.files import PRIVATE, Taken, held
from gitcfg.render.templates import TemplateEngine

_Key = tuple[int, tuple[str, ...]]


class Swept:
    """Files without a said mode that take secrets by no name. Who says the mode has thought of it.

    It is told of nodes, so that a check after a change need not look at all of them for it.
    """

    def __init__(self, fleet: Fleet, surfaces: Surfaces, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._params = surfaces.params
        self._engine = engine
        self._told = Tally()
        self._unnamed: dict[_Key, tuple[FileEntry, tuple[str, ...]]] = {}
        self._taken: dict[int, tuple[FileEntry, int]] = {}

    def see(self, kind: NodeClass, surface: Surface) -> Iterable[Finding]:
        if kind.secrets and kind.names:
            for entry in kind.files.values():
                for param in () if entry.mode_said else self._swept(kind, surface, entry):
                    secret = kind.secrets[param]
                    tell = partial(_closed, entry, param, secret)
                    self._told.add((param, secret), entry, kind.names, tell)
        return ()

    def end(self) -> Iterator[Finding]:
        yield from self._told.findings()

    def _swept(self, kind: NodeClass, surface: Surface, entry: FileEntry) -> tuple[str, ...]:
        """The secret parameters that an entry takes on nodes of a class and does not name."""
        key = (id(entry), tuple(kind.secrets))
        if key not in self._unnamed:
            self._unnamed[key] = (entry, self._of(kind, entry))
        found = self._unnamed[key][1]
        return found if found and self._mixed(kind, surface, entry) else ()

    def _of(self, kind: NodeClass, entry: FileEntry) -> tuple[str, ...]:
        node = FleetNode(kind.names[0], kind, kind.said)
        taken = held(self._fleet, node, entry, self._engine)
        named = set(entry.params)
        if taken and entry.template is not None:
            analysis = self._engine.analyse(entry.template.name)
            if analysis.problem is not None:
                return ()  # that is told already (GC208)
            named = {param for param, _ in analysis.params}
        return tuple(param for param in taken if param not in named)

    def _mixed(self, kind: NodeClass, surface: Surface, entry: FileEntry) -> bool:
        """Does it take anything but secrets? Else nobody else has reason to read it."""
        if entry.format is None:
            return True
        known = self._taken.get(id(entry))
        if known is None:
            known = self._taken[id(entry)] = (entry, self._takes(entry))
        found = known[1] & surface.bound
        return found != found & self._params.mask(kind.secrets)

    def _takes(self, entry: FileEntry) -> int:
        """What an entry takes, as bits: asked of each parameter once, and not of each class."""
        taken = Taken(self._fleet.declarations, entry)
        return self._params.among(name for name in self._params.names if taken.separators(name) is not None)


def _closed(entry: FileEntry, param: str, secret: str) -> Iterator[Finding]:
    takes = f"{shown(entry.path)} takes the secret {secret} with everything else"
    message = f"{takes}, so only its owner may read it ({PRIVATE})."
    hint = f'{_way_out(entry, shown(param))}; or write `mode: "{PRIVATE}"` if it is meant.'
    yield of("GC514", (entry.path, param), message, [entry.origin], hint=hint)


def _way_out(entry: FileEntry, param: str) -> str:
    if entry.template is not None:
        return "Let the template name the parameters that it needs"
    if entry.tags:
        return f"Give {param} none of the entry's tags"
    return f'Leave it out, "!{param}" in `params`'
