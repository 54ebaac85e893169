"""GC201: what rules are about when they say who may change what."""

from collections.abc import Iterable, Iterator

from gitcfg.check.checked import FILES
from gitcfg.check.references import declared, missing, unreadable
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, Model, Ref
from gitcfg.model.names import is_glob
from gitcfg.model.rules import Permit

JUDGING = FILES
"""What says how a push is judged: to who may change what, these are rules by their files' names."""
_SHEETS = {"subsystem": "subsystems", "rule": "rules"}
"""Of these not even the names may be known."""


def rule_names(fleet: Fleet) -> Iterator[Finding]:
    """GC201 for every name that nothing has. Nodes come and go, and paths are the nodes' own."""
    for rule in fleet.model.rules.values():
        if rule.permit is not None:
            yield from _missing(fleet.model, rule.permit)
            yield from _parameters(fleet, rule.permit)


def _missing(model: Model, permit: Permit) -> Iterator[Finding]:
    groups = {*model.groups, model.settings.default_group}
    for noun, refs, known in (
        ("group", permit.groups, groups),
        ("subsystem", permit.subsystems, model.subsystems),
        ("template", permit.templates, {*model.templates, *model.sources}),
        ("secret", permit.secrets, model.secrets),
        ("rule", permit.rules, {*model.rules, *JUDGING}),
    ):
        if not unreadable(model, _SHEETS.get(noun, "")):
            found = (ref for ref in _exact(refs) if ref.name not in known)
            yield from (missing(noun, ref.name, ref.origin, known) for ref in found)


def _parameters(fleet: Fleet, permit: Permit) -> Iterator[Finding]:
    bound = {name for name, _ in fleet.bindings} if permit.params else ()
    for ref in _exact(permit.params):
        if ref.name not in bound and not declared(fleet, ref.name):
            yield missing("parameter", ref.name, ref.origin, fleet.model.parameters)


def _exact(refs: Iterable[Ref]) -> Iterator[Ref]:
    return (ref for ref in refs if not is_glob(ref.name))
