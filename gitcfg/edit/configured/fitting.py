"""Whether a value that was given to a parameter fits."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from gitcfg.check.definitions import definitions
from gitcfg.compile.fleet import Fleet
from gitcfg.load.repository import findings_so_far
from gitcfg.model import Finding, Group, Node, Op

_OTHERS = ("features", "nodes", "nodesets", "overrides", "subsystems", "rules")
_FITS = ("GC206", "GC201")


def check_binding(fleet: Fleet, found: Node | Group, param: str) -> tuple[Finding, ...]:
    """What is wrong with what a definition binds a parameter to; nothing else is looked at."""
    return tuple(_unread(fleet, found)) or tuple(_misfits(fleet, found, param))


def _unread(fleet: Fleet, found: Node | Group) -> Iterator[Finding]:
    """What was wrong with its file when it was read."""
    for finding in findings_so_far(fleet.model):
        if any(origin.file == found.origin.file for origin in finding.origins):
            yield finding


def _misfits(fleet: Fleet, found: Node | Group, param: str) -> Iterator[Finding]:
    """The checks of single bindings, of a model that has only this one."""
    binding = found.params.get(param)
    if binding is None or binding.op is Op.UNSET:
        return
    lone = Group(found.name, found.origin, params={param: binding})
    none: dict[str, Any] = {kind: {} for kind in _OTHERS}
    model = replace(fleet.model, groups={found.name: lone}, **none)
    alone = Fleet(model, fleet.tree, fleet.today, fleet.declarations.implied)
    for finding in definitions(alone):
        if finding.code in _FITS and binding.at in finding.origins:
            yield finding
