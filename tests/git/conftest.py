"""Keys, and a repository for commits made by hand."""

import pytest

from tests.gate.signing import Keys, made
from tests.git.commits import Commits


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return made(tmp_path_factory.getbasetemp() / "keys")


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Commits:
    return Commits(tmp_path_factory.mktemp("commits"), keys)
