"""Real pushes to a real server: every page of tests/cases/pushes is a conversation with the gate."""

from pathlib import Path

import pytest

from tests.transcripts import run

CASES = Path(__file__).parents[1] / "cases/pushes"


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(CASES.glob("*.md")), ids=lambda page: page.stem)
def test_the_gate_says_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    run(page, tmp_path, CASES / "start")
