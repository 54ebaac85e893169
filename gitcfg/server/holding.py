"""The nodes that holds keep at a commit."""

from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from gitcfg.server import source
from gitcfg.server.fleets import FleetCache
from gitcfg.server.outline import OutlineHold
from gitcfg.state import State

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller


async def find_held_nodes(
    controller: "Controller", holds: list[OutlineHold], accepted: str
) -> dict[str, tuple[str, OutlineHold]]:
    """Find the nodes that are held. Of several holds the last by name counts; lost commits are reported."""
    found: dict[str, tuple[str, OutlineHold]] = {}
    for hold in holds:
        commit = await controller.worker.run(partial(_find_commit, hold.commit))
        if commit is None:
            await _report_lost_hold(controller, hold)
            found |= {name: (_present_commit(controller, name, accepted), hold) for name in hold.nodes}
        else:
            found |= dict.fromkeys(hold.nodes, (commit, hold))
    return found


async def report_lifted_holds(
    controller: "Controller", holds: Iterable[OutlineHold], before: date | None, today: date
) -> None:
    """Report holds that ended since a day."""
    for hold in holds:
        if before is not None and before <= hold.until < today:
            data = {"hold": hold.name, "commit": hold.commit, "message": f"It ended on {hold.until}."}
            controller.log.info("a hold is lifted", extra={"fields": data})
            await controller.with_state(partial(_add_hold_event, controller.clock(), data))


def _add_hold_event(now: float, data: dict[str, str], state: State) -> None:
    state.events.add(now, "hold", data)


def _present_commit(controller: "Controller", name: str, accepted: str) -> str:
    """Return what a node runs or was offered, which it keeps if its hold's commit is lost."""
    known = controller.registry.nodes.get(name)
    if known is not None and known.commit is not None:
        return known.commit
    return controller.view.offer(name).commit if controller.view is not None else accepted


async def _report_lost_hold(controller: "Controller", hold: OutlineHold) -> None:
    data = {"hold": hold.name, "commit": hold.commit, "message": "No protected branch has that commit."}
    if data not in controller.lost_holds:
        controller.lost_holds.append(data)
        controller.log.warning("a hold leads nowhere", extra={"fields": data})
        await controller.with_state(partial(_add_hold_event, controller.clock(), data))


def _find_commit(text: str, fleets: FleetCache) -> str | None:
    return source.find_reachable(fleets.source.repository, text)
