"""The public library: a repository opened, a fleet at a revision, and what one asks of it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitcfg.check import check
from gitcfg.comparison.comparison import Comparison
from gitcfg.comparison.side import Side
from gitcfg.compile import fleet as compiled
from gitcfg.compile.fleet import FleetNode, compile_tree
from gitcfg.compile.nodes import Roster
from gitcfg.compile.trail import TrailStep
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, Tree
from gitcfg.load.repository import load_nodes_only
from gitcfg.model import Finding
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.files import RenderedFile, node_digest, rendered
from gitcfg.render.templates import TemplateEngine

if TYPE_CHECKING:
    from gitcfg.cache.cache import Cache
    from gitcfg.history.blame import Blamer
    from gitcfg.history.log import Log


class Node:
    """One node of a fleet: `params` and `files` are what it gets, `explain` says why."""

    def __init__(self, fleet: "Fleet", node: FleetNode) -> None:
        self._fleet = fleet
        self._node = node
        self.name = node.name

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self._node.params

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return self._node.features

    @property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups, highest first."""
        return self._node.groups

    @cached_property
    def rendered(self) -> Mapping[str, RenderedFile]:
        """The node's files by path, each with mode, owner, group and digest."""
        return rendered(self._fleet.compiled, self._node, self._fleet.engine)

    @property
    def files(self) -> Mapping[str, str]:
        """The contents of the node's files by path."""
        return {path: file.content for path, file in self.rendered.items()}

    @cached_property
    def digest(self) -> str:
        """One hash over the node's files and subsystems."""
        return node_digest(self._fleet.compiled, self._node, self.rendered)

    def explain(self, param: str) -> tuple[TrailStep, ...]:
        """The parameter's trail: every step that binds it, lowest first."""
        return self._node.trail(param)

    def told(self, param: str, everything: bool) -> tuple[Any, tuple[TrailStep, ...]]:
        """A parameter's value with the steps that count, or with those that were overridden too."""
        steps = self.explain(param)
        return self.params.get(param), tuple(step for step in steps if everything or not step.overridden)


class Fleet(Mapping[str, Node]):
    """Every node of a repository at one commit, work tree or index. Use as a context manager, or close."""

    def __init__(self, tree: Tree, before: Tree | None, today: date) -> None:
        self.compiled: compiled.Fleet = compile_tree(tree, today)
        self.commit = tree.commit
        self._before = before
        self._engine: TemplateEngine | None = None
        self._parsers: Parsers | None = None

    @property
    def engine(self) -> TemplateEngine:
        """The templates' guarded child, started when first needed."""
        if self._engine is None:
            self._engine = TemplateEngine(self.compiled.templates)
        return self._engine

    @property
    def parsers(self) -> Parsers:
        """Targets' own parsers in their guarded child, started when first needed."""
        if self._parsers is None:
            self._parsers = Parsers()
        return self._parsers

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong as far as gitcfg alone can tell, in order of code."""
        return check(self.compiled, self._previous(), self.engine)

    @cached_property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings with what targets' own parsers have against rendered files (GC307)."""
        return check(self.compiled, self._previous(), self.engine, self.parsers)

    def _previous(self) -> Roster | None:
        """Who was there before, if that can be read at all."""
        if self._before is None or self._before.entry("gitcfg.yaml") is None:
            return None
        return Roster(load_nodes_only(self._before))

    def __getitem__(self, name: str) -> Node:
        return Node(self, self.compiled[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.compiled.names)

    def __len__(self) -> int:
        return len(self.compiled.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.compiled

    def close(self) -> None:
        """End the templates' child and the parsers', if there are any."""
        for child in (self._engine, self._parsers):
            if child is not None:
                child.close()

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Source:
    """An opened repository, from which fleets are made."""

    def __init__(self, repository: Repository, today: date) -> None:
        self.repository = repository
        self.today = today

    def at(self, revision: str) -> Fleet:
        """The fleet of a commit. GitcfgError: there is no such revision."""
        return self._fleet(self.repository.at(revision))

    def worktree(self) -> Fleet:
        """The fleet as the files lie there, committed or not."""
        return self._fleet(self.repository.worktree())

    def index(self, file: str | None = None) -> Fleet:
        """The fleet as it would be committed; `file` is another index than the repository's own."""
        return self._fleet(self.repository.index(file))

    def merged(self, ours: str, theirs: str) -> Fleet:
        """The fleet that merging one revision into another would give. GitcfgError: conflicts."""
        return self._fleet(self.repository.merged(ours, theirs))

    def blamer(self, revision: str | None = None) -> "Blamer":
        """Who to blame for what, from a revision or the work tree on. GitcfgError: no such revision."""
        from gitcfg.history.blame import Blamer

        return Blamer(self.repository, revision)

    def log(
        self,
        name: str,
        param: str | None = None,
        *,
        kind: str | None = None,
        revision: str = "HEAD",
        limit: int | None = None,
        cache: "Cache | None" = None,
    ) -> "Log":
        """The commits that changed what a node, parameter, feature or group is, newest first.

        With `param`, those that changed that parameter's value on a node; `kind` says which one is meant
        where several things have the name: "node", "param", "feature" or "group". GitcfgError: there
        never was such a thing, or there is no such revision.
        """
        from gitcfg.history.asked import answered
        from gitcfg.history.log import Logs
        from gitcfg.history.question import Subject

        logs = Logs(self.repository, revision, cache)
        return answered(logs, name, param, Subject(kind) if kind is not None else None, limit)

    def _fleet(self, tree: Tree) -> Fleet:
        return Fleet(tree, self.repository.before(tree), self.today)


def open(path: str | os.PathLike[str] = ".", today: date | None = None) -> Source:
    """Open the repository that a folder belongs to. GitcfgError: there is none."""
    return Source(Repository.open(path), today or date.today())


def in_memory(files: Mapping[str, str | bytes], today: date | None = None) -> Fleet:
    """The fleet of files that are held in a dictionary, path to content."""
    return Fleet(DictTree(files), None, today or date.today())


def compare(old: Fleet, new: Fleet, names: Iterable[str] | None = None) -> Comparison:
    """The changes from one fleet to another, folded over nodes; `names` restricts it to some nodes."""
    return Comparison(Side(old.compiled, old.engine), Side(new.compiled, new.engine), names)
