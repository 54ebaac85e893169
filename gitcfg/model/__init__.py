"""The content of a repository as frozen data: definitions, origins, findings, errors."""

from gitcfg.model.bindings import Binding, Decision, Op
from gitcfg.model.definitions import (
    Fact,
    Feature,
    FileEntry,
    Group,
    Ignore,
    Ignored,
    ListEdit,
    Model,
    Node,
    NodeFacts,
    NodeSet,
    Override,
    Parameter,
    Settings,
    Subsystem,
    Undeclared,
    Use,
)
from gitcfg.model.delivery import Hold, Key, Release, Share
from gitcfg.model.findings import REFUSED, Finding, GitcfgError, Origin, Ref, Severity
from gitcfg.model.rules import Allocation, Rule
from gitcfg.model.secrets import Secret

__all__ = [
    "REFUSED",
    "Allocation",
    "Binding",
    "Decision",
    "Fact",
    "Feature",
    "FileEntry",
    "Finding",
    "GitcfgError",
    "Group",
    "Hold",
    "Ignore",
    "Ignored",
    "Key",
    "ListEdit",
    "Model",
    "Node",
    "NodeFacts",
    "NodeSet",
    "Op",
    "Origin",
    "Override",
    "Parameter",
    "Ref",
    "Release",
    "Rule",
    "Secret",
    "Settings",
    "Severity",
    "Share",
    "Subsystem",
    "Undeclared",
    "Use",
]
