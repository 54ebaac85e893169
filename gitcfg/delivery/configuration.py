"""A node's configuration at a commit (`gitcfg.node/1`), the steps to another one, and the node's secrets.

The steps are `gitcfg.changes/1`.
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
    """A subsystem that runs on the node, with its commands; None: it has none of that kind."""

    validate: tuple[str, ...] | None
    reload: tuple[str, ...] | None
    restart: tuple[str, ...] | None
    stop: tuple[str, ...] | None
    check: Check | None
    using: str
    covers: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file. `concerns` has what each subsystem must do if only this file is repaired.

    In a file with secrets, `content` shows their names; `sealed` is the real content, encrypted for the
    node's own key, or None for any other reader.
    """

    content: str
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str]
    sealed: str | UnsetType | None = UNSET


class Configuration(msgspec.Struct, frozen=True):
    """A node at a commit. While `digest` is the same, neither files nor subsystems change."""

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
        """The paths of files with secrets."""
        return tuple(path for path, file in self.files.items() if file.sealed is not UNSET)

    def sealing(self, contents: Mapping[str, str]) -> "Configuration":
        """Return the configuration with the encrypted contents of such files."""
        sealed = {path: replace(self.files[path], sealed=content) for path, content in contents.items()}
        return replace(self, files={**self.files, **sealed})

    def encoded(self) -> bytes:
        """Return the JSON: the same bytes for the same commit on any machine."""
        return msgspec.json.encode(self, order="sorted")


def find_consequences(fleet: Fleet) -> Consequences:
    """Return what follows from repaired files.

    For many nodes, use the same result: it computes shared parts once.
    """
    return Consequences(fleet.compiled, fleet.compiled)


def make_configuration(fleet: Fleet, name: str, known: Consequences | None = None) -> Configuration:
    """Return the configuration of a node.

    `known`, of the same fleet, saves 10 ms of 16 for each further node. Raise GitcfgError if the fleet has no
    commit, or no such node.
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
    """Return the parameters that a file is made of, or may be made of."""
    if entry.format is not None:
        return tuple(sorted(select_params(side.fleet, entry, node.params)))
    analysis = side.analysis(entry)
    if analysis is None:
        return ()
    if analysis.everything or analysis.computed:
        return tuple(sorted(node.params))
    return tuple(sorted({name for name, _ in analysis.params}))


def _make_subsystem(subsystem: Subsystem, running: Iterable[str]) -> NodeSubsystem:
    """Return a subsystem's commands, with `covers` as the names of those that run on the node."""
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
    """Subsystems to restart, reload and stop, and the changes; `before` is None if the node had nothing."""

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
        """Return the JSON, the same bytes on any machine."""
        return msgspec.json.encode(self, order="sorted")


def find_node_change(old: Fleet | None, new: Fleet, name: str) -> NodeChange:
    """Return what a node must do; one that had nothing before starts everything that runs on it."""
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


# The real contents of a node's files with secrets, if the node may have them.


def reveal_files(fleet: Fleet, name: str, opened: Callable[[str], str]) -> Mapping[str, str]:
    """Return contents by path; empty if the node has no secrets. `opened` returns the value of a secret.

    Raise GitcfgError if the node may not have a secret, or if one cannot be decrypted or has an unsuitable
    value; the error never has the value.
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
    """Return those of some secrets that a node may not have, or that the fleet does not have."""
    if name not in fleet:
        return tuple(secrets)
    node, known = fleet.compiled[name], fleet.model.secrets
    return tuple(one for one in secrets if one not in known or not _is_for(known[one], node))


def _is_for(secret: Secret, node: FleetNode) -> bool:
    """Return whether a node may have a secret; not if the condition cannot be evaluated."""
    if secret.where is None:
        return False
    view = NodeView(node.name, node.definition, lambda: node.features, lambda: node.params)
    return node.name in select_nodes(secret.where.name, lambda: [view], params=True).names
