"""What is offered to forges, run for real: each script of the YAML, in a clone, against a forge's API."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.ci.forge import TOKEN, Forge, serving
from tests.ci.job import CI, Job, Workflow, document, script, wheel

pytestmark = pytest.mark.slow

GOOD = {
    "pool/gitcfg.yaml": "format: 1\n",
    "pool/parameters/p.yaml": (
        "parameters:\n  NUM: {description: A number., type: integer, restart: true}\n"
        "  X: {description: A text., type: string}\n"
    ),
    "pool/subsystems/s.yaml": "subsystems:\n  daemon: {description: D., params: [NUM]}\n",
    "pool/groups/default.yaml": "description: All.\nparams: {NUM: 1, X: a}\n",
    "pool/nodesets/n.yaml": "nodes: n[1-3]\nfiles: {/etc/app.json: {format: json, params: ['*']}}\n",
}


class Server(msgspec.Struct, frozen=True):
    """Where a project is, and the commits of a request."""

    url: str
    base: str
    head: str


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, files: dict[str, str], subject: str) -> str:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("wheel"))


def serve(tmp_path: Path, before: dict[str, str], *steps: dict[str, str]) -> Server:
    """A project whose request leads from what was before over some steps."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "--quiet")
    base = commit(work, before, "before")
    git(work, "checkout", "--quiet", "-b", "topic")
    heads = [commit(work, files, f"step {number}") for number, files in enumerate(steps)]
    git(work, "checkout", "--quiet", "main")
    commit(work, {"README": "later\n"}, "main goes on")
    git(tmp_path, "clone", "--quiet", "--bare", str(work), "served")
    return Server(f"file://{tmp_path}/served", base, heads[-1])


def cloned(tmp_path: Path, server: Server, *options: str) -> Path:
    git(tmp_path, "clone", "--quiet", "--branch", "topic", *options, server.url, "clone")
    return tmp_path / "clone"


FEW = {"pool/groups/default.yaml": "description: All.\nparams: {NUM: 2, X: a}\n"}
WRONG = {"pool/groups/default.yaml": "description: All.\nparams: {NUM: 2, Y: a}\n"}


def contexts(server: Server, forge: Forge, installed: Path, **inputs: str) -> dict[str, str]:
    """What GitHub's and Forgejo's runners know."""
    inputs_of = document("github/action.yml")["inputs"]
    said = {f"inputs.{name}": str(value.get("default", "")) for name, value in inputs_of.items()}
    said |= {"inputs.folder": "pool", "inputs.install": str(installed), "inputs.token": TOKEN}
    return {
        **said,
        **{f"inputs.{name}": value for name, value in inputs.items()},
        "github.event.pull_request": "yes",
        "github.event.pull_request.base.sha": server.base,
        "github.event.pull_request.head.sha": server.head,
        "github.event.pull_request.number": "7",
        "github.api_url": forge.address,
        "github.repository": "ada/pool",
        "github.token": TOKEN,
    }


def action(tmp_path: Path, server: Server, forge: Forge, installed: Path, **inputs: str) -> Workflow:
    job = Job(cloned(tmp_path, server, "--depth=1"), tmp_path, {})
    steps = document("github/action.yml")["runs"]["steps"]
    return Workflow(job, steps, contexts(server, forge, installed, **inputs))


@pytest.fixture
def github() -> Iterator[Forge]:
    with serving(Forge("github", "github-actions[bot]")) as forge:
        yield forge


def test_the_action_checks_and_comments(tmp_path: Path, github: Forge, installed: Path) -> None:
    server = serve(tmp_path, GOOD, FEW)
    workflow = action(tmp_path, server, github, installed)
    assert workflow.run()
    assert list(workflow.done) == [
        "Install gitcfg",
        "Fetch the commits to compare",
        "Check",
        "Show what changes",
    ]
    (body,) = github.bodies()
    assert body.startswith("<!-- gitcfg pool -->\n### gitcfg: 3 nodes change")
    assert "- Restart: **daemon** on 3" in body
    assert "+ NUM = 2" in body
    assert workflow.job.summary == body.partition("\n")[2]
    assert git(workflow.job.clone, "status", "--short") == ""


def test_the_action_shows_what_is_wrong_on_its_line_and_still_comments(
    tmp_path: Path, github: Forge, installed: Path
) -> None:
    server = serve(tmp_path, GOOD, WRONG, FEW, WRONG)
    workflow = action(tmp_path, server, github, installed, sarif="true", each="true")
    assert not workflow.run()
    assert workflow.done["Check"].code == 1
    assert "::error file=pool/groups/default.yaml,line=2,col=18,title=GC201 " in workflow.done["Check"].out
    assert "2 of 3 commits have errors." in workflow.done["Check every commit"].out
    assert len(github.bodies()) == 1
    assert workflow.done["Write SARIF"].code == 0
    (written,) = workflow.job.files["output"].read_text().split()
    (run,) = json.loads(Path(written.removeprefix("file=")).read_text())["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "pool/groups/default.yaml"


def test_a_fork_may_not_comment_and_sees_the_summary(tmp_path: Path, github: Forge, installed: Path) -> None:
    github.may_write = False
    workflow = action(tmp_path, serve(tmp_path, GOOD, FEW), github, installed)
    assert workflow.run()
    assert "::warning title=gitcfg::The comment could not" in workflow.done["Show what changes"].out
    assert "+ NUM = 2" in workflow.job.summary
    assert github.bodies() == []


def test_a_first_request_has_nothing_to_compare(tmp_path: Path, github: Forge, installed: Path) -> None:
    workflow = action(tmp_path, serve(tmp_path, {"README": "x\n"}, GOOD), github, installed)
    assert workflow.run()
    shown = workflow.done["Show what changes"].out
    assert "::notice title=gitcfg::The commit where this branch began has no gitcfg.yaml" in shown
    assert github.bodies() == []


def test_a_push_is_only_checked(tmp_path: Path, github: Forge, installed: Path) -> None:
    workflow = action(tmp_path, serve(tmp_path, GOOD, FEW), github, installed)
    workflow._contexts["github.event.pull_request"] = ""
    assert workflow.run()
    assert list(workflow.done) == ["Install gitcfg", "Check"]
    assert github.asked == []


MODULES = ("gitcfg", "pip", "venv", "json", "os", "sitecustomize")


def test_nothing_of_what_is_checked_is_run(tmp_path: Path, github: Forge, installed: Path) -> None:
    trap = "import pathlib; pathlib.Path(__file__).with_name('CANARY').touch()\n"
    traps = {f"{folder}{name}/__init__.py": trap for name in MODULES for folder in ("", "pool/")}
    traps |= {f"{folder}{name}.py": trap for name in MODULES for folder in ("", "pool/")}
    workflow = action(tmp_path, serve(tmp_path, GOOD, FEW | traps), github, installed)
    assert workflow.run()
    assert len(github.bodies()) == 1
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize("token", [TOKEN, ""])
def test_gitlab(tmp_path: Path, installed: Path, token: str) -> None:
    server = serve(tmp_path, GOOD, WRONG)
    template = document("gitlab.yml")
    with serving(Forge("gitlab", "project_42_bot")) as forge:
        said = {
            **{name: str(value) for name, value in template["variables"].items()},
            "GITCFG_FOLDER": "pool",
            "GITCFG_INSTALL": str(installed),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": server.base,
            "CI_COMMIT_SHA": server.head,
            "CI_API_V4_URL": forge.address,
            "CI_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_IID": "7",
            **({"GITCFG_TOKEN": token} if token else {}),
        }
        job = Job(cloned(tmp_path, server), tmp_path, said)
        check, diff = (job.run(script(template, name), {}) for name in ("gitcfg check", "gitcfg diff"))
    assert check.code == 1, check.out
    assert "--> groups/default.yaml:2:18" in check.out
    report = template["gitcfg check"]["artifacts"]["reports"]["codequality"]
    (entry,) = json.loads((job.clone / report).read_text())
    assert entry["location"] == {"path": "pool/groups/default.yaml", "lines": {"begin": 2}}
    assert diff.code == 0, diff.out
    note = (job.clone / template["gitcfg diff"]["artifacts"]["paths"][0]).read_text()
    assert "+ NUM = 2" in note
    assert forge.bodies() == ([f"<!-- gitcfg pool -->\n{note}"] if token else [])
    assert token or "GITCFG_TOKEN is not set" in diff.out


@pytest.mark.parametrize("change", [FEW, WRONG])
def test_forgejo(tmp_path: Path, installed: Path, change: dict[str, str]) -> None:
    server = serve(tmp_path, GOOD, change)
    workflow_file = document("forgejo.yml")
    with serving(Forge("forgejo", "forgejo-actions")) as forge:
        said = {**workflow_file["env"], "GITCFG_FOLDER": "pool", "GITCFG_INSTALL": str(installed)}
        job = Job(cloned(tmp_path, server), tmp_path, said)
        steps = workflow_file["jobs"]["gitcfg"]["steps"]
        workflow = Workflow(job, steps, contexts(server, forge, installed))
        assert workflow.run() is (change is FEW)
        assert workflow.done["Show what changes"].code == 0, workflow.done
    (body,) = forge.bodies()
    assert body.startswith("<!-- gitcfg pool -->\n### gitcfg: 3 nodes change")


def test_no_script_holds_an_expression() -> None:
    """What a request says (its branch's name, say) would be run by the shell."""
    steps = document("github/action.yml")["runs"]["steps"]
    steps += document("forgejo.yml")["jobs"]["gitcfg"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) >= 8
    assert not [script for script in scripts if "${{" in script]


def test_the_files_are_part_of_the_package() -> None:
    from gitcfg.bundled import folder

    assert (folder("hooks") / "ci" / "comment.py").is_file()
    assert sorted(path.name for path in CI.rglob("*.yml")) == ["action.yml", "forgejo.yml", "gitlab.yml"]
