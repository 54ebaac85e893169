"""The fleet on which work is counted."""

from pathlib import Path

import pytest

from tests.work.pools import Pool, fleet_files


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """What nobody changes; tests share it, and each says what is kept when it begins."""
    return Pool(tmp_path_factory.mktemp("committed"), fleet_files())


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path / "pool", fleet_files())
