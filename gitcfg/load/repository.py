"""A whole tree as a Model: every kind, in the order in which they may refer to each other."""

from gitcfg.git.tree import Tree
from gitcfg.load.features import load_features, load_groups
from gitcfg.load.nodes import load_nodes, load_nodesets, unique_members
from gitcfg.load.overrides import load_overrides
from gitcfg.load.parameters import load_parameters
from gitcfg.load.reading import Reading
from gitcfg.load.settings import load_settings
from gitcfg.load.subsystems import load_subsystems
from gitcfg.model import Model, Origin, Settings

LATER = ("rules", "allocations", "secrets", "holds", "keys")


def load(tree: Tree) -> Model:
    """Read a tree. What is wrong with its files is in the model's findings (1xx).

    GitcfgError: the tree has no gitcfg.yaml.
    """
    reading = Reading(tree)
    settings = load_settings(reading)
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")), findings=tuple(reading.findings))
    for folder in LATER:
        _refuse(reading, folder)
    nodes = load_nodes(reading, settings)
    return Model(
        settings,
        parameters=load_parameters(reading),
        subsystems=load_subsystems(reading),
        features=load_features(reading),
        groups=load_groups(reading),
        nodes=nodes,
        nodesets=unique_members(reading, nodes, load_nodesets(reading, settings)),
        overrides=load_overrides(reading, settings),
        templates=_names(reading, "templates"),
        sources=_names(reading, "files"),
        unread={kind: frozenset(names) for kind, names in reading.unread.items()},
        findings=tuple(reading.findings),
    )


def load_nodes_only(tree: Tree) -> Model:
    """A Model of the nodes and node sets alone, for who was there. Its findings say nothing."""
    reading = Reading(tree)
    settings = load_settings(reading)
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")))
    nodes = load_nodes(reading, settings)
    return Model(settings, nodes=nodes, nodesets=load_nodesets(reading, settings))


def _refuse(reading: Reading, folder: str) -> None:
    for entry in reading.tree.entries(folder):
        message = f"The folder {folder}/ is not supported by this version."
        reading.report("GC105", entry.path, message, Origin(entry.path))


def _names(reading: Reading, folder: str) -> frozenset[str]:
    return frozenset(entry.path.removeprefix(folder + "/") for entry in reading.files(folder, suffix=""))
