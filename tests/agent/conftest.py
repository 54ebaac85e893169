"""A node and a server of its own for each test."""

from collections.abc import Iterator

import pytest

from tests.agent.server import Book, serving
from tests.agent.site import Site
from tests.install.conftest import world
from tests.install.world import World

__all__ = ["site", "world"]


@pytest.fixture
def site(world: World) -> Iterator[Site]:
    """Configured, and not accepted yet."""
    book = Book()
    with serving(book) as url:
        made = Site(world, book, url)
        made.configure()
        try:
            yield made
        finally:
            made.end()
