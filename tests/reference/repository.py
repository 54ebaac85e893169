"""A repository as raw documents by kind and name."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from tests.reference.nodesets import expand
from tests.reference.yaml12 import Raw, read

Document = dict[str, Raw]


class Repository(NamedTuple):
    """Documents by name; `members` says which set a node is in."""

    settings: Document
    parameters: dict[str, Document]
    subsystems: dict[str, Document]
    features: dict[str, Document]
    groups: dict[str, Document]
    nodes: dict[str, Document]
    sets: dict[str, Document]
    overrides: dict[str, Document]
    secrets: dict[str, Document]
    members: dict[str, str]

    @property
    def default_group(self) -> str:
        """Every node's lowest group."""
        return str(self.settings.get("default_group", "default"))

    @property
    def names(self) -> list[str]:
        """All nodes."""
        return sorted({*self.nodes, *self.members})

    @property
    def bodies(self) -> list[Document]:
        """Everything that may bind parameters."""
        kinds = (self.features, self.groups, self.nodes, self.sets, self.overrides)
        return [body for kind in kinds for body in kind.values()]

    def declared(self, parameter: str) -> Document | None:
        """The declaration: the exact name, else of the fitting families the one that says most."""
        if parameter in self.parameters:
            return self.parameters[parameter]
        fitting = [name for name in self.parameters if _glob(name) and fnmatchcase(parameter, name)]
        best = max(
            fitting, key=lambda name: (len(name.replace("*", "").replace("?", "")), name), default=None
        )
        return None if best is None else self.parameters[best]


def _glob(name: str) -> bool:
    return "*" in name or "?" in name


def read_repository(files: Mapping[str, str]) -> Repository:
    """Everything that files say, path to text. They are well-formed and fit their schemas."""
    documents = {path: read(text) or {} for path, text in files.items() if path.endswith(".yaml")}
    sets = _by_name(documents, "nodesets")
    return Repository(
        documents["gitcfg.yaml"],
        _parameters(documents),
        _inside(documents, "subsystems"),
        _by_name(documents, "features"),
        _by_name(documents, "groups"),
        _by_name(documents, "nodes"),
        sets,
        _by_name(documents, "overrides"),
        _by_name(documents, "secrets"),
        {node: name for name in sorted(sets) for node in expand(sets[name]["nodes"])},
    )


def _by_name(documents: Mapping[str, Raw], kind: str) -> dict[str, Document]:
    """One definition a file, called like the file."""
    found = {path: said for path, said in documents.items() if path.startswith(f"{kind}/")}
    return {path.rpartition("/")[2].removesuffix(".yaml"): said for path, said in found.items()}


def _inside(documents: Mapping[str, Raw], kind: str) -> dict[str, Document]:
    """Many definitions a file, by name in it."""
    found = [said for path, said in documents.items() if path.startswith(f"{kind}/")]
    return {name: said or {} for document in found for name, said in document.get(kind, {}).items()}


def _parameters(documents: Mapping[str, Raw]) -> dict[str, Document]:
    """Declarations, with what their file says for all of them."""
    found = [said for path, said in documents.items() if path.startswith("parameters/")]
    return {
        name: document.get("defaults", {}) | (said or {})
        for document in found
        for name, said in document.get("parameters", {}).items()
    }
