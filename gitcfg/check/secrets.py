"""GC210, GC308, GC513, GC514: secrets, checked without any key."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import msgspec

from gitcfg.check.files import selected_params
from gitcfg.check.findings import Tally, of
from gitcfg.check.nodes import chosen, unreadable
from gitcfg.check.structure import bindings, files
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.selection import Selection
from gitcfg.compile.surface import Surface, Surfaces
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.document import conflict_finding, find_conflicts
from gitcfg.model import (
    Feature,
    FileEntry,
    Finding,
    Group,
    Model,
    Node,
    Origin,
    Parameter,
    Ref,
    Rule,
    Secret,
    Subsystem,
)
from gitcfg.model.age import X25519, Header, Recipient, Stanza, header, is_recipient, recipient
from gitcfg.model.names import shown
from gitcfg.model.secrets import OPEN, WORDS, mark_in, marked, may_hold_key, open_mark
from gitcfg.model.text import counted
from gitcfg.render.files import PRIVATE, find_secret_params
from gitcfg.render.templates import TemplateEngine

FOLDER = "secrets"
_ENDING = ".age"
_AGE = Stanza(X25519)
_MOST = 2 << 20  # 1 MiB of content, armored, for the largest number of recipients that a header may have


def sealed(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong with secrets and their encrypted files."""
    if not fleet.model.secrets and not any(fleet.tree.entries(FOLDER)):
        return
    unread = fleet.model.unread.get(FOLDER, frozenset())
    headers: dict[str, Header] = {}
    for name, secret in fleet.model.secrets.items():
        if name not in unread:
            yield from _secret(fleet.tree, secret, headers)
    yield from _copies(fleet, headers)
    yield from _stray(fleet)


def _secret(tree: Tree, secret: Secret, headers: dict[str, Header]) -> Iterator[Finding]:
    named, wrong = recipients(secret)
    yield from wrong
    if not secret.recipients:
        hint = "Add the server's key and your own: `gitcfg secret rekey NAME --add KEY`."
        yield _finding(secret, f"The secret {secret.name} has no recipients.", secret.origin, hint)
    entry = tree.entry(path_of(secret))
    if entry is None:
        message = f"The secret {secret.name} has no content: {path_of(secret)} does not exist."
        hint = f"`gitcfg secret set {secret.name}` writes it."
        yield _finding(secret, message, secret.origin, hint)
    elif entry.kind is EntryKind.FILE:  # else it is reported as GC101
        yield from _content(tree, entry, secret, None if wrong else named, headers)


def path_of(secret: Secret) -> str:
    """Return the path of a secret's encrypted content, even if it does not exist."""
    return secret.origin.file.removesuffix(".yaml") + _ENDING


def recipients(secret: Secret) -> tuple[tuple[Recipient, ...], tuple[Finding, ...]]:
    """Return the recipients of a secret, and findings about those that are not public keys.

    Findings do not quote the text, which may be a private key.
    """
    named, wrong = [], []
    for ref in secret.recipients:
        try:
            named.append(recipient(ref.name))
        except ValueError as error:
            message = f"A recipient of the secret {secret.name} is not a public key: {error}."
            wrong.append(of("GC210", secret.name, message, [ref.origin], veiled=True))
    return tuple(named), tuple(wrong)


def _content(
    tree: Tree, entry: Entry, secret: Secret, named: tuple[Recipient, ...] | None, headers: dict[str, Header]
) -> Iterator[Finding]:
    """Yield what is wrong with an encrypted file; without `named`, its recipients are not checked."""
    try:
        found = header_of(tree, entry)
    except ValueError as error:
        blocks = find_conflicts(tree.read(entry).decode("utf-8", "replace")) if entry.size <= _MOST else ()
        if blocks:
            yield conflict_finding(entry.path, blocks)
            return
        hint = f"`gitcfg secret set {secret.name}` writes it again."
        yield _finding(secret, f"{shown(entry.path)} {error}.", Origin(entry.path), hint)
        return
    headers[secret.name] = found
    reason = _differs(found, named) if named else ""
    if reason:
        message = f"{shown(entry.path)} is not encrypted for the recipients of the secret: {reason}."
        hint = f"`gitcfg secret rekey {secret.name}` encrypts it for them and keeps the content."
        yield _finding(secret, message, secret.recipients[0].origin, hint, Origin(entry.path))


def header_of(tree: Tree, entry: Entry) -> Header:
    """Return the header of an encrypted file.

    Raise ValueError if it is not one; the message continues a sentence that begins with its name.
    """
    if entry.size > _MOST:
        raise ValueError("is larger than 2 MiB")
    return header(tree.read(entry))


def _differs(found: Header, named: tuple[Recipient, ...]) -> str:
    """Return how a header's stanzas differ from the recipients. Stanzas of age keys can only be counted."""
    have, want = Counter(found.stanzas), Counter(one.stanza for one in named)
    ages = have.pop(_AGE, 0), want.pop(_AGE, 0)
    lacking = next((one for one in named if have[one.stanza] < want[one.stanza]), None)
    if lacking is not None:
        return f"{shown(lacking.comment or lacking.key)} cannot read it"
    if ages[0] != ages[1]:
        return f"it is for {counted(ages[0], 'age key')}, but the secret has {ages[1]}"
    more = min((stanza.kind, stanza.tag) for stanza in have - want) if have - want else None
    return f"it is also for another recipient ({shown(' '.join(more).strip())})" if more else ""


def _copies(fleet: Fleet, headers: dict[str, Header]) -> Iterator[Finding]:
    """Yield secrets with the same content: a copied file would give a secret to other nodes."""
    first: dict[str, str] = {}
    for name, found in headers.items():
        other = first.setdefault(found.identity, name)
        if other != name:
            pair = (min(name, other), max(name, other))
            message = f"The secrets {pair[0]} and {pair[1]} have the same encrypted file."
            hint = "Use one secret for both, or set the content of one of them again."
            places = [Origin(path_of(fleet.model.secrets[one])) for one in pair]
            yield of("GC210", pair, message, places, hint=hint)


def _stray(fleet: Fleet) -> Iterator[Finding]:
    """Yield encrypted files without a definition."""
    known = {path_of(secret) for secret in fleet.model.secrets.values()}
    for entry in fleet.tree.entries(FOLDER):
        if entry.kind is EntryKind.FILE and entry.path.endswith(_ENDING) and entry.path not in known:
            said = entry.path.removesuffix(_ENDING) + ".yaml"
            message = f"{shown(entry.path)} has no definition: {shown(said)} does not exist."
            name = entry.path.rpartition("/")[2].removesuffix(_ENDING)
            hint = "Write the definition, or delete the file."
            yield of("GC210", name, message, [Origin(entry.path)], hint=hint)


def _finding(secret: Secret, message: str, at: Origin, hint: str = "", more: Origin | None = None) -> Finding:
    return of("GC210", secret.name, message, [at, *([more] if more else [])], hint=hint)


# GC209, GC308: secrets are only on nodes that may have them, in files for their owner only. GC102: `for`.

_OTHERS = 0o077


class SecretReaders:
    """The checks of which nodes and files get secrets."""

    def __init__(self, fleet: Fleet, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._engine = engine
        self._tally = Tally()
        self._bound: dict[str, list[NodeClass]] = {}

    def see(self, node_class: NodeClass, _: Surface) -> Iterable[Finding]:
        secrets = node_class.secrets
        if secrets:
            for name in set(secrets.values()) if node_class.names else ():
                self._bound.setdefault(name, []).append(node_class)
            self._open(node_class)
        return ()

    def end(self) -> Iterator[Finding]:
        yield from self._tally.findings()
        unread = self._fleet.model.unread.get("secrets", frozenset())
        alike: dict[str, list[tuple[Secret, Ref]]] = {}  # many secrets are for the same nodes
        for name, secret in self._fleet.model.secrets.items():
            if name not in unread and secret.where is not None:
                alike.setdefault(secret.where.name, []).append((secret, secret.where))
        for secrets in alike.values():
            yield from self._judged(secrets)

    def _open(self, node_class: NodeClass) -> None:
        """Note the files of a class with secrets and a written mode that lets other users read them."""
        node = FleetNode(next(iter(node_class.names), ""), node_class, node_class.definition)
        for entry in node_class.files.values():
            if entry.mode_said and wide(entry.mode):
                for name in set(find_secret_params(self._fleet, node, entry, self._engine).values()):
                    self._tally.add(("GC209", name), entry, [], partial(_readable, entry, name))

    def _judged(self, secrets: list[tuple[Secret, Ref]]) -> Iterator[Finding]:
        """Yield secrets on nodes that may not have them. The secrets have the same `for`, evaluated once."""
        kinds = dict.fromkeys(
            node_class for secret, _ in secrets for node_class in self._bound.get(secret.name, ())
        )
        selection = chosen(self._fleet, secrets[0][1], kinds)
        for secret, where in secrets:
            if selection.problem is not None:
                yield unreadable(self._fleet.tree, where, selection.problem)
                continue
            ground = _ground(secret)
            for node_class in self._bound.get(secret.name, ()):
                if not selection.names.issuperset(node_class.names):
                    yield from refused(secret, where, node_class, selection, ground)


def wide(mode: str) -> bool:
    """Return whether a mode lets users other than the owner read or change a file."""
    return len(mode) <= 4 and all(digit in "01234567" for digit in mode) and bool(int(mode, 8) & _OTHERS)


def _readable(entry: FileEntry, name: str) -> Iterator[Finding]:
    message = f"The file entry {shown(entry.path)} has the mode {entry.mode}, but contains the secret {name}."
    yield of("GC209", entry.path, message, [entry.origin], hint=_way_out(entry))


def _way_out(entry: FileEntry) -> str:
    """Return the hint.

    Daemons that are not root usually read their files through a group; a file with a secret must be owned by
    their user.
    """
    if entry.owner != "root":
        return f'Omit the mode, or write "0600": then only its owner {shown(entry.owner)} can read it.'
    if entry.group != "root":
        who = shown(entry.group)
        return f'Make the reader its owner: `owner: {who}, mode: "0600"`, if {who} is a user, too.'
    return 'Omit the mode, or write "0600". If a daemon does not run as root, make it the `owner`.'


class Ground(msgspec.Struct, frozen=True):
    """The words for why a secret may not go to a node: its condition is false there, or fails."""

    away: str
    fails: str
    hint: str


def _ground(secret: Secret) -> Ground:
    hint = f"Make `for` in {secret.origin.file} match these nodes, or bind another secret there."
    return Ground("but these nodes may not have it", "whose `for` fails", hint)


def refused(
    secret: Secret, where: Ref, node_class: NodeClass, selection: Selection, ground: Ground
) -> Iterator[Finding]:
    """Yield GC308 for the nodes of a class that may not have a secret because of a condition."""
    for param in (param for param, name in node_class.secrets.items() if name == secret.name):
        cell = node_class.cell(param)
        places: list[Origin] = [*(cell.origins if cell is not None else ()), where.origin]
        is_ = f"{shown(param)} is the secret {secret.name}"
        away = [
            name for name in node_class.names if name not in selection.names and name not in selection.failed
        ]
        if away:
            yield of("GC308", secret.name, f"{is_}, {ground.away}.", places, away, ground.hint)
        for name in node_class.names:
            if name in selection.failed:
                message = f"{is_}, {ground.fails}: {selection.failed[name].message}"
                yield of("GC308", secret.name, message, places, [name], ground.hint)


# GC514: secrets in a file with other parameters, which make it readable only by its owner.

_Key = tuple[int, tuple[str, ...]]


class OpenSecrets:
    """The files without a written mode that select secrets without naming them.

    A written mode is taken as intended. The findings have nodes, so that an incremental check need not check
    all nodes for them.
    """

    def __init__(self, fleet: Fleet, surfaces: Surfaces, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._params = surfaces.params
        self._engine = engine
        self._tally = Tally()
        self._unnamed: dict[_Key, tuple[FileEntry, tuple[str, ...]]] = {}
        self._taken: dict[int, tuple[FileEntry, int]] = {}

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        if node_class.secrets and node_class.names:
            for entry in node_class.files.values():
                for param in () if entry.mode_said else self._swept(node_class, surface, entry):
                    secret = node_class.secrets[param]
                    tell = partial(_closed, entry, param, secret)
                    self._tally.add((param, secret), entry, node_class.names, tell)
        return ()

    def end(self) -> Iterator[Finding]:
        yield from self._tally.findings()

    def _swept(self, node_class: NodeClass, surface: Surface, entry: FileEntry) -> tuple[str, ...]:
        """Return the secret parameters that an entry selects on nodes of a class without naming them."""
        key = (id(entry), tuple(node_class.secrets))
        if key not in self._unnamed:
            self._unnamed[key] = (entry, self._of(node_class, entry))
        found = self._unnamed[key][1]
        return found if found and self._mixed(node_class, surface, entry) else ()

    def _of(self, node_class: NodeClass, entry: FileEntry) -> tuple[str, ...]:
        node = FleetNode(node_class.names[0], node_class, node_class.definition)
        taken = find_secret_params(self._fleet, node, entry, self._engine)
        named = set(entry.params)
        if taken and entry.template is not None:
            analysis = self._engine.analyse(entry.template.name)
            if analysis.problem is not None:
                return ()  # reported as GC208
            named = {param for param, _ in analysis.params}
        return tuple(param for param in taken if param not in named)

    def _mixed(self, node_class: NodeClass, surface: Surface, entry: FileEntry) -> bool:
        """Return whether an entry selects anything but secrets.

        If not, other users have no reason to read it.
        """
        if entry.format is None:
            return True
        known = self._taken.get(id(entry))
        if known is None:
            known = self._taken[id(entry)] = (entry, selected_params(self._fleet, self._params, entry))
        found = known[1] & surface.bound
        return found != found & self._params.mask(node_class.secrets)


def _closed(entry: FileEntry, param: str, secret: str) -> Iterator[Finding]:
    takes = f"{shown(entry.path)} takes the secret {secret} together with other parameters"
    message = f"{takes}, so only its owner can read it ({PRIVATE})."
    hint = f'{_way_out_swept(entry, shown(param))}; or write `mode: "{PRIVATE}"` if that is intended.'
    yield of("GC514", (entry.path, param), message, [entry.origin], hint=hint)


def _way_out_swept(entry: FileEntry, param: str) -> str:
    if entry.template is not None:
        return "Name the parameters in the template"
    if entry.tags:
        return f"Remove the entry's tags from {param}"
    return f'Exclude it with "!{param}" in `params`'


# Texts of definitions that nodes do not get: descriptions, reasons, and similar ones.


class Prose(msgspec.Struct, frozen=True, gc=False):
    """A text of a definition: `what` it is precedes the name of the subject."""

    what: str
    subject: str
    text: str
    origin: Origin


_Described = Parameter | Subsystem | Feature | Group | Node | Rule


def prose(model: Model) -> Iterator[Prose]:
    """Yield descriptions that may have a private key, and all other texts that are not values of nodes."""
    described: Iterator[tuple[_Described, str]] = chain(
        ((one, "parameter") for one in model.parameters.values()),
        ((one, "subsystem") for one in model.subsystems.values()),
        ((one, "feature") for one in model.features.values()),
        ((one, "group") for one in model.groups.values()),
        ((one, "node") for one in model.nodes.values()),
        ((one.definition, "node set") for one in model.nodesets.values()),
        ((one, "rule") for one in model.rules.values()),
    )
    for one, noun in described:
        if may_hold_key(one.description):  # a fleet of 10,000 nodes has as many descriptions
            yield Prose(f"The description of the {noun}", one.name, one.description, one.origin)
    yield from _beside(model)
    for parameter in model.parameters.values():
        place = parameter.schema_origin or parameter.origin
        for text in _texts(parameter.schema):  # its descriptions, examples and allowed values
            yield Prose("The schema of the parameter", parameter.name, text, place)
    for subsystem in model.subsystems.values():
        for word in chain.from_iterable(words for _, words in subsystem.commands()):
            yield Prose("A command of the subsystem", subsystem.name, word, subsystem.origin)


def _beside(model: Model) -> Iterator[Prose]:
    """Yield the texts of overrides, holds, rules and secrets; recipients because of their comments."""
    for override in model.overrides.values():
        yield Prose("The reason of the override", override.name, override.reason, override.origin)
    for hold in model.holds.values():
        yield Prose("The reason of the hold", hold.name, hold.reason, hold.origin)
    for rule in model.rules.values():
        yield Prose("The message of the rule", rule.name, rule.message, rule.origin)
    for secret in model.secrets.values():
        yield Prose("The description of the secret", secret.name, secret.description, secret.origin)
        for ref in secret.recipients:
            if is_recipient(ref.name):  # others are reported as GC210
                yield Prose("A recipient of the secret", secret.name, ref.name, ref.origin)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(_texts, value.values() if isinstance(value, dict) else value))


# GC513: encrypted text of other tools, and private keys that everyone can read, in any text.

_ENCRYPTED = "Nodes get the encrypted text. Use `gitcfg secret set NAME` for a secret that they can read."
_OPEN = "Every reader of the repository has it. Make a new key, and store it with `gitcfg secret set NAME`."


def markers(fleet: Fleet) -> Iterator[Finding]:
    """Yield GC513 for every value, text, template and file with such content, at its first place."""
    for name, binding in bindings(fleet):
        if mark := mark_in(binding.given):
            yield from _of_value(fleet, name, mark, binding.at)
    for parameter in fleet.model.parameters.values():
        if parameter.default is not None and (mark := mark_in(parameter.default.given)):
            yield from _of_value(fleet, parameter.name, mark, parameter.default.at)
    yield from _in_facts(fleet)
    for one in prose(fleet.model):
        if mark := open_mark(one.text):
            yield _marker_finding(one.subject, f"{one.what} {shown(one.subject)}", mark, one.origin)
    for entry in files(fleet.model):
        if mark := mark_in(entry.text):
            yield _marker_finding(entry.path, f"The text of {shown(entry.path)}", mark, entry.origin)
    for folder, noun, texts in (
        ("templates", "template", fleet.templates),
        ("files", "file", fleet.sources if fleet.model.sources else {}),
    ):
        yield from _in_texts(folder, noun, texts)


def _in_texts(folder: str, noun: str, texts: Mapping[str, str | None]) -> Iterator[Finding]:
    for name, text in texts.items():
        found = marked(text) if text else None
        if text and found:
            place = Origin(f"{folder}/{name}", text.count("\n", 0, found.start()) + 1)
            yield _marker_finding(name, f"The {noun} {shown(name)}", found.lastgroup or "", place)


def _in_facts(fleet: Fleet) -> Iterator[Finding]:
    for node, name, fact in fleet.model.facts():
        if mark := mark_in(fact.value):
            yield _marker_finding(name, f"The fact {shown(name)} of {shown(node.name)}", mark, node.origin)


def _of_value(fleet: Fleet, name: str, mark: str, at: Origin) -> Iterator[Finding]:
    """Yield GC513, unless the parameter is secret: GC206 reports its plain value already."""
    if not fleet.declarations.secret(name):
        yield _marker_finding(name, f"The value of {shown(name)}", mark, at)


def _marker_finding(subject: str, what: str, mark: str, at: Origin) -> Finding:
    hint = _OPEN if mark in OPEN else _ENCRYPTED
    return of("GC513", subject, f"{what} contains {WORDS[mark]}.", [at], hint=hint, veiled=mark in OPEN)
