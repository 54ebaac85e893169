"""What must happen on a node that goes from one commit to another (`gitcfg.changes/1`)."""

from collections.abc import Mapping

import msgspec

from gitcfg.comparison.change import Delta
from gitcfg.comparison.comparison import uncovered
from gitcfg.library import Fleet, compare
from gitcfg.render.files import subsystems

SCHEMA = "gitcfg.changes/1"


class Steps(msgspec.Struct, frozen=True, rename={"before": "from", "after": "to"}):
    """Subsystems to restart, reload and stop, and what changes; `before` is None where nothing was."""

    node: str
    before: str | None
    after: str
    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    params: Mapping[str, Delta] = {}
    schema: str = SCHEMA

    def encoded(self) -> bytes:
        """As JSON, the same bytes wherever it is written."""
        return msgspec.json.encode(self, order="sorted")


def steps(old: Fleet | None, new: Fleet, name: str) -> Steps:
    """What must happen on a node; one that had nothing before starts everything that runs on it."""
    after = new.commit or ""
    if old is None or name not in old:
        part = new.valued([name])
        node = part.compiled[name]
        here = subsystems(part.compiled, node)
        restart, restarted = uncovered((each for each, said in here.items() if said.restart), here)
        reload = tuple(each for each, said in here.items() if said.reload and each not in restarted)
        return Steps(name, None, after, restart, reload, files=tuple(sorted(node.entries)))
    changes = compare(old, new, [name]).changes
    if not changes:
        return Steps(name, old.commit, after)
    found = changes[0]
    return Steps(name, old.commit, after, found.restart, found.reload, found.stop, found.files, found.params)
