"""Databases of earlier versions are brought up to date, with all that they hold."""

from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from gitcfg.model import GitcfgError
from gitcfg.state.database import changing, open_engine
from gitcfg.state.records import Checkin, OtherKey
from gitcfg.state.schema import MIGRATIONS
from gitcfg.state.state import connect, open_existing


def test_a_database_of_the_first_version(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    state = connect(url)
    state.checkins.record([Checkin("n1", 1.0, "key", commit="c")])
    state.close()
    engine = open_engine(url)
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
    engine = open_engine(url)
    with changing(engine) as connection:
        found = connection.execute(text("SELECT value FROM meta WHERE name = 'schema'")).scalar()
    engine.dispose()
    assert found == str(len(MIGRATIONS))


def test_who_only_looks_makes_no_tables(url: str) -> None:
    engine = open_engine(url)  # an empty file, or a database without tables
    with pytest.raises(GitcfgError, match="No server has used this database yet"):
        open_existing(url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    connect(url).close()
    found = open_existing(url)
    found.checkins.record([Checkin("n1", 1.0, "key")])
    assert [one.node for one in found.checkins.nodes()] == ["n1"]
    found.close()


@pytest.mark.parametrize(("schema", "said"), [("1", "has an older version"), ("99", "has schema 99")])
def test_who_only_looks_migrates_nothing(url: str, schema: str, said: str) -> None:
    connect(url).close()
    engine = open_engine(url)
    with changing(engine) as connection:
        connection.execute(text("UPDATE meta SET value = :schema WHERE name = 'schema'"), {"schema": schema})
    with pytest.raises(GitcfgError, match=said):
        open_existing(url)
    with changing(engine) as connection:
        assert connection.execute(text("SELECT value FROM meta WHERE name = 'schema'")).scalar() == schema
    engine.dispose()


def test_who_only_looks_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match=r"The database .* does not exist"):
        open_existing(f"sqlite:///{tmp_path}/state.db")
    assert not list(tmp_path.iterdir())
