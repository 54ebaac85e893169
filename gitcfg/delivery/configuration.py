"""What a node is handed: its configuration at a commit (`gitcfg.node/1`), the steps to another commit
(`gitcfg.changes/1`), and its secrets.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gitcfg.comparison.change import Delta
from gitcfg.comparison.comparison import Consequences, choose_restarts
from gitcfg.comparison.files import Side
from gitcfg.compile.fleet import FleetNode
from gitcfg.compile.selection import NodeView, select_nodes
from gitcfg.library import Fleet, Node, compare
from gitcfg.model import FileEntry, GitcfgError, Secret, Subsystem
from gitcfg.model.names import shown
from gitcfg.model.text import seconds
from gitcfg.render.files import find_secret_files, find_subsystems, select_params
from gitcfg.render.secrets import reveal_contents

SCHEMA = "gitcfg.node/1"
ACTIVE, RETIRED = "active", "retired"


class Check(msgspec.Struct, frozen=True):
    """A command that must succeed after a change; `timeout` is in seconds."""

    run: tuple[str, ...]
    timeout: float
    retries: int


class NodeSubsystem(msgspec.Struct, frozen=True):
    """A subsystem that runs on the node, with its commands; None: it has none."""

    validate: tuple[str, ...] | None
    reload: tuple[str, ...] | None
    restart: tuple[str, ...] | None
    stop: tuple[str, ...] | None
    check: Check | None
    using: str
    covers: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file. `concerns` says by subsystem what it must do where this file alone is mended.

    Of one that holds secrets `content` shows their names; what is to stand is `sealed` to the node's own key,
    or None for whoever else asks.
    """

    content: str
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str]
    sealed: str | UnsetType | None = UNSET


class Configuration(msgspec.Struct, frozen=True):
    """A node at a commit. Nothing changes on it as long as `digest` is the same: files and subsystems."""

    node: str
    commit: str
    digest: str
    state: str
    features: tuple[str, ...]
    groups: tuple[str, ...]
    params: Mapping[str, Any]
    files: Mapping[str, File]
    subsystems: Mapping[str, NodeSubsystem]
    schema: str = SCHEMA

    @property
    def holding(self) -> tuple[str, ...]:
        """The files that hold secrets."""
        return tuple(path for path, file in self.files.items() if file.sealed is not UNSET)

    def sealing(self, contents: Mapping[str, str]) -> "Configuration":
        """Return the configuration with the sealed contents of such files."""
        sealed = {path: replace(self.files[path], sealed=content) for path, content in contents.items()}
        return replace(self, files={**self.files, **sealed})

    def encoded(self) -> bytes:
        """As JSON, the same bytes for the same commit wherever it is written."""
        return msgspec.json.encode(self, order="sorted")


def find_consequences(fleet: Fleet) -> Consequences:
    """Return what follows from mended files; one for many nodes judges what they have in common once."""
    return Consequences(fleet.compiled, fleet.compiled)


def make_configuration(fleet: Fleet, name: str, known: Consequences | None = None) -> Configuration:
    """Return what a node gets. `known`, of the same fleet, lets 10 ms of 16 be spent once for all nodes.

    GitcfgError: the fleet is of no commit, or knows no such node.
    """
    if fleet.commit is None or name not in fleet:
        raise GitcfgError(f"There is no node {name} at a commit.")
    part = fleet.valued([name])
    node = part[name]
    here = part.compiled[name]
    running = find_subsystems(part.compiled, here)
    return Configuration(
        name,
        fleet.commit,
        node.digest,
        RETIRED if here.definition.retired else ACTIVE,
        node.features,
        node.groups,
        node.params,
        dict(_make_files(part, node, here, known or find_consequences(part))),
        {each: _make_subsystem(found, running) for each, found in running.items()},
    )


def _make_files(fleet: Fleet, node: Node, here: FleetNode, known: Consequences) -> Iterable[tuple[str, File]]:
    side = Side(fleet.compiled, fleet.engine)
    secret = find_secret_files(fleet.compiled, here, fleet.engine)
    for path, file in sorted(node.rendered.items()):
        params = _parameters_of(side, here, here.entries[path])
        due = known.of(here, here, params, (path,))
        concerns = dict.fromkeys(due.reload, "reload") | dict.fromkeys(due.restart, "restart")
        sealed = UNSET if path not in secret else None
        yield path, File(file.content, file.mode, file.owner, file.group, file.digest, concerns, sealed)


def _parameters_of(side: Side, node: FleetNode, entry: FileEntry) -> tuple[str, ...]:
    """Return the parameters that a file is made of, or may be."""
    if entry.format is not None:
        return tuple(sorted(select_params(side.fleet, entry, node.params)))
    analysis = side.analysis(entry)
    if analysis is None:
        return ()
    if analysis.everything or analysis.computed:
        return tuple(sorted(node.params))
    return tuple(sorted({name for name, _ in analysis.params}))


def _make_subsystem(subsystem: Subsystem, running: Iterable[str]) -> NodeSubsystem:
    """Return a subsystem's commands; `covers` as the names of those that run on the node."""
    check = subsystem.check
    covers = [ref.name for ref in subsystem.covers]
    return NodeSubsystem(
        subsystem.validate or None,
        subsystem.reload or None,
        subsystem.restart or None,
        subsystem.stop or None,
        Check(check.run, seconds(check.timeout) or 60.0, check.retries) if check else None,
        subsystem.using,
        tuple(each for each in running if each != subsystem.name and ("*" in covers or each in covers)),
    )


STEPS_SCHEMA = "gitcfg.changes/1"


class NodeChange(msgspec.Struct, frozen=True, rename={"before": "from", "after": "to"}):
    """Subsystems to restart, reload and stop, and what changes; `before` is None where nothing was."""

    node: str
    before: str | None
    after: str
    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    params: Mapping[str, Delta] = {}
    schema: str = STEPS_SCHEMA

    def encoded(self) -> bytes:
        """As JSON, the same bytes wherever it is written."""
        return msgspec.json.encode(self, order="sorted")


def find_node_change(old: Fleet | None, new: Fleet, name: str) -> NodeChange:
    """Return what must happen on a node; one that had nothing before starts everything that runs on it."""
    after = new.commit or ""
    if old is None or name not in old:
        part = new.valued([name])
        node = part.compiled[name]
        here = find_subsystems(part.compiled, node)
        restart, restarted = choose_restarts((each for each, one in here.items() if one.restart), here)
        reload = tuple(each for each, one in here.items() if one.reload and each not in restarted)
        return NodeChange(name, None, after, restart, reload, files=tuple(sorted(node.entries)))
    changes = compare(old, new, [name]).changes
    if not changes:
        return NodeChange(name, old.commit, after)
    found = changes[0]
    return NodeChange(
        name, old.commit, after, found.restart, found.reload, found.stop, found.files, found.params
    )


# The true contents of a node's files with secrets, where the node may have them.


def reveal_files(fleet: Fleet, name: str, opened: Callable[[str], str]) -> Mapping[str, str]:
    """Return contents by path; none if the node has no secrets. `opened` returns the value of a secret.

    GitcfgError: the node may not have one, one cannot be opened, or one fits nowhere; it never says a value.
    """
    node = fleet.compiled[name]
    names = sorted(set(node.secrets.values()))
    for secret in find_withheld(fleet, name, names):
        raise GitcfgError(
            f"The secret {shown(secret)} is not for {name}.",
            "Change `for` in its file to allow more nodes.",
        )
    values = {one: opened(one) for one in names}
    return reveal_contents(fleet.compiled, node, fleet.engine, values) if names else {}


def find_withheld(fleet: Fleet, name: str, secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets that a node may not have: the fleet does not know them, or the node."""
    if name not in fleet:
        return tuple(secrets)
    node, known = fleet.compiled[name], fleet.model.secrets
    return tuple(one for one in secrets if one not in known or not _is_for(known[one], node))


def _is_for(secret: Secret, node: FleetNode) -> bool:
    """A condition that cannot be judged lets no node have it."""
    if secret.where is None:
        return False
    view = NodeView(node.name, node.definition, lambda: node.features, lambda: node.params)
    return node.name in select_nodes(secret.where.name, lambda: [view], params=True).names
