"""Databases that lose room, or their file; and nodes that are forgotten everywhere."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from gitcfg.model import GitcfgError
from gitcfg.state.database import changing, open_engine
from gitcfg.state.nodes import FORGOTTEN
from gitcfg.state.records import Checkin, Role
from gitcfg.state.state import State, connect

NOW = 1_700_000_000.0


def test_who_is_forgotten_is_told_once_and_together_with_it(state: State) -> None:
    state.checkins.record([Checkin(name, NOW, "k") for name in ("a", "b", "c")])
    state.forget(["c", "a"], NOW + 5)
    assert [one.node for one in state.checkins.nodes()] == ["b"]
    told = [(one.kind, one.node, one.at) for one in state.events.after(0)]
    assert told == [(FORGOTTEN, "c", NOW + 5), (FORGOTTEN, "a", NOW + 5)]
    state.forget([], NOW)
    assert len(state.events.after(0)) == 2


def test_a_token_is_known_where_nothing_can_be_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    state, writer = connect(url), open_engine(url)
    token = state.tokens.create("ops", Role.OPERATE, NOW)
    session = state.sessions.begin(token, NOW)
    assert session is not None
    state.probe(NOW)
    with closing(sqlite3.connect(tmp_path / "state.db")) as broken, broken:
        for table in ("tokens", "meta", "nodes"):  # as if there were no room: what is there can be read
            for what in ("INSERT", "UPDATE"):
                raised = "SELECT RAISE(FAIL, 'database or disk is full')"
                broken.execute(f"CREATE TRIGGER {table}_{what} BEFORE {what} ON {table} BEGIN {raised}; END")
    for found in (state.tokens.find_holder(token, NOW), state.sessions.find_holder(session, NOW)):
        assert found is not None
        assert (found.name, found.role, found.used) == ("ops", Role.OPERATE, None)
    with pytest.raises(GitcfgError, match="disk is full"):
        state.probe(NOW)
    with pytest.raises(GitcfgError, match="disk is full"):
        state.checkins.record([Checkin("a", NOW, "k", "once"), Checkin("b", NOW, "k", "twice")])
    with changing(writer) as connection:
        assert connection.execute(text("SELECT count(*) FROM nonces")).scalar() == 0
        for table in ("tokens", "meta", "nodes"):
            for what in ("INSERT", "UPDATE"):
                connection.execute(text(f"DROP TRIGGER {table}_{what}"))
    assert state.checkins.record([Checkin("a", NOW, "k", "once")]) == (True,)
    state.close()
    writer.dispose()


def test_a_file_that_is_gone_is_not_made_anew_and_one_put_in_its_place_is_read(tmp_path: Path) -> None:
    file, other = tmp_path / "state.db", tmp_path / "other.db"
    state = connect(f"sqlite:///{file}")
    assert file.stat().st_mode & 0o777 == 0o600
    state.checkins.record([Checkin("a", NOW)])
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(other)) as target:
        source.backup(target)
    shutil.move(file, tmp_path / "away.db")
    for _ in range(2):
        with pytest.raises(GitcfgError, match="unable to open database file"):
            state.checkins.record([Checkin("b", NOW)])
    assert not file.exists()
    os.replace(other, file)
    state.checkins.record([Checkin("c", NOW)])
    assert [one.node for one in state.checkins.nodes()] == ["a", "c"]
    state.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:////"])
def test_an_address_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(GitcfgError):
        connect(url)
