"""One PostgreSQL for all tests, and a world of its own for each."""

import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import postgres
from tests.install.conftest import MEMORY
from tests.system.node import mixed
from tests.system.pool import Pool


@pytest.fixture(scope="session")
def database() -> Iterator[postgres.Server]:
    """PostgreSQL."""
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.running() as found:
        yield found


@pytest.fixture
def pool(tmp_path: Path, database: postgres.Server) -> Iterator[Pool]:
    """All of it, and no agent runs yet. At the end nobody may ever have run what no commit says."""
    if find_spec("htcondor2") is None:
        pytest.skip("HTCondor's parser is not installed: pip install '.[htcondor]'")
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    made = Pool(tmp_path, folder, database.url("pool"))
    try:
        made.serve_all()
        yield made
        assert not mixed(list(made.nodes.values()))
    finally:
        made.close()
        shutil.rmtree(folder)
