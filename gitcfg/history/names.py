"""What kind of thing a name is, at a commit or ever before it."""

from collections.abc import Iterator, Mapping, Set
from datetime import date

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster
from gitcfg.git.history import History
from gitcfg.git.tree import Tree
from gitcfg.history.documents import Documents
from gitcfg.history.question import Subject
from gitcfg.history.snapshot import KINDS, name_of
from gitcfg.load.repository import load
from gitcfg.load.root import FILE
from gitcfg.model import GitcfgError, Model, Origin, Rule, Settings

_PLAIN = Settings(Origin(FILE))
_BY_FOLDER = {"features": Subject.FEATURE, "groups": Subject.GROUP, "nodes": Subject.NODE}

Known = Mapping[Subject, Set[str]]
"""Names by kind."""


def known(tree: Tree) -> Known:
    """The names of a tree; none where there is no repository."""
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
    """The parameters that a layer or rule or, where instances complete their names, a node binds."""
    decided = (name for rule in model.rules.values() if rule.over is None for name in rule.domains)
    written = frozenset((*(name for name, _ in model.bindings()), *decided))
    if not any("${" in name for name in written):
        return written
    cells = (kind.stack.cells for kind in Fleet(model, tree, date.min).classes)
    return written.union(*cells)


def ever(history: History, tip: str, name: str) -> tuple[Subject, ...]:
    """The kinds of things that had this name in a commit or in one before it."""
    documents = Documents(history.read)
    files = _files(history, tip)
    found = {kind for path, file in files for kind in _defined(documents, history, path, file, name)}
    return tuple(kind for kind in Subject if kind in found)


def _files(history: History, tip: str) -> Iterator[tuple[str, bytes]]:
    """Every version of every file, once."""
    seen = set()
    for commit in history.walk(tip):
        for parent in history.parents(commit) or (None,):
            root = history.root(parent) if parent else None
            for change in history.trees.changed(root, history.root(commit)):
                if change.new is not None and (change.path, change.new) not in seen:
                    seen.add((change.path, change.new))
                    yield change.path, change.new


def _ruled(rules: tuple[Rule, ...], param: str) -> bool:
    """Does one of some rules bring a parameter?"""
    return any(param in rule.params or (rule.over is None and param in rule.domains) for rule in rules)


def _defined(documents: Documents, history: History, path: str, file: bytes, name: str) -> Iterator[Subject]:
    """What a file says of a name; it is parsed only if it can say anything."""
    folder, _, below = path.partition("/")
    stem, mentioned = name_of(folder, below), name.encode() in history.read(file)
    if stem is None:
        return
    if folder == "parameters" and mentioned and name in documents.parameters(path, file):
        yield Subject.PARAM
    if folder == "rules" and mentioned and _ruled(documents.definition(path, file, _PLAIN) or (), name):
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
