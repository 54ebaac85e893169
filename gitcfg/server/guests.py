"""Nodes that walked in: nobody describes them, and a release has to reach them like all others."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gitcfg.inventory.guests import unchanged
from gitcfg.server.fleets import Fleets
from gitcfg.server.outline import Outline
from gitcfg.server.view import View

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor


async def changed_guests(
    conductor: "Conductor", commit: str, outline: Outline, view: View
) -> tuple[str, ...]:
    """Those that have come and to which a commit brings something else than they have.

    Where names make no difference, one speaks for all that are offered the same commit now.
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
        same = await conductor.bench.do(partial(_unchanged, before, commit, names))
        found += [name for name in names if name not in same]
    return tuple(found)


def _unchanged(before: str, commit: str, names: list[str], fleets: Fleets) -> frozenset[str]:
    old, new = fleets.at(before), fleets.at(commit)
    if old.model.settings.walk_in is None and new.model.settings.walk_in is None:
        return frozenset(names)
    return unchanged(old, new, names, fleets.source.today)
