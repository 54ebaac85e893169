"""One place for all tests of the pages."""

from collections.abc import Iterator

import pytest

from tests.web.place import Place


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("web"))
    with found.server:
        found.live()
        yield found
