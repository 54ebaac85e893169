"""The nodes that holds keep at a commit."""

from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from gitcfg.server import source
from gitcfg.server.fleets import Fleets
from gitcfg.server.outline import Held
from gitcfg.state import State

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor


async def held_nodes(conductor: "Conductor", holds: list[Held], accepted: str) -> dict[str, tuple[str, Held]]:
    """The nodes that are held, the last hold in order of name counts; one that leads nowhere is told."""
    found: dict[str, tuple[str, Held]] = {}
    for hold in holds:
        commit = await conductor.bench.do(partial(_reach, hold.commit))
        if commit is None:
            await _astray(conductor, hold)
            found |= {name: (_kept(conductor, name, accepted), hold) for name in hold.nodes}
        else:
            found |= dict.fromkeys(hold.nodes, (commit, hold))
    return found


async def lifted(conductor: "Conductor", holds: Iterable[Held], before: date | None, today: date) -> None:
    """Say which holds ended since a day."""
    for hold in holds:
        if before is not None and before <= hold.until < today:
            said = {"hold": hold.name, "commit": hold.commit, "message": f"It ended on {hold.until}."}
            conductor.log.info("a hold is lifted", extra={"said": said})
            await conductor.ask(partial(_tell, conductor.clock(), said))


def _tell(now: float, said: dict[str, str], state: State) -> None:
    state.events.add(now, "hold", said)


def _kept(conductor: "Conductor", name: str, accepted: str) -> str:
    """A node whose hold leads nowhere keeps what it runs, or was offered."""
    known = conductor.roll.nodes.get(name)
    if known is not None and known.commit is not None:
        return known.commit
    return conductor.view.offer(name).commit if conductor.view is not None else accepted


async def _astray(conductor: "Conductor", hold: Held) -> None:
    said = {"hold": hold.name, "commit": hold.commit, "message": "No protected branch has that commit."}
    if said not in conductor.strayed:
        conductor.strayed.append(said)
        conductor.log.warning("a hold leads nowhere", extra={"said": said})
        await conductor.ask(partial(_tell, conductor.clock(), said))


def _reach(text: str, fleets: Fleets) -> str | None:
    return source.reachable(fleets.source.repository, text)
