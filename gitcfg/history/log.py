"""`gitcfg log`: the commits that changed a node, parameter, feature or group."""

from collections.abc import Generator, Iterator, Mapping, Set
from contextlib import closing
from datetime import date
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

import gitcfg.progress as progress
from gitcfg.cache import Cache
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster
from gitcfg.git.history import Commit, History
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.history.effect import Effect, Step
from gitcfg.history.snapshot import KINDS, Documents, Snapshot, name_of, update_snapshot
from gitcfg.load.repository import FILE, load
from gitcfg.model import GitcfgError, Model, Origin, Settings
from gitcfg.model.names import did_you_mean, find_host, shown
from gitcfg.model.text import ABBREVIATED

if TYPE_CHECKING:
    from gitcfg.history.snapshot import Key


class Subject(StrEnum):
    """The kinds of things that have a log."""

    NODE = "node"
    PARAM = "param"
    FEATURE = "feature"
    GROUP = "group"

    @property
    def noun(self) -> str:
        """The kind in words."""
        return "parameter" if self is Subject.PARAM else self.value


class Question(msgspec.Struct, frozen=True):
    """A thing by its kind and name; for a node only one parameter, if `param` is given."""

    kind: Subject
    name: str
    param: str | None = None


class Result(Protocol):
    """The result of a thing at commits; a state has all information about it at one of them."""

    def follow(self, older: Any, snapshot: "Snapshot", keys: "frozenset[Key]") -> Any:
        """Return the state at a neighbour of an older state's commit; `keys` are what differs.

        None: there is no older state.
        """
        ...

    def effect(self, old: Any, new: Any) -> "Effect | None":
        """Return what differs between the results of two states; `old` None: there is no older state."""
        ...

    def close(self) -> None:
        """Release resources."""
        ...


def result(history: "History", question: Question) -> Result:
    """Return the object that answers a question at commits."""
    from gitcfg.history.results import LayerResult, NodeResult, NodeValue, ParamResult

    if question.kind is Subject.PARAM:
        return ParamResult(history, question.name)
    if question.kind is not Subject.NODE:
        return LayerResult(history, question.kind, question.name)
    if question.param is not None:
        return NodeValue(history, question.name, question.param)
    return NodeResult(history, question.name)


# The log of a thing: the commits that changed its result, computed or cached.


class Entry(msgspec.Struct, frozen=True):
    """A commit that changed the result, and what it changed compared to its first parent."""

    commit: Commit
    effect: Effect


class Log(msgspec.Struct, frozen=True):
    """The answer to a question from a commit: entries, newest first."""

    tip: str
    question: Question
    entries: tuple[Entry, ...]


class _Answer(msgspec.Struct, frozen=True):
    """The cached answer to a question: the steps of a commit and all its ancestors."""

    tip: str
    steps: tuple[Step, ...]


class _Kinds(msgspec.Struct, frozen=True):
    """The cached answer for a name: the kinds of things with that name."""

    tip: str
    kinds: tuple[Subject, ...]


class Logs:
    """Logs of things in a repository from a commit on; results are cached.

    Raise GitcfgError if there is no such revision.
    """

    def __init__(self, repository: Repository, revision: str = "HEAD", cache: Cache | None = None) -> None:
        if revision == "HEAD" and repository.git is not None and not repository.knows(revision):
            raise GitcfgError("There is no commit yet, so there is no history.", "Commit your files first.")
        self.repository = repository
        self.tip = repository.at(revision).commit or ""
        self._history = History(repository)
        # Where a clone is cut off, things seem to begin; this must not be cached.
        self._cache = None if self._history.shallow else cache

    def log(self, question: Question, limit: int | None = None) -> Log:
        """Return the commits whose result differs from the results of all their parents, newest first.

        The very first commit is one of them if it has the thing. `limit` is the maximum number.
        """
        steps = self._steps(question, limit)
        return Log(self.tip, question, tuple(Entry(self._history.about(s.commit), s.effect) for s in steps))

    def kinds(self, name: str) -> tuple[Subject, ...]:
        """Return the kinds of things with a name, or else of those that ever had it."""
        key = self._key("kinds", name)
        cached = self._cache.get(key, _Kinds) if self._cache else None
        if cached is not None and cached.tip == self.tip:
            return cached.kinds
        now = known(self.repository.at(self.tip))
        kinds = tuple(kind for kind in Subject if name in now[kind]) or ever(self._history, self.tip, name)
        if self._cache and kinds:
            self._cache.put(key, _Kinds(self.tip, kinds))
        return kinds

    def _steps(self, question: Question, limit: int | None) -> tuple[Step, ...]:
        key = self._key(*msgspec.structs.astuple(question))
        cached = self._cache.get(key, _Answer) if self._cache else None
        if cached is not None and cached.tip == self.tip:
            return cached.steps[:limit]
        base = cached if cached is not None and self._history.has(cached.tip) else None
        with closing(steps(self._history, question, self.tip, base.tip if base else None)) as fresh:
            if limit is not None and base is None:
                return tuple(islice(fresh, limit))
            found = {step.commit: step for step in (*fresh, *(base.steps if base else ()))}
        answer = tuple(found[commit] for commit in self._history.walk(self.tip) if commit in found)
        if self._cache and not (base and self._history.includes(base.tip, self.tip)):
            self._cache.put(key, _Answer(self.tip, answer))
        return answer[:limit]

    def _key(self, *words: str | None) -> str:
        return msgspec.json.encode((self.repository.prefix, *words)).decode()


# The commits that changed a result: each compared with all of its parents.


class State(msgspec.Struct, frozen=True):
    """A commit's tree, its files, and the state of the result there."""

    tree: bytes | None
    snapshot: Snapshot
    known: Any


Steps = Generator[Step, None, None]
"""Close it if you do not exhaust it."""


def steps(history: History, question: Question, tip: str, known: str | None = None) -> Steps:
    """Return the commits whose result differs from those of all their parents, newest first.

    The very first commit changed the result if it has the thing. Leave out `known` and its ancestors.
    """
    with closing(result(history, question)) as answers:
        walk = Walk(history, answers)
        for commit in history.walk(tip, known):
            progress.note("comparing the commit", commit[:ABBREVIATED])
            effect = walk.visit(commit)
            if effect is not None:
                yield Step(commit, effect)


class Walk:
    """Goes from commits to their parents; states are kept only until their commit has been visited."""

    def __init__(self, history: History, answers: Result) -> None:
        self._history = history
        self._answers = answers
        self._states: dict[str, State] = {}

    def visit(self, commit: str) -> Effect | None:
        """Return what a commit changed, compared to its first parent; None if it changed nothing."""
        state = self._states.pop(commit, None) or self._at(commit, None)
        parents: list[State | None] = [self._parent(each, state) for each in self._history.parents(commit)]
        effects = [self._effect(parent, state) for parent in parents or [None]]
        return effects[0] if all(effect is not None for effect in effects) else None

    def _parent(self, commit: str, child: State) -> State:
        if commit not in self._states:
            self._states[commit] = self._at(commit, child)
        return self._states[commit]

    def _at(self, commit: str, neighbour: State | None) -> State:
        tree = self._history.root(commit)
        if neighbour is not None and neighbour.tree == tree:
            return neighbour
        before = neighbour or State(None, Snapshot(), None)
        changes = self._history.trees.changed(before.tree, tree)
        snapshot, keys = update_snapshot(before.snapshot, changes)
        if neighbour is not None and not keys and snapshot.settings == before.snapshot.settings:
            return State(tree, snapshot, before.known)
        return State(tree, snapshot, self._answers.follow(before.known, snapshot, keys))

    def _effect(self, old: State | None, new: State) -> Effect | None:
        if old is not None and old.known is new.known:
            return None
        return self._answers.effect(old.known if old else None, new.known)


# The question of a log in words: what it means, or why it means nothing.


def answered(
    logs: Logs, name: str, param: str | None = None, kind: Subject | None = None, limit: int | None = None
) -> Log:
    """Return the log of the thing with a name, or of one parameter on a node.

    Raise GitcfgError if nothing ever had that name, or things of several kinds have it.
    """
    if param is not None and kind not in (None, Subject.NODE):
        raise GitcfgError("Only a parameter of a node has its own log.", "Give a node, then the parameter.")
    if kind in (None, Subject.NODE) and not logs.kinds(name):
        name = find_host(name, known(logs.repository.at(logs.tip))[Subject.NODE]) or name
    subject = Subject.NODE if param is not None else kind or _kind(logs, name)
    log = logs.log(Question(subject, name, param), limit)
    if not log.entries:
        # Without entries such a thing never existed, except a parameter that was never bound on a node.
        if subject not in logs.kinds(name):
            raise _unknown(logs, name, (subject,))
        if param is not None and Subject.PARAM not in logs.kinds(param):
            raise _unknown(logs, param, (Subject.PARAM,))
    return log


def _kind(logs: Logs, name: str) -> Subject:
    kinds = logs.kinds(name)
    if not kinds:
        raise _unknown(logs, name, tuple(Subject))
    if len(kinds) == 1:
        return kinds[0]
    *most, last = (f"a {kind.noun}" for kind in kinds)
    which = " or ".join(f"--kind {kind}" for kind in kinds)
    raise GitcfgError(f"{shown(name)} is {', '.join(most)} and {last}.", f"Choose one: {which}.")


def _unknown(logs: Logs, name: str, kinds: tuple[Subject, ...]) -> GitcfgError:
    names = known(logs.repository.at(logs.tip))
    *most, last = (kind.noun for kind in kinds)
    nouns = f"{', '.join(most)} or {last}" if most else last
    hint = did_you_mean(name, sorted(one for kind in kinds for one in names[kind]))
    return GitcfgError(f"No {nouns} {shown(name)} ever existed.", hint)


# The JSON of `log` (interfaces: JSON).

Record = dict[str, Any]

_OF_A_LAYER = ("params", "files", "features", "nodes")
_PARTS = {
    Subject.NODE: ("params", "files", "features", "groups"),
    Subject.PARAM: ("values", "declaration"),
    Subject.FEATURE: _OF_A_LAYER,
    Subject.GROUP: _OF_A_LAYER,
}


def log_record(log: Log) -> Record:
    """Return `gitcfg.log/1`: every commit with what it changed, with all fields of that kind of thing."""
    question = log.question
    return {
        "schema": "gitcfg.log/1",
        "tip": log.tip,
        "kind": question.kind.value,
        "name": question.name,
        "param": question.param,
        "commits": [{**_commit(entry.commit), **_effect(question, entry.effect)} for entry in log.entries],
    }


def _commit(commit: Commit) -> Record:
    """Return a commit.

    It has `shallow` only where a clone ends: the real author and date are then unknown.
    """
    record: Record = msgspec.to_builtins(commit)
    if not commit.shallow:
        del record["shallow"]
    return record


def _effect(question: Question, effect: Effect) -> Record:
    record = msgspec.to_builtins(effect)
    record["nodes"] = {"added": record["added"], "removed": record["removed"]}
    parts = ("params",) if question.param is not None else _PARTS[question.kind]
    return {"change": record["kind"], **{part: record[part] for part in parts}}


# The kinds of things with a name, at a commit or at any before it.

_PLAIN = Settings(Origin(FILE))
_BY_FOLDER = {"features": Subject.FEATURE, "groups": Subject.GROUP, "nodes": Subject.NODE}

Known = Mapping[Subject, Set[str]]
"""Names by kind."""


def known(tree: Tree) -> Known:
    """Return the names of a tree; none if there is no repository."""
    try:
        model = load(tree)
    except GitcfgError:
        return {kind: frozenset() for kind in Subject}
    return {
        Subject.NODE: frozenset(Roster(model).names()),
        Subject.PARAM: frozenset(model.parameters) | _bound(model, tree),
        Subject.FEATURE: model.features.keys(),
        Subject.GROUP: model.groups.keys(),
    }


def _bound(model: Model, tree: Tree) -> frozenset[str]:
    """Return the parameters that a layer or rule binds, and those of nodes if instances complete names."""
    of_rules = (name for rule in model.rules.values() if rule.over is None for name in rule.domains)
    names = frozenset((*(name for name, _ in model.bindings()), *of_rules))
    if not any("${" in name for name in names):
        return names
    return names.union(*(each.stack.cells for each in Fleet(model, tree, date.min).classes))


def ever(history: History, tip: str, name: str) -> tuple[Subject, ...]:
    """Return the kinds of things that had this name in a commit or in one before it."""
    documents = Documents(history.read)
    files = _files(history, tip)
    found = {kind for path, file in files for kind in _defined(documents, history, path, file, name)}
    return tuple(kind for kind in Subject if kind in found)


def _files(history: History, tip: str) -> Iterator[tuple[str, bytes]]:
    """Yield every version of every file, once."""
    seen = set()
    for commit in history.walk(tip):
        progress.note("searching the commit", commit[:ABBREVIATED])
        for parent in history.parents(commit) or (None,):
            root = history.root(parent) if parent else None
            for change in history.trees.changed(root, history.root(commit)):
                if change.new is not None and (change.path, change.new) not in seen:
                    seen.add((change.path, change.new))
                    yield change.path, change.new


def _defined(documents: Documents, history: History, path: str, file: bytes, name: str) -> Iterator[Subject]:
    """Yield the kinds of things that a file defines under a name; it is parsed only if it may define any."""
    folder, _, below = path.partition("/")
    stem, mentioned = name_of(folder, below), name.encode() in history.read(file)
    if stem is None:
        return
    if folder == "parameters" and mentioned and name in documents.parameters(path, file):
        yield Subject.PARAM
    if folder == "rules" and mentioned:
        rules = documents.definition(path, file, _PLAIN) or ()
        if any(name in rule.params or (rule.over is None and name in rule.domains) for rule in rules):
            yield Subject.PARAM
    if folder not in KINDS or not (stem == name or mentioned or folder == "nodesets"):
        return
    definition = documents.definition(path, file, _PLAIN)
    if definition is None:
        return
    if stem == name and folder in _BY_FOLDER:
        yield _BY_FOLDER[folder]
    if folder == "nodesets" and name in definition.members:
        yield Subject.NODE
    if mentioned and name in getattr(definition, "definition", definition).params:
        yield Subject.PARAM
