"""A node of its own for each test."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.install.world import World

MEMORY = Path("/dev/shm")


@pytest.fixture
def world() -> Iterator[World]:
    """In memory where that can be: thousands of installations are synced to the disk."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    made = World(folder / "root", folder / "daemons")
    made.root.mkdir()
    made.daemons.mkdir()
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(folder)
