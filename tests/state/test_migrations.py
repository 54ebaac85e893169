"""Databases of earlier versions are brought up to date, with all that they hold."""

from pathlib import Path

from sqlalchemy import text

from gitcfg.state import Checkin, connect
from gitcfg.state.database import changing, opened
from gitcfg.state.migrations import MIGRATIONS
from gitcfg.state.records import OtherKey


def test_a_database_of_the_first_version(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    state = connect(url)
    state.checkins.record([Checkin("n1", 1.0, "key", commit="c")])
    state.close()
    engine = opened(url)
    with changing(engine) as connection:
        connection.execute(text("ALTER TABLE nodes DROP COLUMN other"))
        connection.execute(text("UPDATE meta SET value = '1' WHERE name = 'schema'"))
    engine.dispose()

    state = connect(url)
    (found,) = state.checkins.nodes()
    assert (found.node, found.commit, found.other) == ("n1", "c", None)
    other = OtherKey("new", 2.0, "10.0.0.1")
    state.claims.other("n1", "key", other)
    found = state.checkins.nodes()[0]
    assert (found.other, found.last, found.key) == (other, 1.0, "key")
    state.claims.other("n2", "theirs", other)
    assert state.checkins.node("n2") is not None
    state.close()


def test_a_new_database_is_of_the_newest(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    connect(url).close()
    engine = opened(url)
    with changing(engine) as connection:
        found = connection.execute(text("SELECT value FROM meta WHERE name = 'schema'")).scalar()
    engine.dispose()
    assert found == str(len(MIGRATIONS))
