"""The plan that leads from what stands to what is meant. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from .entries import drifted, removed, written
from .order import RELOAD, RESTART, Chosen, Debt, choose
from .package import RETIRED
from .plan import Plan
from .policy import Policy, refusals
from .problems import PackageError, Refused
from .request import Request, asked, paths_of
from .steps import activations, resolved_check, stopping, stops


def permit(request: Request, policy: Policy, state: str) -> None:
    """Refused where the node's own policy forbids a path or a command; `state` is the state folder's path."""
    commands = [command for found in request.new.running.values() for command in found.commands]
    commands += [found.stop for found in stopping(request)]
    refused = refusals(policy, paths_of(request.old, request.new), commands, state)
    if refused:
        raise Refused("\n".join(refused))


def make_plan(request: Request) -> Plan:
    """Files, folders, steps and checks; Obstacle where something stands that is neither file nor link."""
    writes = tuple(written(request))
    removes = tuple(removed(request))
    chosen = _chosen(request, drifted(request))
    covered = (name for names in chosen.covered.values() for name in names)
    concerned = sorted({*chosen.restart, *chosen.reload, *covered})
    checks = ((name, resolved_check(request.new.running[name].check, request.resolve)) for name in concerned)
    return Plan(
        entries=(*writes, *removes),
        folders=request.missing if writes else (),
        steps=(*stops(request), *activations(request, chosen)),
        checks=tuple((name, check) for name, check in checks if check),
    )


def _owed(request: Request) -> Iterable[Debt]:
    """What no longer runs owes nothing; what owes its stop, and is to run now, may have other files."""
    return (one for one in request.owed if one.name in request.new.running)


def _chosen(request: Request, mended: Iterable[str]) -> Chosen:
    here, wanted = request.new.running, asked(request)
    concerns = [pair for path in mended for pair in request.new.meant[path].concerns.items()]
    if request.new.state == RETIRED:
        return choose({}, (), ())
    concerns += [(one.name, RELOAD if one.kind == RELOAD else RESTART) for one in _owed(request)]
    restart = {*wanted.restart, *(name for name, way in concerns if way == RESTART)}
    reload = {*wanted.reload, *(name for name, way in concerns if way == RELOAD)}
    strangers = sorted((restart | reload) - set(here))
    if strangers:
        raise PackageError(f"The subsystem {strangers[0]!r} is to be activated and is not in the package.")
    return choose(here, restart, reload)
