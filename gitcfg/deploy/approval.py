"""What a deploy may touch: reviewed commits, nodes without a hold or an agent, secrets as reviewed."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from gitcfg.check.secrets import path_of
from gitcfg.delivery.configuration import find_withheld
from gitcfg.gate.policy import load_administrator, load_policy
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Config, Repository
from gitcfg.git.tree import Tree
from gitcfg.library import Fleet
from gitcfg.load.repository import FILE
from gitcfg.model import Hold, Secret
from gitcfg.model.text import ABBREVIATED, safe

AGENT = "An agent manages this node and would revert the deploy."
AGENT_HINT = (
    "To keep it at a commit for some time, add a hold with `gitcfg hold add NEW NODES --commit-id REV"
    " --until YYYY-MM-DD --reason TEXT`. After its review, you can deploy that commit."
)
_HEADS, _REMOTE = "refs/heads/", "refs/remotes/"
_END_HOLD = "Deploy the commit of the hold, or end the hold with `gitcfg hold lift {}`."


class Branch(msgspec.Struct, frozen=True):
    """A protected branch, by its full name, and its commit."""

    ref: str
    commit: str

    @property
    def name(self) -> str:
        """The short name: `main`, `origin/main`."""
        return self.ref.removeprefix(_HEADS).removeprefix(_REMOTE)


def find_fetch_time(repository: Repository, branch: Branch) -> float | None:
    """Return when a branch of a remote was last fetched or pushed, in seconds since the epoch.

    Return None for a branch of this repository, or if it is unknown. In a new clone, it is the time of the
    clone.
    """
    if repository.git is None or repository.shared is None or not branch.ref.startswith(_REMOTE):
        return None
    own, shared = Path(repository.git.path), repository.shared
    places = (own / "FETCH_HEAD", shared / "FETCH_HEAD", shared / branch.ref)
    times = [place.stat().st_mtime for place in places if place.is_file()]
    packed = shared / "packed-refs"
    return max(times) if times else packed.stat().st_mtime if packed.is_file() else None


class ReviewedBranches:
    """The protected branches. If one has an upstream, that is used: unpushed commits are not reviewed."""

    def __init__(self, repository: Repository) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._refs = Refs(repository)
        self._config = Config(repository)
        found = dict.fromkeys(self._find_branches(_load_protection(repository, self._refs)))
        tips = ((ref, self._refs.tip(ref)) for ref in found)
        self.branches = tuple(Branch(ref, tip) for ref, tip in tips if tip is not None)

    @property
    def default(self) -> Branch | None:
        """The branch to deploy by default: HEAD's branch if it is protected, else the first protected one."""
        return next(iter(self.branches), None)

    def has(self, commit: str) -> bool:
        """Return whether one of the branches contains a commit."""
        return any(self._refs.includes(branch.commit, commit) for branch in self.branches)

    def _find_branches(self, protects: Callable[[str], bool]) -> Iterator[str]:
        names = self._refs.names()
        heads = [name for name in names if name.startswith(_HEADS) and protects(name)]
        for name in sorted(heads, key=lambda name: name != self._refs.head):
            yield self._upstream(name) or name
        for name in names:
            branch = name.removeprefix(f"{_REMOTE}origin/")
            if branch != name and _HEADS + branch not in names and protects(_HEADS + branch):
                yield name

    def _upstream(self, name: str) -> str | None:
        """Return the upstream of a local branch, as last fetched."""
        branch = name.removeprefix(_HEADS)
        remote = self._config.last(f"branch.{branch}.remote") or "origin"
        merged = self._config.last(f"branch.{branch}.merge") or name
        if remote == ".":
            return merged if self._refs.tip(merged) is not None else None
        found = f"{_REMOTE}{remote}/{merged.removeprefix(_HEADS)}"
        return found if self._refs.tip(found) is not None else None


def _load_protection(repository: Repository, refs: Refs) -> Callable[[str], bool]:
    tip = refs.tip(refs.head)
    tree = repository.at(tip) if tip is not None else None
    ruling = tree if tree is not None and tree.entry(FILE) is not None else None
    head = refs.head if ruling is None else None
    return load_policy(ruling, head, load_administrator(Config(repository))).protects


class SkipReason(msgspec.Struct, frozen=True):
    """Why a node is skipped."""

    message: str
    hint: str = ""


class NodeChoice(msgspec.Struct, frozen=True):
    """The nodes of a deploy: those to touch, and those to skip.

    `held` are nodes that a hold keeps at this very commit: it may be deployed there even if an agent is
    present.
    """

    nodes: tuple[str, ...]
    spared: Mapping[str, SkipReason]
    held: frozenset[str]


def choose_nodes(
    names: Iterable[str],
    commit: str,
    held: Mapping[str, Hold],
    resolved: Callable[[str], str | None],
    agents: Collection[str],
) -> NodeChoice:
    """Choose the nodes to touch; `resolved` returns a hold's commit, `agents` are nodes that have one."""
    nodes: list[str] = []
    spared: dict[str, SkipReason] = {}
    for name in names:
        hold = held.get(name)
        if hold is not None and resolved(hold.commit.name) != commit:
            spared[name] = _explain_hold(hold)
        elif hold is None and name in agents:
            spared[name] = SkipReason(AGENT, AGENT_HINT)
        else:
            nodes.append(name)
    return NodeChoice(tuple(nodes), spared, frozenset(name for name in nodes if name in held))


def _explain_hold(hold: Hold) -> SkipReason:
    at = safe(hold.commit.name[:ABBREVIATED])
    message = f"The hold {hold.name} keeps it at {at} until {hold.until}: {safe(hold.reason)}"
    return SkipReason(message.rstrip(".") + ".", _END_HOLD.format(hold.name))


Grants = Mapping[str, tuple[str, ...]]
"""Names of secrets by node, or of nodes by secret, with at least one for each."""


def find_secrets(fleet: Fleet, names: Collection[str]) -> Grants:
    """Return the secrets of nodes, by node, without the nodes that get none."""
    if not fleet.model.secrets:
        return {}
    part = fleet.valued(names)
    found = ((name, part.compiled[name].secrets) for name in names)
    return {name: tuple(sorted(set(secrets.values()))) for name, secrets in found if secrets}


def group_nodes(part: Fleet, grants: Grants) -> tuple[tuple[str, ...], ...]:
    """Group nodes that have the same secrets in the same files.

    Nodes of a group pass or fail the check of a content together, except for templates that read a node's own
    values. The check of all 10,000 nodes took 46 s of CPU time, and that of one node per group 1 s.
    """
    _ = part.compiled.classes
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for name in grants:
        node = part.compiled[name]
        groups[frozenset(node.secrets.items()), frozenset(node.entries.items())].append(name)
    return tuple(map(tuple, groups.values()))


def find_refused(grants: Grants, reviewed: Fleet | None) -> Grants:
    """Return the secrets, by node, that another fleet does not grant; None grants nothing."""
    if reviewed is None:
        return grants
    part = reviewed.valued([name for name in grants if name in reviewed])
    withheld = ((name, find_withheld(part, name, secrets)) for name, secrets in grants.items())
    return {name: secrets for name, secrets in withheld if secrets}


def find_replaced(grants: Grants, fleet: Fleet, reviewed: Fleet | None) -> Grants:
    """Return the nodes, by secret, that get another encrypted file than in another fleet.

    Only secrets that both fleets have are compared.
    """
    if reviewed is None:
        return {}
    new, old = fleet.model.secrets, reviewed.model.secrets
    return {
        name: nodes
        for name, nodes in group_by_secret(grants).items()
        if name in new and name in old and _blob(reviewed.tree, old[name]) != _blob(fleet.tree, new[name])
    }


def group_by_secret(grants: Grants) -> Grants:
    """Return nodes by secret, both in order of name."""
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for node in sorted(grants):
        for secret in grants[node]:
            nodes[secret].append(node)
    return {secret: tuple(nodes[secret]) for secret in sorted(nodes)}


def _blob(tree: Tree, secret: Secret) -> str | None:
    entry = tree.entry(path_of(secret))
    return entry.id if entry is not None else None
