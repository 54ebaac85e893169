"""Where gitcfg is installed from: never by its name from an index, where that is anybody's."""

import re
import subprocess
from pathlib import Path

from tests.ci.job import ROOT, Job, document, script

_BY_NAME = re.compile(
    r"gitcfg(?:[-_]agent)?(?:\[\w[\w,]*\](?! @ git\+)|==)"
    r"|pip3? install (?:-\S+ )*[\"']?gitcfg(?:-agent)?(?=[\"'\s`]|$)"
)


def test_without_a_source_nothing_is_installed(tmp_path: Path) -> None:
    """By its name alone it would come from whoever has that on an index."""
    (tmp_path / "clone").mkdir()
    template = document("gitlab.yml")
    said = {name: str(value) for name, value in template["variables"].items()}
    gitlab = Job(tmp_path / "clone", tmp_path, said).run(script(template, "gitcfg check"), {})
    workflow = document("forgejo.yml")
    (install,) = [one for one in workflow["jobs"]["gitcfg"]["steps"] if one.get("name") == "Install gitcfg"]
    forgejo = Job(tmp_path / "clone", tmp_path / "clone", workflow["env"]).run(install["run"], {})
    for done in (gitlab, forgejo):
        assert done.code == 1
        assert done.out.startswith("GITCFG_INSTALL is not set: ")
        assert "gitcfg @ git+https://" in done.out


def test_a_copy_of_the_action_alone_installs_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "their/own/action"
    copy.mkdir(parents=True)
    steps = document("github/action.yml")["runs"]["steps"]
    (install,) = [one for one in steps if one["name"] == "Install gitcfg"]
    job = Job(copy, tmp_path, {"GITHUB_ACTION_PATH": str(copy), "RUNNER_TEMP": str(tmp_path)})
    done = job.run(install["run"], {"WANTED": "", "EXTRAS": "htcondor"})
    assert done.code == 1
    assert done.out.startswith("::error title=gitcfg::")
    assert "Set its input `install` to what pip installs" in done.out


def test_nobody_is_told_to_install_it_by_its_name() -> None:
    """Neither in documents nor in hints, examples or files for CI."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {
        f"{name}: {line.strip()}"
        for name in listed.splitlines()
        if not name.startswith(("tests/", "sample-repo/")) and (ROOT / name).is_file()
        for line in (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()
        if _BY_NAME.search(line)
    }
    assert not found
    for bad in ("gitcfg[solve]", "pip install gitcfg", "'gitcfg-agent==0.1'", "pip install -q 'gitcfg'"):
        assert _BY_NAME.search(bad), bad
    for good in ("gitcfg[solve] @ git+https://HOST/PATH", "pip install gitcfg_agent-*.whl", "pip install ."):
        assert not _BY_NAME.search(good), good
