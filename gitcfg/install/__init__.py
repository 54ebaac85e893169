"""Installation on a node: stage, validate, swap, activate, check, or go back. Knows no network.

Standard library only. Everything it does is below a `root` that is handed in, by a policy of the node's
own, under one lock, with a journal by which the next run finishes or takes back what died in the middle.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; importing it costs 10 ms
if TYPE_CHECKING:
    from .damaged import set_aside
    from .drifted import Drift, drift
    from .entry import install, repair
    from .inforce import installed, last_report
    from .interrupted import recover
    from .order import Debt
    from .outcome import FAILED, OK, REFUSED, REVERTED, UNCHANGED, Outcome, outcome_from_json, outcome_to_json
    from .owed import debts
    from .package import Actions, Check, File, Package, Subsystem, file_digest, hidden
    from .place import Clock, Limits, Listener, Place
    from .policy import Policy
    from .problems import Busy, Damaged, InstallError, PackageError, Refused, StepFailed
    from .reading import package_from_json, read_actions, read_package
    from .writing import package_to_json

__all__ = [
    "FAILED",
    "OK",
    "REFUSED",
    "REVERTED",
    "UNCHANGED",
    "Actions",
    "Busy",
    "Check",
    "Clock",
    "Damaged",
    "Debt",
    "Drift",
    "File",
    "InstallError",
    "Limits",
    "Listener",
    "Outcome",
    "Package",
    "PackageError",
    "Place",
    "Policy",
    "Refused",
    "StepFailed",
    "Subsystem",
    "debts",
    "drift",
    "file_digest",
    "hidden",
    "install",
    "installed",
    "last_report",
    "outcome_from_json",
    "outcome_to_json",
    "package_from_json",
    "package_to_json",
    "read_actions",
    "read_package",
    "recover",
    "repair",
    "set_aside",
]

_MODULES = {
    "damaged": "set_aside",
    "drifted": "Drift drift",
    "entry": "install repair",
    "inforce": "installed last_report",
    "interrupted": "recover",
    "order": "Debt",
    "outcome": "FAILED OK REFUSED REVERTED UNCHANGED Outcome outcome_from_json outcome_to_json",
    "owed": "debts",
    "package": "Actions Check File Package Subsystem file_digest hidden",
    "place": "Clock Limits Listener Place",
    "policy": "Policy",
    "problems": "Busy Damaged InstallError PackageError Refused StepFailed",
    "reading": "package_from_json read_actions read_package",
    "writing": "package_to_json",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a name where it is first used: together they cost 50 ms of processor time (Python itself: 9)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found
