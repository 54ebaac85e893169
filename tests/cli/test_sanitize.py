"""`gitcfg sanitize` as a command: what it writes where, what it refuses, and what it says."""

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from gitcfg.cli.main import run

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/corp.yaml": "parameters:\n  CORP_SIZE: {description: A, type: integer, default: 4711}\n",
    "features/Secretive.yaml": "params: {CORP_SIZE: many}\n",
    "groups/default.yaml": "features: [Secretive, Missing]\n",
    "nodes/acme-01.example.org.yaml": "{}\n",
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def sanitize(pool: Path, *words: str | Path) -> int:
    return run(["-C", str(pool), "sanitize", *map(str, words)])


def texts(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def codes(folder: Path, capfd: pytest.CaptureFixture[str]) -> list[tuple[str, int]]:
    capfd.readouterr()
    assert run(["-C", str(folder), "check", "-o", "json"]) == 1
    found = msgspec.json.decode(capfd.readouterr().out)["findings"]
    return [(finding["code"], finding["count"]) for finding in found]


def test_the_copy_is_wrong_where_the_original_is(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert sanitize(pool, tmp_path / "report") == 0
    assert "it has the same 2 findings" in capfd.readouterr().err
    said = " ".join(part for pair in texts(tmp_path / "report").items() for part in pair).lower()
    assert not [
        word for word in ("corp", "acme", "secretive", "missing", "4711", "many", "example") if word in said
    ]
    assert codes(tmp_path / "report", capfd) == codes(pool, capfd)


def test_the_last_commit_is_carried_over_and_nobody_is_named(pool: Path, tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        return subprocess.run(
            ["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True
        ).stdout

    git(pool, "init", "-q")
    git(pool, "add", ".")
    git(pool, "commit", "-qm", "Acme's first")
    (pool / "nodes/acme-01.example.org.yaml").unlink()
    git(pool, "commit", "-qam", "Acme's second")
    assert sanitize(pool, tmp_path / "report", "--at", "HEAD") == 0
    log = git(tmp_path / "report", "log", "--format=%an %cn %ae %at %s", "--stat")
    assert "1 file changed, 1 deletion" in log
    assert not [word for word in ("Ada", "Acme", "acme") if word in log]
    assert git(tmp_path / "report", "status", "--short") == ""


def test_a_key_is_made_once_and_gives_the_same_names(pool: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    assert sanitize(pool, tmp_path / "one", "--key", key) == 0
    made = key.read_bytes()
    assert os.stat(key).st_mode & 0o777 == 0o600
    assert sanitize(pool, tmp_path / "two", "--key", key) == 0
    assert sanitize(pool, tmp_path / "other") == 0
    assert key.read_bytes() == made
    assert texts(tmp_path / "one") == texts(tmp_path / "two") != texts(tmp_path / "other")


def test_a_short_key_is_refused(pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key").write_text("short")
    assert sanitize(pool, tmp_path / "report", "--key", tmp_path / "key") == 2
    assert "too short" in capfd.readouterr().err
    assert not (tmp_path / "report").exists()


def test_the_mapping_is_for_its_owner(pool: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "names.json"
    assert sanitize(pool, tmp_path / "report", "--mapping", mapping) == 0
    assert os.stat(mapping).st_mode & 0o777 == 0o600
    known = msgspec.json.decode(mapping.read_bytes())
    new = known["words"]["Secretive"]
    assert known["paths"]["features/Secretive.yaml"] == f"features/{new}.yaml"
    assert (tmp_path / "report" / f"features/{new}.yaml").is_file()
    assert sanitize(pool, tmp_path / "again", "--mapping", mapping) == 4
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("option", ["--key", "--mapping"])
def test_what_gives_names_away_does_not_lie_beside_them(pool: Path, tmp_path: Path, option: str) -> None:
    assert sanitize(pool, tmp_path / "report", option, tmp_path / "report/file") == 2
    assert not (tmp_path / "report").exists()


def test_nothing_is_overwritten(pool: Path, tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report/mine").write_text("mine")
    assert sanitize(pool, tmp_path / "report") == 4
    assert texts(tmp_path / "report") == {"mine": "mine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool", "report"]


def test_names_and_numbers_can_stay(pool: Path, tmp_path: Path) -> None:
    assert sanitize(pool, tmp_path / "report", "--keep", "parameters", "--keep", "numbers") == 0
    said = "".join(texts(tmp_path / "report").values())
    assert "CORP_SIZE" in said
    assert "4711" in said
    assert "Secretive" not in said


def test_a_finding_that_does_not_correspond_is_told(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = "description: d, schema: {pattern: '^[a-z]+host$'}, default: corphost"
    (pool / "parameters/more.yaml").write_text(f"parameters:\n  HOST: {{{said}}}\n")
    assert sanitize(pool, tmp_path / "report") == 1
    told = capfd.readouterr().err
    assert "besides: GC206 at parameters/" in told
    assert "--keep-names" in told
