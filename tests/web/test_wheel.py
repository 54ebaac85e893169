"""The wheel has all that pages are made of."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gitcfg.web

ROOT = Path(__file__).parents[2]
FOLDER = Path(gitcfg.web.__file__).parent


@pytest.mark.slow
def test_the_wheel_has_templates_style_script_and_icon(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    words = [*pip, "wheel", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    built = subprocess.run(words, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    wanted = {
        f"gitcfg/web/{path.relative_to(FOLDER)}"
        for path in FOLDER.rglob("*")
        if path.suffix in (".j2", ".css", ".js", ".svg")
    }
    assert {f"gitcfg/web/{name}" for name in ("style.css", "live.js", "icon.svg")} <= wanted
    assert len(wanted) > 10
    assert wanted <= names
    assert "gitcfg/py.typed" in names


def test_who_uses_the_library_gets_its_types() -> None:
    """The wheel has all of the package; this file says that its types are meant (PEP 561)."""
    assert 'packages = ["gitcfg"]' in (ROOT / "pyproject.toml").read_text()
    assert (ROOT / "gitcfg/py.typed").is_file()
