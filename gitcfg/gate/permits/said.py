"""All that a version says, piece by piece."""

from typing import Any

from msgspec.structs import replace

from gitcfg.gate.permits.layers import Pieces, layers
from gitcfg.gate.permits.statement import Key, Statement, Thing
from gitcfg.gate.permits.whole import Whole
from gitcfg.gate.policy import SIGNERS, signers
from gitcfg.git.signatures import lines
from gitcfg.git.tree import Tree
from gitcfg.history.meaning import said
from gitcfg.load.repository import load
from gitcfg.load.root import is_repository
from gitcfg.model import Model, Origin, Rule
from gitcfg.model.kinds import SETTINGS, TEXTS
from gitcfg.model.rules import RuleKind

_KINDS = {
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


def statements(tree: Tree, whole: Whole) -> dict[Key, Statement]:
    """What a tree says, or an excerpt of it; `whole` is all of its version. No configuration says nothing."""
    if not is_repository(tree):
        return {}
    model = load(tree)
    return dict(
        (
            *_settings(tree, model),
            *layers(model, whole),
            *_definitions(model),
            *_keys(model),
            *_secrets(tree, model),
            *_rules(model),
            *_texts(tree, whole),
            *_misread(tree, model),
        )
    )


def _settings(tree: Tree, model: Model) -> Pieces:
    for name in model.settings.__struct_fields__:
        text, origin = said(getattr(model.settings, name)), model.settings.origin
        if name != "origin":
            yield (SETTINGS, name), Statement(text, origin, (Thing("rules", SETTINGS),))
    for line in lines(signers(tree)):
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
    for allocation in model.allocations.values():
        about = (Thing("rules", allocation.name),)
        yield ("allocations", allocation.name), Statement(said(allocation), allocation.origin, about)


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
        yield (*key, "params", name), Statement(said((one, rule.where)), one.origin, things)


def _texts(tree: Tree, whole: Whole) -> Pieces:
    for folder in TEXTS:
        for entry in tree.entries(folder):
            name = entry.path.removeprefix(f"{folder}/")
            about = (Thing("templates", name), *whole.filled(folder, name))
            yield (folder, name), Statement(f"{entry.kind.value} {entry.id}", Origin(entry.path), about)


def _misread(tree: Tree, model: Model) -> Pieces:
    """What could not be understood says its text: of a file whose names are not known, any name's."""
    for folder, names in model.unread.items():
        kind = _KINDS.get(folder, "nodes")
        for name in names:
            is_path = "/" in name
            path = name if is_path else _file(model, folder, name)
            entry = tree.entry(path)
            about = (Thing(kind, "*" if is_path or folder not in _KINDS else name),)
            yield (folder, name, "unread"), Statement(entry.id if entry else "", Origin(path), about)


def _file(model: Model, folder: str, name: str) -> str:
    found = getattr(model, folder).get(name)
    return found.origin.file if found is not None else folder
