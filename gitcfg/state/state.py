"""The state database, opened: what is kept of nodes, releases, tokens and events."""

from collections.abc import Sequence

from sqlalchemy import Engine

from gitcfg.model import GitcfgError
from gitcfg.state.checkins import Checkins
from gitcfg.state.claims import Claims
from gitcfg.state.database import changing, insert, opened, opened_as_it_is
from gitcfg.state.deploys import Deploys
from gitcfg.state.events import Events
from gitcfg.state.forgetting import forget
from gitcfg.state.migrations import judge, migrate
from gitcfg.state.releases import Releases
from gitcfg.state.sessions import Sessions
from gitcfg.state.tables import META
from gitcfg.state.tokens import Tokens
from gitcfg.state.waking import Wake, Waking


class State:
    """Several threads and several servers may use it at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.checkins = Checkins(engine)
        self.claims = Claims(engine)
        self.deploys = Deploys(engine)
        self.releases = Releases(engine)
        self.tokens = Tokens(engine)
        self.sessions = Sessions(engine)
        self.events = Events(engine)

    def listen(self, wake: Wake) -> Waking:
        """Call `wake`, in a thread, whenever another process has changed something."""
        return Waking(self._engine, wake).start()

    def forget(self, names: Sequence[str], at: float) -> None:
        """Know nothing of nodes any more, and let every server that runs forget them."""
        forget(self._engine, names, at)

    def probe(self, now: float) -> None:
        """Write what nobody reads. GitcfgError: the database takes nothing."""
        with changing(self._engine) as connection:
            said = insert(connection, META).values(name="probed", value=str(now))
            connection.execute(
                said.on_conflict_do_update(index_elements=["name"], set_={"value": said.excluded.value})
            )

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def connect(url: str) -> State:
    """Open `sqlite:///PATH` or `postgresql://...`, with all its tables. GitcfgError: it cannot be."""
    engine = opened(url)
    migrate(engine)
    return State(engine)


def looked(url: str) -> State:
    """Open a database that a server uses, as it is. GitcfgError: none does, or one of another version."""
    engine = opened_as_it_is(url)
    try:
        judge(engine)
    except GitcfgError:
        engine.dispose()
        raise
    return State(engine)
