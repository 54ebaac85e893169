"""The state database, opened: what is kept of nodes, releases, tokens and events."""

from sqlalchemy import Engine

from gitcfg.rollout.outcomes import AWAY
from gitcfg.state.checkins import Checkins
from gitcfg.state.database import opened
from gitcfg.state.events import Events
from gitcfg.state.migrations import migrate
from gitcfg.state.releases import Releases
from gitcfg.state.sessions import Sessions
from gitcfg.state.tokens import Tokens
from gitcfg.state.waking import Wake, Waking


class State:
    """Several threads and several servers may use it at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.checkins = Checkins(engine, AWAY)
        self.releases = Releases(engine)
        self.tokens = Tokens(engine)
        self.sessions = Sessions(engine)
        self.events = Events(engine)

    def listen(self, wake: Wake) -> Waking:
        """Call `wake`, in a thread, whenever another process has changed something."""
        return Waking(self._engine, wake).start()

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def connect(url: str) -> State:
    """Open `sqlite:///PATH` or `postgresql://...`, with all its tables. GitcfgError: it cannot be."""
    engine = opened(url)
    migrate(engine)
    return State(engine)
