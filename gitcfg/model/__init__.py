"""What a repository says, as frozen data: definitions, origins, findings, errors."""

from gitcfg.model.definitions import (
    Binding,
    Fact,
    Feature,
    FileEntry,
    Group,
    ListEdit,
    Model,
    Node,
    NodeSet,
    Op,
    Override,
    Parameter,
    Settings,
    Subsystem,
    Undeclared,
    Use,
)
from gitcfg.model.errors import GitcfgError
from gitcfg.model.findings import Finding, Severity
from gitcfg.model.origin import Origin, Ref

__all__ = [
    "Binding",
    "Fact",
    "Feature",
    "FileEntry",
    "Finding",
    "GitcfgError",
    "Group",
    "ListEdit",
    "Model",
    "Node",
    "NodeSet",
    "Op",
    "Origin",
    "Override",
    "Parameter",
    "Ref",
    "Settings",
    "Severity",
    "Subsystem",
    "Undeclared",
    "Use",
]
