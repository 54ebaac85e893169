"""The open state database: nodes, releases, tokens and events."""

from collections.abc import Callable, Sequence

from sqlalchemy import Engine

from gitcfg.model import GitcfgError
from gitcfg.state.database import changing, open_engine
from gitcfg.state.events import ChangeWatcher, Events
from gitcfg.state.nodes import Checkins, Claims, Deploys, forget
from gitcfg.state.releases import Releases
from gitcfg.state.schema import check_schema, migrate, set_meta
from gitcfg.state.tokens import Sessions, Tokens


class State:
    """The state database, which several threads and several servers may use at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.checkins = Checkins(engine)
        self.claims = Claims(engine)
        self.deploys = Deploys(engine)
        self.releases = Releases(engine)
        self.tokens = Tokens(engine)
        self.sessions = Sessions(engine)
        self.events = Events(engine)

    def listen(self, wake: Callable[[], object]) -> ChangeWatcher:
        """Call `wake`, in a thread, each time another process has changed something."""
        return ChangeWatcher(self._engine, wake).start()

    def forget(self, names: Sequence[str], at: float) -> None:
        """Delete all information about nodes, and make every running server forget them."""
        forget(self._engine, names, at)

    def probe(self, now: float) -> None:
        """Write a value that is never read. Raise GitcfgError if the database cannot be written."""
        with changing(self._engine) as connection:
            set_meta(connection, "probed", str(now))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def connect(url: str) -> State:
    """Open `sqlite:///PATH` or `postgresql://...`, with all tables. Raise GitcfgError if that fails."""
    engine = open_engine(url)
    migrate(engine)
    return State(engine)


def open_existing(url: str) -> State:
    """Open a database that a server uses.

    Raise GitcfgError if none does, or if its version is another one.
    """
    engine = open_engine(url, create=False)
    try:
        check_schema(engine)
    except GitcfgError:
        engine.dispose()
        raise
    return State(engine)
