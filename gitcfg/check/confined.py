"""GC209, GC308: secrets stay on nodes that may have them, in files that nobody else reads. GC102: `for`."""

from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from gitcfg.check.chosen import chosen
from gitcfg.check.conditions import unreadable
from gitcfg.check.fold import of
from gitcfg.check.watch import Tally
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.selection import Selection
from gitcfg.compile.surface import Surface
from gitcfg.model import FileEntry, Finding, Origin, Ref, Secret
from gitcfg.model.names import shown
from gitcfg.render.files import held
from gitcfg.render.templates import TemplateEngine

_OTHERS = 0o077


class Confined:
    """What is wrong with where secrets go."""

    def __init__(self, fleet: Fleet, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._engine = engine
        self._told = Tally()
        self._bound: dict[str, list[NodeClass]] = {}

    def see(self, kind: NodeClass, _: Surface) -> Iterable[Finding]:
        secrets = kind.secrets
        if secrets:
            for name in set(secrets.values()) if kind.names else ():
                self._bound.setdefault(name, []).append(kind)
            self._open(kind)
        return ()

    def end(self) -> Iterator[Finding]:
        yield from self._told.findings()
        unread = self._fleet.model.unread.get("secrets", frozenset())
        alike: dict[str, list[tuple[Secret, Ref]]] = {}  # many secrets are for the same nodes
        for name, secret in self._fleet.model.secrets.items():
            if name not in unread and secret.where is not None:
                alike.setdefault(secret.where.name, []).append((secret, secret.where))
        for secrets in alike.values():
            yield from self._judged(secrets)

    def _open(self, kind: NodeClass) -> None:
        """Note the files of a class that say a mode which lets others read the secrets in them."""
        node = FleetNode(next(iter(kind.names), ""), kind, kind.said)
        for entry in kind.files.values():
            if entry.mode_said and wide(entry.mode):
                for name in set(held(self._fleet, node, entry, self._engine).values()):
                    self._told.add(("GC209", name), entry, [], partial(_readable, entry, name))

    def _judged(self, secrets: list[tuple[Secret, Ref]]) -> Iterator[Finding]:
        """What is wrong with where secrets go that are for the same nodes: these are looked for once."""
        kinds = dict.fromkeys(kind for secret, _ in secrets for kind in self._bound.get(secret.name, ()))
        selection = chosen(self._fleet, secrets[0][1], kinds)
        for secret, where in secrets:
            if selection.problem is not None:
                yield unreadable(self._fleet.tree, where, selection.problem)
                continue
            ground = _ground(secret)
            for kind in self._bound.get(secret.name, ()):
                if not selection.names.issuperset(kind.names):
                    yield from refused(secret, where, kind, selection, ground)


def wide(mode: str) -> bool:
    """Does a mode let others than the owner read or change a file? What is no mode is told elsewhere."""
    return len(mode) <= 4 and all(digit in "01234567" for digit in mode) and bool(int(mode, 8) & _OTHERS)


def _readable(entry: FileEntry, name: str) -> Iterator[Finding]:
    message = f"The file entry {shown(entry.path)} has the mode {entry.mode}, and holds the secret {name}."
    yield of("GC209", entry.path, message, [entry.origin], hint=_way_out(entry))


def _way_out(entry: FileEntry) -> str:
    """Daemons that are not root usually read their files through a group; here the owner must be theirs."""
    if entry.owner != "root":
        return f'Leave the mode out, or write "0600": then only {shown(entry.owner)}, its owner, may read it.'
    if entry.group != "root":
        who = shown(entry.group)
        return f'Make who reads it its owner: `owner: {who}, mode: "0600"`, if {who} is a user, too.'
    return 'Leave the mode out, or write "0600". A daemon that is not root reads it as its `owner`.'


class Ground(msgspec.Struct, frozen=True):
    """Why a secret may not go somewhere, in words: because a condition does not hold, or because it fails."""

    away: str
    fails: str
    hint: str


def _ground(secret: Secret) -> Ground:
    hint = f"`for` in {secret.origin.file} says who may have it: widen it, or bind another secret there."
    return Ground("which may not go there", "whose `for` fails", hint)


def refused(
    secret: Secret, where: Ref, kind: NodeClass, selection: Selection, ground: Ground
) -> Iterator[Finding]:
    """GC308 about the nodes of a class that a condition keeps a secret from."""
    for param in (param for param, name in kind.secrets.items() if name == secret.name):
        cell = kind.cell(param)
        places: list[Origin] = [*(cell.origins if cell is not None else ()), where.origin]
        is_ = f"{shown(param)} is the secret {secret.name}"
        away = [name for name in kind.names if name not in selection.names and name not in selection.failed]
        if away:
            yield of("GC308", secret.name, f"{is_}, {ground.away}.", places, away, ground.hint)
        for name in kind.names:
            if name in selection.failed:
                message = f"{is_}, {ground.fails}: {selection.failed[name].message}"
                yield of("GC308", secret.name, message, places, [name], ground.hint)
