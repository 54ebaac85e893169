"""Nodes that walked in: nobody describes them, and a release has to reach them like all others."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gitcfg.server.fleets import Fleets
from gitcfg.server.outline import Outline
from gitcfg.server.view import View

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor


async def changed_guests(
    conductor: "Conductor", commit: str, outline: Outline, view: View
) -> tuple[str, ...]:
    """Those that have come and to which a commit brings something else than they have.

    They get the same but for their names, so one speaks for all that are offered the same commit now.
    """
    if outline.walk_in is None:
        return ()
    alike: Mapping[str, list[str]] = defaultdict(list)
    for name, last in sorted(conductor.roll.nodes.items()):
        # Who has only asked runs nothing that could be kept, and may never say what came of it.
        if last.commit is not None and name not in outline.nodes and not view.knows(name):
            alike[view.released(name).commit].append(name)
    found: list[str] = []
    for before, names in alike.items():
        if await conductor.bench.do(partial(_differs, before, commit, names[0])):
            found += names
    return tuple(found)


def _differs(before: str, commit: str, name: str, fleets: Fleets) -> bool:
    return fleets.digest(before, name) != fleets.digest(commit, name)
