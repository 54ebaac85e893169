"""One of two fleets that are compared, with what of it is asked many times."""

from collections.abc import Iterable

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import FileEntry
from gitcfg.render.files import RenderedFile, rendered_file
from gitcfg.render.holding import mode_of
from gitcfg.render.templates import Analysis, TemplateEngine


class Side:
    """A fleet and the engine of its templates."""

    def __init__(self, fleet: Fleet, engine: TemplateEngine) -> None:
        self.fleet = fleet
        self.engine = engine

    def nodes(self, names: Iterable[str] | None) -> dict[str, FleetNode]:
        """Those of the names that are nodes here; None: every node."""
        fleet = self.fleet
        wanted = fleet.names if names is None else (name for name in names if name in fleet)
        return {name: fleet[name] for name in wanted}

    def traits(self, name: str) -> tuple[str | None, tuple[str, ...]]:
        """What a parameter's declaration means to files: how lists are separated, and tags."""
        parameter = self.fleet.declarations.find(name)
        return (parameter.separator, parameter.tags) if parameter else (None, ())

    def analysis(self, entry: FileEntry) -> Analysis | None:
        """What an entry's template mentions; None if it has none that exists."""
        template = entry.template
        known = template is not None and template.name in self.fleet.templates
        return self.engine.analyse(template.name) if template and known else None

    def file(self, node: FleetNode | None, path: str) -> RenderedFile | None:
        """A node's file; None where there is no such node or file, or it cannot be rendered."""
        entry = node.entries.get(path) if node else None
        return rendered_file(self.fleet, node, entry, self.engine) if node and entry else None

    def access(self, node: FleetNode, path: str) -> dict[str, str]:
        """The mode, owner and group of a node's file; nothing where it has no such file."""
        entry = node.entries.get(path)
        if entry is None:
            return {}
        mode = mode_of(self.fleet, node, entry, self.engine)
        return {"mode": mode, "owner": entry.owner, "group": entry.group}
