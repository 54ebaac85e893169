"""The public library: a repository, a fleet at a revision, its nodes, and the changes between two fleets."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitcfg.cache import Cache, NoCache, open_cache
from gitcfg.check.incremental import Checks
from gitcfg.check.results import WHO, Checked
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, Tree, fingerprint
from gitcfg.load.repository import settings_entry
from gitcfg.model import Finding, Model, Origin

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.compile import fleet as compiled
    from gitcfg.compile.fleet import FleetNode
    from gitcfg.compile.impact import Mentions, Version
    from gitcfg.compile.nodes import Roster
    from gitcfg.compile.operations import TrailStep
    from gitcfg.history.blame import Blamer
    from gitcfg.history.log import Log
    from gitcfg.parsers.parsers import Parsers
    from gitcfg.render.files import RenderedFile
    from gitcfg.render.templates import TemplateEngine


class Node:
    """One node of a fleet: `params` and `files` are its configuration, `explain` shows the reason."""

    def __init__(self, fleet: "Fleet", node: "FleetNode") -> None:
        self.fleet = fleet
        self._node = node
        self.name = node.name

    @property
    def params(self) -> Mapping[str, Any]:
        """The final values by parameter, in order of name; a bare parameter is None."""
        return self._node.params

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return self._node.features

    @property
    def groups(self) -> tuple[str, ...]:
        """The explicit groups, highest first."""
        return self._node.groups

    @cached_property
    def rendered(self) -> Mapping[str, "RenderedFile"]:
        """The node's files by path, each with mode, owner, group and digest."""
        from gitcfg.render.files import render_files

        return render_files(self.fleet.compiled, self._node, self.fleet.engine)

    @property
    def files(self) -> Mapping[str, str]:
        """The contents of the node's files by path."""
        return {path: file.content for path, file in self.rendered.items()}

    @cached_property
    def digest(self) -> str:
        """One hash over the node's files and subsystems."""
        from gitcfg.render.files import node_digest

        return node_digest(self.fleet.compiled, self._node, self.rendered)

    def explain(self, param: str) -> tuple["TrailStep", ...]:
        """Return the parameter's trail: every step that binds it, lowest first."""
        from gitcfg.explain.trail import with_fact_places

        return with_fact_places(self._node.trail(param), lambda: self._fact_places)

    @cached_property
    def _fact_places(self) -> Mapping[str, Origin]:
        from gitcfg.explain.trail import find_fact_places

        return find_fact_places(self.fleet.tree, self._node)

    def trail(self, param: str, everything: bool) -> tuple[Any, tuple["TrailStep", ...]]:
        """Return a parameter's value with the steps that count, or also with those that were overridden."""
        steps = self.explain(param)
        return self.params.get(param), tuple(step for step in steps if everything or not step.overridden)


class Fleet(Mapping[str, Node]):
    """Every node of a repository at one commit, work tree or index. A context manager, or use `close`."""

    def __init__(
        self,
        tree: Tree,
        before: Tree | None,
        today: date,
        cache: Cache,
        model: Model | None = None,
        implied: Mapping[str, str] | None = None,
        beside: "Fleet | None" = None,
    ) -> None:
        """Make the fleet of a tree. Raise GitcfgError if it is not of a repository.

        `model` is that of the tree, or a part of it, and `implied` are the types that the whole tree implies
        for parameters without one, if these are already known. `beside` is the fleet from whose nodes these
        nodes collect, if not from each other.
        """
        settings_entry(tree)
        self.tree = tree
        self.commit = tree.commit
        self._today = today
        self._cache = cache
        self._checks = Checks(tree, before, today, cache)
        self._model = model
        self._implied = implied
        self._beside = beside
        self._engine: TemplateEngine | None = None
        self._parsers: Parsers | None = None
        self._parts: list[Fleet] = []

    @cached_property
    def model(self) -> Model:
        """What the repository defines; each definition is read when it is requested."""
        from gitcfg.load.repository import load

        return load(self.tree, self._cache) if self._model is None else self._model

    @property
    def whole(self) -> bool:
        """Whether these are all nodes of the repository."""
        return self._model is None

    @cached_property
    def roster(self) -> "Roster":
        """The nodes of the repository, by name."""
        from gitcfg.compile.nodes import Roster

        return Roster(self.model)

    @cached_property
    def mentions(self) -> "Mentions":
        """Which nodes are in which groups, list which features, and bind which secrets."""
        from gitcfg.compile.impact import Mentions, index_classes, index_nodes

        asked = f"mentions 2 {fingerprint(self.tree, WHO)}"
        found = self._cache.get(asked, Mentions)
        if found is None:
            found = index_classes(self.compiled.classes) if self.is_compiled() else index_nodes(self.roster)
            self._cache.put(asked, found)
        return found

    @cached_property
    def compiled(self) -> "compiled.Fleet":
        """The layers from which the nodes are computed."""
        from gitcfg.compile.fleet import Fleet

        others = self._beside
        beside = (lambda: others.compiled) if others is not None else None
        return Fleet(self.model, self.tree, self._today, self._implied, beside)

    def only(self, names: Iterable[str]) -> "Fleet":
        """Return the fleet of some nodes only: nothing else is read.

        Its findings are right about these nodes' errors, and cover nothing else. Rules are about all nodes,
        so if there are any, return the whole fleet.
        """
        together = self.model.rules or self.model.allocations
        return self if together else self._part(names, lambda: None)

    def alone(self, names: Iterable[str]) -> "Fleet":
        """Return the same, even with rules on several nodes: its findings do not cover those."""
        return self._part(names, lambda: None)

    def valued(self, names: Iterable[str]) -> "Fleet":
        """Return the same for the configuration of some nodes; its findings do not count."""
        return self._part(names, self._checks.implied)

    def _part(self, names: Iterable[str], known: Callable[[], Mapping[str, str] | None]) -> "Fleet":
        """Return some nodes only; all, if they collect from others or need types that are not `known`."""
        from gitcfg.compile.subset import is_alone, is_typed, take_part

        if self.is_compiled():
            return self
        found = take_part(self.model, names)
        implied = None
        if not is_alone(found) or (not is_typed(found) and (implied := known()) is None):
            return self
        self._parts.append(Fleet(self.tree, None, self._today, NoCache(), found, implied))
        return self._parts[-1]

    @property
    def engine(self) -> "TemplateEngine":
        """The templates' guarded child, started when first needed."""
        from gitcfg.render.templates import TemplateEngine

        if self._engine is None:
            self._engine = TemplateEngine(self.compiled.templates)
        return self._engine

    @property
    def parsers(self) -> "Parsers":
        """The targets' own parsers in their guarded child, started when first needed."""
        from gitcfg.parsers.parsers import Parsers
        from gitcfg.parsers.verdicts import CachedVerdicts

        if self._parsers is None:
            self._parsers = Parsers(kept=CachedVerdicts(self._cache))
        return self._parsers

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that need no other program, in order of code."""
        return self.checked.findings

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings, also those of targets' own parsers about rendered files (GC307)."""
        return self.all_checked.findings

    @cached_property
    def checked(self) -> Checked:
        """The findings without GC307, and how much was checked."""
        return self._checks.checked(self)

    @cached_property
    def all_checked(self) -> Checked:
        """The findings with GC307, and how much was checked."""
        return self._kept or self._checks.checked(self, _parsers_version(), self.parsers)

    @cached_property
    def _kept(self) -> Checked | None:
        return self._checks.known(_parsers_version())

    def lacks_parser(self) -> bool:
        """Return, before any check, whether there is a file for HTCondor but not HTCondor's own parser.

        Before the first check, only files of groups and features are examined, because there are many nodes.
        """
        from gitcfg.parsers.child.htcondor import installed

        if installed() is not None:
            return False
        if "all_checked" in self.__dict__ or self._kept is not None:
            return self.all_checked.unjudged
        groups, features = self.model.groups.values(), self.model.features.values()
        files = (*(group.files for group in groups), *(feature.files for feature in features))
        return any(entry.format == "condor" for entries in files for entry in entries.values())

    def is_compiled(self) -> bool:
        """Return whether everything has been compiled."""
        return "compiled" in self.__dict__

    @property
    def version(self) -> "Version":
        """The fleet as one of two that are compared. It refers to the fleet, which does not keep it."""
        from gitcfg.compile.impact import Version

        return Version(self.tree, self.model, lambda: self.mentions)

    def __getitem__(self, name: str) -> Node:
        return Node(self, self.compiled[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.roster

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self.roster.names()

    def close(self) -> None:
        """End the templates' child and the parsers', if there are any."""
        for child in (self._engine, self._parsers, *self._parts):
            if child is not None:
                child.close()

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Source:
    """An opened repository, from which fleets are made."""

    def __init__(self, repository: Repository, today: date, cache: Cache | None = None) -> None:
        """Make fleets for the date `today`. `cache` saves results between runs; without it, none is saved."""
        self.repository = repository
        self.today = today
        self.cache: Cache = cache or NoCache()

    def at(self, revision: str) -> Fleet:
        """Return the fleet of a commit. Raise GitcfgError if there is no such revision."""
        return self._fleet(self.repository.at(revision))

    def worktree(self) -> Fleet:
        """Return the fleet of the files in the work tree, committed or not."""
        return self._fleet(self.repository.worktree())

    def index(self, file: str | None = None) -> Fleet:
        """Return the fleet of the index; `file` is another index than the repository's own."""
        return self._fleet(self.repository.index(file))

    def merged(self, ours: str, theirs: str) -> Fleet:
        """Return the fleet after a merge of one revision into another. Raise GitcfgError on conflicts."""
        return self._fleet(self.repository.merged(ours, theirs))

    def blamer(self, revision: str | None = None) -> "Blamer":
        """Blame from a revision, or from the work tree. Raise GitcfgError if there is no such revision."""
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
    ) -> "Log":
        """Return the commits that changed a node, parameter, feature or group, newest first.

        With `param`, return those that changed that parameter's value on a node. `kind` selects among things
        of the same name: "node", "param", "feature" or "group". Raise GitcfgError if there never was such a
        thing, or there is no such revision.
        """
        from gitcfg.history.log import Logs, Subject, answered

        logs = Logs(self.repository, revision, self.cache)
        return answered(logs, name, param, Subject(kind) if kind is not None else None, limit)

    def _fleet(self, tree: Tree) -> Fleet:
        return Fleet(tree, self.repository.before(tree), self.today, self.cache)


def open(path: str | os.PathLike[str] = ".", today: date | None = None, user: int | None = None) -> Source:
    """Open the repository that a folder belongs to. Raise GitcfgError if there is none.

    With the id of a `user`, results are saved for that user beside the repository's objects.
    """
    repository = Repository.open(path)
    cache = open_cache(repository, user) if user is not None else None
    return Source(repository, today or date.today(), cache)


def in_memory(files: Mapping[str, str | bytes], today: date | None = None) -> Fleet:
    """Return the fleet of files in a dictionary, path to content."""
    return Fleet(DictTree(files), None, today or date.today(), NoCache())


def _parsers_version() -> str:
    from gitcfg.parsers.verdicts import version

    return version().decode()


def compare(old: Fleet, new: Fleet, names: Iterable[str] | None = None) -> "Comparison":
    """Return the changes from one fleet to another, folded over nodes; `names` restricts it to some nodes."""
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.comparison.files import Side

    if names is None:
        names = _concerned(old, new)
    if names is not None:
        names = tuple(names)
        old, new = (fleet.valued([name for name in names if name in fleet]) for fleet in (old, new))
    return Comparison(Side(old.compiled, old.engine), Side(new.compiled, new.engine), names)


def _concerned(old: Fleet, new: Fleet) -> Iterable[str] | None:
    """Return the nodes that the changes can concern; None means all."""
    from gitcfg.compile.impact import find_changed_nodes

    found = find_changed_nodes(old.version, new.version)
    return None if found is None else sorted(found)
