"""All that a version says, piece by piece."""

from typing import Any

from msgspec.structs import replace

from gitcfg.gate.permits.layers import Pieces, list_layers
from gitcfg.gate.permits.named import Thing
from gitcfg.gate.permits.statement import ANY, Key, Statement
from gitcfg.gate.permits.whole import Version
from gitcfg.gate.policy import load_signers
from gitcfg.git.signatures import signer_lines
from gitcfg.git.tree import Tree
from gitcfg.history.definitions import said
from gitcfg.load.context import Reading
from gitcfg.load.repository import is_repository, load, load_settings, settings_entry
from gitcfg.model import Model, Origin, Rule
from gitcfg.model.folders import SETTINGS, SIGNERS, TEXTS
from gitcfg.model.rules import RuleKind

_KINDS_BY_FOLDER = {
    "parameters": "params",
    "subsystems": "subsystems",
    "features": "features",
    "groups": "groups",
    "nodes": "nodes",
    "secrets": "secrets",
    "rules": "rules",
    "allocations": "rules",
}
"""By folder, what its definitions are to rules; of others it is the nodes that they are for."""


def is_readable(tree: Tree) -> bool:
    """Is it a configuration, and of a format that is read?"""
    return is_repository(tree) and load_settings(Reading(tree)) is not None


def read_statements(tree: Tree, whole: Version) -> dict[Key, Statement]:
    """What a tree says, or an excerpt of it; `whole` is all of its version. No configuration says nothing."""
    if not is_repository(tree):
        return {}
    return dict(list_pieces(tree, load(tree), whole))


def list_pieces(tree: Tree, model: Model, whole: Version) -> Pieces:
    """The same of a model that was read from the tree."""
    yield from _settings(tree, model)
    yield from list_layers(model, whole)
    yield from _definitions(model)
    yield from _keys(model)
    yield from _secrets(tree, model)
    yield from _rules(model)
    yield from _allocations(model, whole)
    yield from _texts(tree, whole)
    yield from _misread(tree, model)


def _settings(tree: Tree, model: Model) -> Pieces:
    own, settings = Thing("rules", SETTINGS), model.settings
    about = {
        "default_group": (Thing("groups", settings.default_group), ANY),
        "walk_in": tuple(Thing("groups", group.name) for group in settings.walk_in or ()),
    }
    for name in settings.__struct_fields__:
        if name != "origin":
            things = (own, *about.get(name, ()))
            yield (SETTINGS, name), Statement(said(getattr(settings, name)), settings.origin, things)
    reading, entry = Reading(tree), settings_entry(tree)
    if load_settings(reading) is None or reading.findings:
        yield (SETTINGS, "", "unread"), Statement(entry.id, settings.origin, (own,))
    for line in signer_lines(load_signers(tree)):
        yield (SIGNERS, repr(line)), Statement("", Origin(SIGNERS), (Thing("rules", SIGNERS),))


def _definitions(model: Model) -> Pieces:
    for parameter in model.parameters.values():
        about = (Thing("params", parameter.name),)
        yield ("parameters", parameter.name), Statement(said(parameter), parameter.origin, about)
    for subsystem in model.subsystems.values():
        about = (Thing("subsystems", subsystem.name),)
        yield ("subsystems", subsystem.name), Statement(said(subsystem), subsystem.origin, about)


def _keys(model: Model) -> Pieces:
    for key in model.keys.values():
        yield ("keys", key.node), Statement(key.text, key.origin, (Thing("nodes", key.node),))


def _secrets(tree: Tree, model: Model) -> Pieces:
    """Of what is encrypted anything may have changed, where a byte of it has."""
    for secret in model.secrets.values():
        about = (Thing("secrets", secret.name),)
        entry = tree.entry(secret.sealed.file) if secret.sealed is not None else None
        yield ("secrets", secret.name), Statement(said(replace(secret, sealed=None)), secret.origin, about)
        if entry is not None:
            yield ("secrets", secret.name, "age"), Statement(entry.id, Origin(entry.path), about)


def _rules(model: Model) -> Pieces:
    for rule in model.rules.values():
        yield from _rule(rule)


def _rule(rule: Rule) -> Pieces:
    """A rule is a layer as well: what it installs and binds is touched as if it stood in one."""
    key, own = ("rules", rule.name), Thing("rules", rule.name)
    domains = {name: replace(domain, places=()) for name, domain in rule.domains.items()}
    installed = rule.kind is RuleKind.INSTALL and rule.feature is not None
    about = (own, Thing("features", rule.feature.name)) if installed and rule.feature else (own,)
    yield key, Statement(said(replace(rule, params={}, domains={})), rule.origin, about)
    bound: dict[str, Any] = {**rule.params, **domains}
    for name, one in bound.items():
        things = (own,) if rule.over is not None else (own, Thing("params", name))
        yield (*key, "params", name), Statement(said((one, rule.where, rule.unique)), one.origin, things)


def _allocations(model: Model, whole: Version) -> Pieces:
    """What was decided for a rule is a layer, too: it brings nodes the rule's feature, or values."""
    for name, decided in model.allocations.items():
        key, own, rule = ("allocations", name), Thing("rules", name), whole.rule(name)
        yield key, Statement("", decided.origin, (own,))
        feature = rule.feature if rule is not None else None
        things = (own, Thing("features", feature.name)) if feature is not None else (own,)
        for slot in decided.install:
            yield (*key, slot.name), Statement("", slot.origin, (*things, _node_of_slot(slot.name)))
        for place, values in decided.values.items():
            for param, one in values.items():
                of = (Thing("params", param),) if rule is None or rule.over is None else ()
                about = (own, _node_of_slot(place), *of)
                yield (*key, place, param), Statement(said(one), one.origin, about)


def _node_of_slot(slot: str) -> Thing:
    return Thing("nodes", slot.partition("/")[0])


def _texts(tree: Tree, whole: Version) -> Pieces:
    for folder in TEXTS:
        for entry in tree.entries(folder):
            name = entry.path.removeprefix(f"{folder}/")
            about = (Thing("templates", name), *whole.filled(folder, name))
            yield (folder, name), Statement(f"{entry.kind.value} {entry.id}", Origin(entry.path), about)


def _misread(tree: Tree, model: Model) -> Pieces:
    """What could not be understood says its text: of a file whose names are not known, any name's."""
    for folder, names in model.unread.items():
        kind = _KINDS_BY_FOLDER.get(folder, "nodes")
        for name in names:
            is_path = "/" in name
            path = name if is_path else _file(model, folder, name)
            entry = tree.entry(path)
            about = (Thing(kind, "*" if is_path or folder not in _KINDS_BY_FOLDER else name),)
            yield (folder, name, "unread"), Statement(entry.id if entry else "", Origin(path), about)


def _file(model: Model, folder: str, name: str) -> str:
    found = getattr(model, folder).get(name)
    return found.origin.file if found is not None else folder
