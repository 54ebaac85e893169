"""Walk-in nodes: git does not describe them, but a release has to reach them too."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gitcfg.inventory.guests import unchanged
from gitcfg.server.fleets import FleetCache
from gitcfg.server.outline import Outline
from gitcfg.server.view import View

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller


async def find_changed_walk_ins(
    controller: "Controller", commit: str, outline: Outline, view: View
) -> tuple[str, ...]:
    """Find walk-in nodes that get something else by a commit than they have.

    Where names make no difference, one speaks for all that are offered the same commit now.
    """
    if outline.walk_in is None:
        return ()
    alike: Mapping[str, list[str]] = defaultdict(list)
    for name, last in sorted(controller.registry.nodes.items()):
        # Who has only asked runs nothing that could be kept, and may never say what came of it.
        if last.commit is not None and name not in outline.nodes and not view.knows(name):
            alike[view.released(name).commit].append(name)
    found: list[str] = []
    for before, names in alike.items():
        same = await controller.worker.run(partial(_find_unchanged, before, commit, names))
        found += [name for name in names if name not in same]
    return tuple(found)


def _find_unchanged(before: str, commit: str, names: list[str], fleets: FleetCache) -> frozenset[str]:
    old, new = fleets.at(before), fleets.at(commit)
    if old.model.settings.walk_in is None and new.model.settings.walk_in is None:
        return frozenset(names)
    return unchanged(old, new, names, fleets.source.today)
