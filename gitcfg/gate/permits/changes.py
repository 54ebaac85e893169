"""The things that changes touch, as rules can name them, and the commits that changes are charged to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import NamedTuple

import msgspec

import gitcfg.progress as progress
from gitcfg.gate.permits.rules import Thing, find_refusing, find_rules
from gitcfg.gate.permits.statements import (
    Key,
    Statement,
    Version,
    find_moved,
    is_readable,
    node_things,
    read_statements,
)
from gitcfg.git.history import History
from gitcfg.git.objects import missing_object
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signed
from gitcfg.git.tree import DictTree, Entry, Tree, changed_paths
from gitcfg.model import Origin, Rule
from gitcfg.model.names import FOLDERS, SETTINGS, SHEETS, SIGNERS, TEXTS

# Touches, from excerpts of what differs between two trees.

NOTHING: Tree = DictTree({})
"""The tree before a first commit."""
_NONE = Statement("", Origin(""), ())
_SHARED = (*SHEETS, "keys")
"""Folders with many definitions per file: the file of a definition has no meaning there."""


class Place(NamedTuple):
    """Files that can have the same definition; without a name: all of a folder."""

    folder: str
    name: str = ""


class PartialTree:
    """A tree with only some of its files, which lists only some folders if these are given."""

    def __init__(self, tree: Tree, shows: Callable[[str], bool], folders: Set[str] | None = None) -> None:
        self.commit = tree.commit
        self._tree = tree
        self._shows = shows
        self._folders = folders

    def entries(self, folder: str) -> Iterator[Entry]:
        if self._folders is not None and folder not in self._folders:
            return iter(())  # not to be listed: there are thousands of nodes
        return (entry for entry in self._tree.entries(folder) if self._shows(entry.path))

    def entry(self, path: str) -> Entry | None:
        return self._tree.entry(path) if self._shows(path) else None

    def read(self, entry: Entry) -> bytes:
        return self._tree.read(entry)


def find_differing(old: Tree, new: Tree) -> tuple[Tree, Tree]:
    """Return the files of both sides that differ, with all that could define the same names."""
    places = {place_of(path) for path in changed_paths(old, new, (SETTINGS, SIGNERS, *FOLDERS))}
    folders = {place.folder for place in places}

    def shows(path: str) -> bool:
        return path == SETTINGS or place_of(path) in places

    return PartialTree(old, shows, folders), PartialTree(new, shows, folders)


def place_of(path: str) -> Place:
    """Return the place of a file, as far as names matter."""
    folder, _, rest = path.partition("/")
    if folder in _SHARED:
        return Place(folder)
    return Place(folder, rest if folder in TEXTS else rest.rpartition("/")[2].rpartition(".")[0])


class Touch(NamedTuple):
    """A piece that differs: what it is about, in parts that pieces share, and where it is.

    `nodes` are members that were added or removed; `itself`: more differs than these. `now` is the piece in
    the new version; None: it was removed.
    """

    about: tuple[tuple[Thing, ...], ...]
    nodes: frozenset[str]
    itself: bool
    origin: Origin
    now: Statement | None

    def things(self) -> Iterator[Thing]:
        """Yield each thing, perhaps more than once."""
        return chain(chain.from_iterable(self.about), node_things(self.nodes))


Touches = Mapping[Key, Touch]
"""The touches by piece. Origins are in the new version; those of removed pieces are in the old one."""


def find_touched(old: Tree | None, new: Tree) -> Touches:
    """Return what differs between two versions, except comments, order of keys, and files of definitions."""
    before = old if old is not None else NOTHING
    # If one version cannot be read, all pieces of the other were added or removed.
    ends = find_differing(before, new) if is_readable(before) and is_readable(new) else (before, new)
    were, are = (read_statements(end, Version(tree)) for end, tree in zip(ends, (before, new), strict=True))
    return dict(_find_touches(were, are))


def is_same(one: Statement | None, other: Statement | None) -> bool:
    """Return whether two versions of a piece mean the same, without regard to their members."""
    if one is None or other is None:
        return one is other
    return one.text == other.text and not find_moved(one.items, other.items)


def _find_touches(were: Mapping[Key, Statement], are: Mapping[Key, Statement]) -> Iterator[tuple[Key, Touch]]:
    for key in dict.fromkeys((*were, *are)):
        old, new = were.get(key) or _NONE, are.get(key) or _NONE
        moved, nodes = find_moved(old.items, new.items), old.members ^ new.members
        itself = key not in were or key not in are or old.text != new.text or bool(moved)
        if itself or nodes:
            about = (old.about, old.besides(), new.about, new.besides(), moved)
            if nodes or any(about):
                now = are.get(key) or are.get(key[:2])  # if it was removed, its definition
                origin = now.origin if now is not None else Origin(old.origin.file)
                yield key, Touch(about, nodes, itself, origin, are.get(key))


# Charges: what a commit changes, and of a merge only the changes that no parent vouches for.
#
# A merge that differs from one of its parents may have the change from another one. That parent vouches for
# it if, in its own history since the two diverged, a commit that is allowed itself has made the change. What
# a parent only kept does not count: otherwise a merge that keeps the old version could revert a change that
# its author may not make.

_DEEPEST = 50
"""The maximum depth of merges whose charges depend on each other; beyond it a merge vouches for nothing."""
_KEPT, _SMALL = 1024, 100
"""The number of cached changes, and the maximum number of pieces of each."""


class _TooDeep(Exception):
    """Too many merges depend on each other."""


class Charge(msgspec.Struct, frozen=True):
    """A piece that a commit is charged with; `parent`: the parent of a merge that differs in it."""

    touch: Touch
    parent: str = ""


Charges = Mapping[Key, Charge]


class ChargeFinder:
    """Find what commits are charged with, as far as any rule names it.

    `judged` are the commits that a push adds: all others were accepted, no matter who made them. `signed`
    returns who signed a commit; it is called only for commits that might vouch for something.
    """

    def __init__(
        self,
        rules: tuple[Rule, ...],
        repository: Repository,
        judged: Set[str],
        signed: Callable[[str], Signed],
    ) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._rules = rules
        self._repository = repository
        self._history = History(repository)
        self._refs = Refs(repository)
        self._judged = judged
        self._signed = signed
        self._charges: dict[str, Charges] = {}
        self._changes: dict[tuple[str | None, str], Touches] = {}
        self._allowed: dict[str, bool] = {}
        self._depth = 0

    def charges_of(self, commit: str) -> Charges:
        """Return what a commit is charged with."""
        if commit not in self._charges:
            progress.note("checking who may make the changes of", commit)
            self._charges[commit] = self._find_charges(self._history.parents(commit), commit)
        return self._charges[commit]

    def charges_of_rewind(self, old: str, new: str) -> Charges:
        """Return what is charged for moving a branch to a commit that is not a descendant.

        The move counts as a merge of the two commits that takes everything from the new one.
        """
        charges = self._find_charges((old, new), new)
        return {key: Charge(charge.touch) for key, charge in charges.items()}

    def _find_charges(self, parents: tuple[str, ...], commit: str) -> Charges:
        if len(parents) < 2:
            change = self._change(parents[0] if parents else None, commit)
            return {key: Charge(touch) for key, touch in self._ruled(change).items()}
        changes = {parent: self._change(parent, commit) for parent in parents}
        found: dict[Key, Charge] = {}
        for parent, change in changes.items():
            others = {other: theirs for other, theirs in changes.items() if other != parent}
            for key, touch in self._unvouched(parent, self._ruled(change), others).items():
                before = found.get(key)
                found[key] = Charge(touch, parent) if before is None else _join_charges(before, touch)
        return found

    def _unvouched(self, parent: str, change: Touches, others: Mapping[str, Touches]) -> Touches:
        """Return the part of a merge's difference from a parent that no other parent vouches for."""
        left = dict(change)
        agreed = (
            _find_agreed(touch, theirs.get(key)) for key, touch in left.items() for theirs in others.values()
        )
        if not any(agreed):
            return left
        for commit in self._list_own_commits(parent, others):
            for key, setting in self._find_settings(commit, left.keys()):
                for other, theirs in others.items():
                    if key in left and (len(others) == 1 or self._refs.includes(other, commit)):
                        left[key] = self._remove_vouched(left[key], theirs.get(key), commit, setting)
                        if _is_empty(left[key]):
                            del left[key]
            if not left:
                break
        return left

    def _list_own_commits(self, parent: str, others: Iterable[str]) -> Iterator[str]:
        """Yield the commits that others have and a parent lacks, newest first, then merges.

        Merges come last because they rarely change anything themselves; those that others depend on come
        first.
        """
        commits = self._refs.between([parent], *others)
        yield from (commit for commit in reversed(commits) if len(self._history.parents(commit)) < 2)
        yield from (commit for commit in commits if len(self._history.parents(commit)) > 1)

    def _find_settings(self, commit: str, keys: Set[Key]) -> Iterator[tuple[Key, Touch]]:
        """Yield which of some pieces a commit has changed itself."""
        parents = self._history.parents(commit)
        if not any(self._may_differ(parent, commit, keys) for parent in parents or (None,)):
            return
        if len(parents) < 2:
            change = self._change(parents[0] if parents else None, commit)
            yield from [(key, change[key]) for key in keys if key in change]
        else:
            charges = self._of_deeper(commit)
            yield from [(key, charges[key].touch) for key in keys if key in charges]

    def _of_deeper(self, commit: str) -> Charges:
        """Return what a merge is charged with while another one is being examined."""
        if commit not in self._charges and self._depth == _DEEPEST:
            raise _TooDeep
        self._depth += 1
        try:
            return self.charges_of(commit)
        except _TooDeep:
            if self._depth > 1:
                raise
            return {}  # it is unknown whether it has changed anything
        finally:
            self._depth -= 1

    def _may_differ(self, parent: str | None, commit: str, keys: Set[Key]) -> bool:
        """Return whether anything differs where pieces can be; this is known without reading files."""
        before = self._history.root(parent) if parent is not None else None
        try:
            for changed in self._history.trees.changed(before, self._history.root(commit)):
                place = place_of(changed.path)
                if changed.path == SETTINGS or any(_may_hold(place, key) for key in keys):
                    return True
        except KeyError as error:
            raise missing_object(str(error).strip("'")) from None
        return False

    def _remove_vouched(self, touch: Touch, theirs: Touch | None, commit: str, setting: Touch) -> Touch:
        """Return a difference without the parts that a parent vouches for.

        The parent differs from the merge by `theirs`. It vouches by one of its commits, which has made the
        change `setting`.
        """
        itself, nodes = _find_agreed(touch, theirs) or (False, frozenset())
        itself = itself and setting.itself and is_same(setting.now, touch.now)
        were, are = (side.now.members if side.now is not None else () for side in (setting, touch))
        nodes = frozenset(name for name in nodes & setting.nodes if (name in were) == (name in are))
        vouched = touch._replace(itself=itself, nodes=nodes)
        if _is_empty(vouched) or not self._may(commit, vouched.things()):
            return touch
        return touch._replace(itself=touch.itself and not itself, nodes=touch.nodes - nodes)

    def _may(self, commit: str, things: Iterable[Thing]) -> bool:
        """Return whether a commit was accepted, or is allowed and its signer may change some things."""
        if commit not in self._judged:
            return True
        if commit not in self._allowed:
            touches = (charge.touch for charge in self.charges_of(commit).values())
            self._allowed[commit] = self._admits(commit, chain.from_iterable(map(Touch.things, touches)))
        return self._allowed[commit] and self._admits(commit, things)

    def _admits(self, commit: str, things: Iterable[Thing]) -> bool:
        ruled = {thing for thing in things if find_rules(self._rules, thing)}
        signers = self._signed(commit).signers if ruled else ()
        return not any(find_refusing(self._rules, signers, thing) for thing in ruled)

    def _change(self, parent: str | None, commit: str) -> Touches:
        ends = (parent, commit)
        if ends in self._changes:
            return self._changes[ends]
        before = self._repository.at(parent) if parent is not None else None
        change = find_touched(before, self._repository.at(commit))
        if len(change) <= _SMALL:
            if len(self._changes) >= _KEPT:
                del self._changes[next(iter(self._changes))]
            self._changes[ends] = change
        return change

    def _ruled(self, change: Touches) -> Touches:
        """Return the pieces of a change about things that rules name."""
        things = {thing for touch in change.values() for thing in touch.things()}
        about = {thing for thing in things if find_rules(self._rules, thing)}
        if not about:
            return {}
        return {key: touch for key, touch in change.items() if not about.isdisjoint(touch.things())}


def _join_charges(charge: Charge, more: Touch) -> Charge:
    """Return the charge of a merge that differs from two parents in a piece."""
    touch = charge.touch
    about, nodes = (*touch.about, *more.about), touch.nodes | more.nodes
    return Charge(touch._replace(about=about, nodes=nodes, itself=touch.itself or more.itself), charge.parent)


def _find_agreed(touch: Touch, theirs: Touch | None) -> tuple[bool, frozenset[str]] | None:
    """Return the part of a difference in which another parent equals the merge; None: there is none.

    The part is the piece itself, and members.
    """
    itself = touch.itself and not (theirs is not None and theirs.itself)
    nodes = touch.nodes - theirs.nodes if theirs is not None else touch.nodes
    return (itself, nodes) if itself or nodes else None


def _is_empty(touch: Touch) -> bool:
    return not (touch.itself or touch.nodes)


def _may_hold(place: Place, key: Key) -> bool:
    """Return whether files can have a piece. A file that cannot be read is matched by its path."""
    return place.folder == key[0] and (place.name in ("", key[1]) or "/" in key[1])
