"""Asks again and again how nodes and releases stand; a server that is away for a while is waited for."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitcfg.cli.database import kept
from gitcfg.cli.exits import SOME_FAILED, TIME_RAN_OUT
from gitcfg.cli.serving.awaited import Awaited
from gitcfg.cli.serving.remote import Unreachable, ask
from gitcfg.cli.serving.said import Asked
from gitcfg.cli.serving.told import told
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import NodeState

PAUSE = 1.0
_RELEASES = 20
Look = tuple["list[NodeState]", list[Mapping[str, Any]]]
"""What all nodes have said, and the newest releases."""


class Looking:
    """Whoever has answered once is asked again where they no longer do. `lost` says why they do not."""

    def __init__(self, repository: "Repository", asked: Asked) -> None:
        self._repository = repository
        self._asked = asked
        self._heard = False
        self.lost = ""

    def now(self) -> Look | None:
        """How things stand; None: nobody answers now. GitcfgError: nobody ever did, or it is refused."""
        try:
            found = self._look()
        except GitcfgError as error:
            passing = self._asked.server is None or isinstance(error, Unreachable)
            if not self._heard or not passing:
                raise
            if not self.lost:
                text = f"note: {error.message} It is asked again until time runs out."
                print(text, file=sys.stderr, flush=True)
            self.lost = error.message
            return None
        self._heard, self.lost = True, ""
        return found

    def _look(self) -> Look:
        asked = self._asked
        if asked.server is not None:
            nodes = told(self._repository, asked)
            return nodes, ask(asked.server, asked.token, "/v1/releases")["releases"]
        with kept(self._repository, asked) as state:
            releases = [
                {"commit": one.commit, "status": one.progress.status.value, "why": one.progress.why}
                for one in state.releases.newest(_RELEASES)
            ]
            return state.checkins.nodes(), list[Mapping[str, Any]](releases)


def watch(looking: Looking, awaited: Awaited, seconds: float) -> None:
    """Wait until all run it. GitcfgError: time ran out, or nobody else gets it."""
    end = time.monotonic() + seconds
    late: Sequence[str] = awaited.names
    while True:
        seen = looking.now()
        if seen is not None:
            late = awaited.late(seen[0])
            if not late:
                return
            if stuck := awaited.stuck(seen[1]):
                why, hint = stuck
                raise GitcfgError(f"{why} {awaited.shows(late)}", hint, code=SOME_FAILED)
        if time.monotonic() + PAUSE > end:
            hint = "`gitcfg release status` says how far it has got."
            raise GitcfgError(awaited.shows(late), looking.lost, hint, code=TIME_RAN_OUT)
        time.sleep(PAUSE)
