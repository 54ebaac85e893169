"""What a repository says, as frozen data: definitions, origins, findings, errors.

A name is imported when it is first used: completion needs node sets, and none of the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = ("findings", "definitions", "bindings", "delivery", "rules", "secrets")


def __getattr__(name: str) -> Any:
    for module in _MODULES if name in __all__ else ():
        found = import_module(f"gitcfg.model.{module}").__dict__
        if name in found:
            globals()[name] = found[name]
            return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
