"""Both databases, for tests that must hold with either."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitcfg.state.state import State, connect
from tests import postgres


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL server."""
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.running() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state.db"
    found: postgres.Server = request.getfixturevalue("server")
    return found.url("state")


@pytest.fixture
def state(url: str) -> Iterator[State]:
    """An empty state database."""
    found = connect(url)
    yield found
    found.close()
