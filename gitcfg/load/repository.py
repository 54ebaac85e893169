"""A whole tree as a Model: every kind, each read as far as it is asked for."""

from collections.abc import Iterable
from typing import Any

from gitcfg.git.tree import Tree
from gitcfg.load.allocations import ALLOCATIONS
from gitcfg.load.features import FEATURES, GROUPS
from gitcfg.load.found import Findings, Known, Unread
from gitcfg.load.holds import holds_kind
from gitcfg.load.keys import Keys
from gitcfg.load.nodes import nodes_kind
from gitcfg.load.nodesets import nodesets_kind
from gitcfg.load.overrides import overrides_kind
from gitcfg.load.packs import Keeper, Packs
from gitcfg.load.parameters import PARAMETERS
from gitcfg.load.reading import Reading
from gitcfg.load.rules import RULES
from gitcfg.load.secrets import secrets_kind
from gitcfg.load.sets import NodeSets
from gitcfg.load.settings import load_settings
from gitcfg.load.sheets import Sheets
from gitcfg.load.shelf import Shelf
from gitcfg.load.subsystems import SUBSYSTEMS
from gitcfg.model import Finding, Model, Origin, Settings


def load(tree: Tree, keeper: Keeper | None = None) -> Model:
    """Read a tree. What is wrong with its files is in the model's findings (1xx).

    Definitions are read when they are asked for, and everything when the findings are, or what is unread.
    `keeper` keeps what was read for the next time. GitcfgError: the tree has no gitcfg.yaml.
    """
    reading = Reading(tree)
    settings = load_settings(reading)
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")), findings=tuple(reading.findings))
    return _model(tree, settings, Packs(keeper, settings), reading.findings)


def _model(tree: Tree, settings: Settings, packs: Packs, findings: Iterable[Finding]) -> Model:
    nodes = Shelf(tree, nodes_kind(settings), packs)
    parameters = Sheets(tree, PARAMETERS, packs)
    subsystems = Sheets(tree, SUBSYSTEMS, packs)
    features = Shelf(tree, FEATURES, packs)
    groups = Shelf(tree, GROUPS, packs)
    written = Shelf(tree, nodesets_kind(settings), packs)
    nodesets = NodeSets(written, nodes, settings.max_nodes)
    overrides = Shelf(tree, overrides_kind(settings), packs)
    holds, keys = Shelf(tree, holds_kind(settings), packs), Keys(tree)
    secrets = Shelf(tree, secrets_kind(tree), packs)
    rules = Sheets(tree, RULES, packs)
    allocations = Shelf(tree, ALLOCATIONS, packs)
    names = Reading(tree)
    templates, sources = _names(names, "templates"), _names(names, "files")
    defined: tuple[Shelf[Any] | Sheets[Any], ...] = (
        *(nodes, parameters, subsystems, features, groups),
        *(overrides, holds, secrets, rules, allocations),
    )
    parts = (Known(findings), *defined, nodesets, keys, Known(names.findings))
    return Model(
        settings,
        parameters=parameters,
        subsystems=subsystems,
        features=features,
        groups=groups,
        nodes=nodes,
        nodesets=nodesets,
        overrides=overrides,
        holds=holds,
        keys=keys,
        secrets=secrets,
        rules=rules,
        allocations=allocations,
        templates=templates,
        sources=sources,
        unread=Unread({part.kind.folder: part for part in (*defined, written)}),
        findings=Findings(parts),
    )


def load_nodes_only(tree: Tree, keeper: Keeper | None = None) -> Model:
    """A Model of the nodes and node sets alone, for who was there. Its findings say nothing."""
    settings = load_settings(Reading(tree))
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")))
    packs = Packs(keeper, settings)
    nodes = Shelf(tree, nodes_kind(settings), packs)
    written = Shelf(tree, nodesets_kind(settings), packs)
    return Model(settings, nodes=nodes, nodesets=NodeSets(written, nodes, settings.max_nodes))


def findings_so_far(model: Model) -> tuple[Finding, ...]:
    """The findings about names and about the definitions that have been read until now."""
    return model.findings.so_far() if isinstance(model.findings, Findings) else tuple(model.findings)


def _names(reading: Reading, folder: str) -> frozenset[str]:
    return frozenset(entry.path.removeprefix(folder + "/") for entry in reading.files(folder, suffix=""))
