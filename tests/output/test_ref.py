"""Rendered refs: a commit holds what a folder would, work follows what changed, and nothing is ever lost."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from gitcfg.cli.main import run
from gitcfg.generate.repository import repository
from gitcfg.git.commit import RenderedRef, Tip, parse_trailers
from gitcfg.model import GitcfgError
from gitcfg.output.branch import PublishRequest
from gitcfg.output.folder import Scope
from gitcfg.output.source import File, FleetSource, Unmade
from tests.comparison.test_concerned import edited
from tests.compile.fleets import TODAY, mixed
from tests.output.rendered import ENVIRONMENT, REF, Pool, errors, simple
from tests.seeds import many, mostly_slow
from tests.work.counting import counting
from tests.work.processes import ended, forked
from tests.work.versions import versions


def random(seed: int, count: int) -> list[dict[str, str]]:
    """Versions one after another, some with mistakes."""
    return [version.files for version in versions(seed, count)]


@pytest.mark.parametrize("seed", mostly_slow(many(0, 5)))
def test_a_ref_holds_what_a_folder_does(seed: int, tmp_path: Path) -> None:
    sound = repository(mixed(seed))
    other = {path: text.replace("value-", "other-") for path, text in sound.items()}
    pool = Pool(tmp_path, [sound, other, *(edited(sound, Random(seed)) for _ in range(2)), *random(seed, 4)])
    before: dict[str, tuple[str, str]] = {}
    commits = 0
    for number, commit in enumerate(pool.commits):
        with pool.fleet(number) as fleet:
            found = errors(fleet)
        outcome = pool.publish(number)
        assert not outcome.refused or any(not finding.nodes for finding in found)
        if outcome.refused:
            assert outcome.commit is None
            assert not commits or pool.shown() == before
            continue
        assert outcome.commit == pool.tip()
        commits += 1
        held = set(outcome.held)
        assert held >= {name for finding in found for name in finding.nodes} | {n for n, _ in outcome.unmade}
        folder = pool.folder(number, tmp_path / str(number))
        meant = {path: what for path, what in folder.items() if path.partition("/")[0] not in held}
        stays = {path: what for path, what in before.items() if path.partition("/")[0] in held}
        assert pool.shown() == meant | stays
        assert f"Gitcfg-Source: {commit}\n" in pool.git("log", "-1", "--format=%B", REF) + "\n"
        before = pool.shown()
    assert commits == (len(pool.git("rev-list", REF).split()) if commits else 0)
    assert commits >= 2, "the example has little to show"
    pool.git("fsck", "--strict")


def test_what_is_unchanged_keeps_its_id_and_is_not_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = FleetSource.files

    def files(self: FleetSource, node: str) -> Iterator[File | Unmade]:
        asked.append(node)
        return real(self, node)

    monkeypatch.setattr(FleetSource, "files", files)
    pool = Pool(tmp_path, [simple(), simple(a="two"), simple(a="two")])
    assert (pool.publish(0).rendered, sorted(asked)) == (3, ["a1", "a2", "b1"])
    first, asked[:] = pool.shown(), []
    with counting() as work:
        outcome = pool.publish(1)
    assert (outcome.rendered, outcome.changed, asked) == (2, 2, ["a1", "a2"])
    assert {path for path, what in pool.shown().items() if first[path] == what} == {"b1/etc/motd"}
    assert work.total("compiled") <= 2
    asked[:] = []
    tree = pool.git("rev-parse", f"{REF}^{{tree}}")
    outcome = pool.publish(2)
    assert (outcome.rendered, outcome.changed, asked) == (0, 0, [])
    assert pool.git("rev-parse", f"{REF}^{{tree}}") == tree
    assert parse_trailers(pool.git("log", "-1", "--format=%B", REF))["Gitcfg-Source"] == pool.commits[2]


def test_nothing_is_committed_twice(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple()])
    tip = pool.publish(0).commit
    objects = pool.git("count-objects", "-v")
    assert pool.publish(0).commit is None
    assert (pool.tip(), pool.git("count-objects", "-v")) == (tip, objects)


def test_another_version_of_gitcfg_renders_everything_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two")])
    pool.publish(0)
    monkeypatch.setattr("gitcfg.output.branch.__version__", "99")
    outcome = pool.publish(1)
    assert (outcome.rendered, outcome.changed) == (3, 2)


def test_a_node_that_is_gone_vanishes(tmp_path: Path) -> None:
    less = {path: text for path, text in simple().items() if path != "nodes/a2.yaml"}
    pool = Pool(tmp_path, [simple(), less])
    pool.publish(0)
    assert pool.publish(1).gone == 1
    assert sorted(pool.shown()) == ["a1/etc/motd", "b1/etc/motd"]


def test_a_node_without_files_has_no_folder(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(), {**simple(), "groups/a.yaml": "description: No files.\n"}])
    pool.publish(0)
    assert pool.publish(1).gone == 2
    assert list(pool.shown()) == ["b1/etc/motd"]


def test_nodes_with_errors_stay_as_they_were_until_they_have_none(tmp_path: Path) -> None:
    wrong = {**simple(a="two", b="two"), "nodes/b1.yaml": "groups: [b]\nfeatures: [none]\n"}
    pool = Pool(tmp_path, [simple(), wrong, wrong | {"groups/a.yaml": ""}, simple(a="two", b="two")])
    pool.publish(0)
    first = pool.shown()
    outcome = pool.publish(1)
    assert (outcome.held, outcome.changed) == (("b1",), 2)
    assert pool.shown()["b1/etc/motd"] == first["b1/etc/motd"]
    assert pool.shown()["a1/etc/motd"] != first["a1/etc/motd"]
    assert "Gitcfg-Held: b1" in pool.git("log", "-1", "--format=%B", REF)
    tip = pool.tip()
    assert (pool.publish(1).commit, pool.tip()) == (None, tip)
    assert pool.publish(3).held == ()
    assert pool.shown() == pool.folder(3, tmp_path / "out")


def test_errors_about_no_node_leave_everything_as_it_was(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two") | {"nodes/b1.yaml": "groups: [b\n"}])
    tip = pool.publish(0).commit
    outcome = pool.publish(1)
    assert [finding.code for finding in outcome.refused] == ["GC101"]
    assert (outcome.commit, pool.tip()) == (None, tip)


def test_a_template_that_fails_on_one_node_holds_that_one(tmp_path: Path) -> None:
    template = {
        "templates/t.j2": "{{ 1 // (node.name != 'a2')|int }}\n",
        "groups/a.yaml": "files: {/etc/t: {template: t.j2}}\n",
    }
    pool = Pool(tmp_path, [simple(), simple() | template])
    pool.publish(0)
    outcome = pool.publish(1)
    assert (outcome.unmade, outcome.held) == ((("a2", "/etc/t"),), ("a2",))
    assert sorted(pool.shown()) == ["a1/etc/t", "a2/etc/motd", "b1/etc/motd"]


def test_some_nodes_are_rendered_and_the_rest_stays(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two", b="two"), simple(a="two", b="two")])
    pool.publish(0)
    first = pool.shown()
    with pool.fleet(1) as fleet:
        pool.publisher().publish(fleet, PublishRequest(("a1",), Scope.NAMED))
    assert {path for path, what in pool.shown().items() if first[path] != what} == {"a1/etc/motd"}
    assert "Gitcfg-Nodes: a1" in pool.git("log", "-1", "--format=%B", REF)
    outcome = pool.publish(2)
    assert outcome.rendered == 3, "what some nodes were rendered from says nothing of the others"
    assert pool.shown() == pool.folder(2, tmp_path / "out")


@pytest.mark.parametrize(
    "path",
    ["/etc/.git/config", "/.GIT", "/a/git~1/x", "/etc/.git. /x", "/x\\\\.git/y"],
)
def test_paths_that_git_cannot_have_end_in_an_error(path: str, tmp_path: Path) -> None:
    bad = simple() | {"groups/a.yaml": f'files: {{"{path}": {{text: x}}}}\n'}
    pool = Pool(tmp_path, [simple(), bad, bad])
    tip = pool.publish(0).commit
    with pool.fleet(1) as fleet:
        assert not errors(fleet), "it must be git that refuses"
    with pytest.raises(GitcfgError):
        pool.publish(1)
    assert pool.tip() == tip
    pool.git("fsck", "--strict")


@pytest.mark.parametrize("name", ["main", "refs/heads/main", "other", "refs/tags/t", "alias", "foreign"])
def test_refs_that_are_others_are_left_alone(name: str, tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple()])
    pool.git("symbolic-ref", "HEAD", "refs/heads/main")
    for ref in ("refs/heads/main", "refs/heads/other"):
        pool.git("update-ref", ref, pool.commits[0])
    pool.git("update-ref", "refs/tags/t", f"{pool.commits[0]}^{{tree}}")
    pool.git("symbolic-ref", "refs/heads/alias", "refs/heads/nowhere")
    foreign = pool.git("commit-tree", f"{pool.commits[0]}:nodes", "-m", "Gitcfg-Source: x")
    pool.git("update-ref", "refs/heads/foreign", foreign)
    before = pool.git("for-each-ref")
    with pytest.raises(GitcfgError) as refused:
        pool.publish(0, pool.publisher(name))
    assert refused.value.code == 4
    assert pool.git("for-each-ref") == before


def test_a_ref_that_cannot_be_moved_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.git.commit._PAUSE", 0)
    pool = Pool(tmp_path, [simple(), simple(a="two")])
    tip = pool.publish(0).commit
    (pool.place / f"{REF}.lock").touch()
    with pytest.raises(GitcfgError) as told:
        pool.publish(1)
    assert "\n" not in told.value.message
    assert told.value.hints == ("Remove the lock file if no git process is running there.",)
    (pool.place / f"{REF}.lock").unlink()
    with pytest.raises(GitcfgError, match=r"Cannot move .*: .* exists"):
        pool.publish(1, pool.publisher(f"{REF}/below"))
    assert pool.tip() == tip


@pytest.mark.parametrize("name", ["", "a..b", "refs/heads/", "-x y", "a\nb"])
def test_what_is_no_name_of_a_ref_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="not a valid ref name"):
        Pool(tmp_path, [simple()]).publisher(name)


def test_nothing_is_written_from_quarantine(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="not accepted yet"):
        Pool(tmp_path, [simple()]).publisher(environment={**ENVIRONMENT, "GIT_QUARANTINE_PATH": "x"})


def test_who_is_faster_comes_first_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two"), simple(b="two")])
    pool.publish(0)
    real, busy = RenderedRef.move, list[str]()

    def move(self: RenderedRef, commit: str, tip: Tip | None) -> bool:
        if not busy:
            busy.append(commit)
            pool.publish(1)
        return real(self, commit, tip)

    monkeypatch.setattr(RenderedRef, "move", move)
    pool.publish(2)
    sources = pool.git("log", "--format=%(trailers:key=Gitcfg-Source,valueonly,separator=%x2C)", REF).split()
    assert sources == [pool.commits[2], pool.commits[1], pool.commits[0]]
    assert pool.shown() == pool.folder(2, tmp_path / "out")


def words(pool: Pool, number: int) -> list[str]:
    """A command line."""
    where = ["-C", str(pool.place), "--today", TODAY.isoformat()]
    return [*where, "render", "--all", "--at", pool.commits[number], "--ref", REF]


def test_processes_that_write_at_once_all_have_their_commit(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(a=f"t{number}") for number in range(5)])
    running = []
    for number in range(5):
        (told := tmp_path / f"told{number}").mkdir()
        running.append((forked(words(pool, number), told), told))
    assert [ended(*one)[0] for one in running] == [0] * 5
    sources = pool.git("log", "--format=%(trailers:key=Gitcfg-Source,valueonly,separator=%x2C)", REF).split()
    assert sorted(sources) == sorted(pool.commits)
    pool.git("fsck", "--strict")


@pytest.mark.parametrize("seed", many(0, 8))
def test_a_killed_run_leaves_nothing_half_done(seed: int, tmp_path: Path) -> None:
    sound = repository(mixed(5))
    files = [sound, {path: text.replace("value-", "other-") for path, text in sound.items()}]
    pool = Pool(tmp_path, files)
    rng = Random(seed)
    first = pool.publish(0).commit
    (told := tmp_path / "told").mkdir()
    process = forked(words(pool, 1), told)
    time.sleep(rng.random() * 0.4)
    os.kill(process, signal.SIGKILL)
    ended(process, told)
    time.sleep(0.3)  # git, if it was called, comes to its end
    assert first in pool.git("rev-list", REF).split()
    pool.git("fsck", "--strict")
    pool.publish(1)
    assert pool.shown() == pool.folder(1, tmp_path / "out")


def test_the_command_says_what_it_did(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two")])
    assert run(words(pool, 0)) == 0
    assert run(words(pool, 1)) == 0
    assert run(words(pool, 1)) == 0
    assert capfd.readouterr().out.splitlines() == [
        f"3 nodes: 3 changed; {REF} is {pool.tip(REF + '~1')[:10]}.",
        f"3 nodes: 2 changed; {REF} is {pool.tip()[:10]}.",
        f"3 nodes: nothing to do, {REF} is up to date.",
    ]
    assert run([*words(pool, 1), "--out", "x"]) == 2
    assert run(["-C", str(pool.place), "render", "--all", "--params", "--ref", REF]) == 2
    assert "Cannot combine --ref with --params" in capfd.readouterr().err


def test_a_work_tree_is_no_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path, text in simple().items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert run(["-C", str(tmp_path), "render", "--all", "--ref", REF]) == 2
    assert "--at HEAD" in capfd.readouterr().err


def test_errors_are_told_and_are_the_exit_code(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wrong = {**simple(), "nodes/b1.yaml": "groups: [b]\nfeatures: [none]\n"}
    pool = Pool(tmp_path, [wrong, simple() | {"nodes/b1.yaml": "groups: [b\n"}])
    assert run(words(pool, 0)) == 1
    assert "note: b1 keeps its previous files at refs/heads/rendered: it has errors" in capfd.readouterr().err
    assert run(words(pool, 1)) == 1
    assert "note: refs/heads/rendered is unchanged" in capfd.readouterr().err


def test_commits_are_signed_with_the_key_that_is_configured(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(), simple(a="two")])
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (tmp_path / "allowed").write_text(f"server@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "allowed")),
        ("gitcfg.signingKey", str(key)),
    ):
        pool.git("config", name, value)
    pool.publish(0)
    pool.git("verify-commit", REF)
    pool.git("config", "--unset", "gitcfg.signingKey")
    pool.git("config", "user.signingKey", str(key))
    pool.publish(1)
    with pytest.raises(subprocess.CalledProcessError):
        pool.git("verify-commit", REF)
    pool.git("update-ref", "-d", REF)
    pool.git("config", "commit.gpgSign", "true")
    pool.publish(1)
    pool.git("verify-commit", REF)
    pool.git("config", "gitcfg.signingKey", str(tmp_path / "gone"))
    tip = pool.tip()
    with pytest.raises(GitcfgError, match="commit-tree"):
        pool.publish(0)
    assert pool.tip() == tip


def test_the_author_is_the_source_s(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple()])
    commit = pool.git("cat-file", "commit", pool.commits[0])
    head, _, _ = commit.partition("\nauthor ")
    for author in (
        "Jo Doe <jo@example.com> 1700000000 -0130",
        "<> <x> -5 +0000",
        ". <> 99999999999999 +9959",
    ):
        text = f"{head}\nauthor {author}\ncommitter {author}\n\nGitcfg-Source: lie\n\nmore\n"
        call = [
            "git",
            f"--git-dir={pool.place}",
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            "--literally",
        ]
        done = subprocess.run(call, input=text.encode(), check=True, capture_output=True)
        pool.commits[0] = done.stdout.decode().strip()
        assert pool.publish(0).commit is not None
        if author.startswith("Jo"):
            assert pool.git("log", "-1", "--format=%an <%ae> %ad", "--date=raw", REF) == author
        assert pool.git("log", "-1", "--format=%cn %s", REF) == "Server Gitcfg-Source: lie"
        assert parse_trailers(pool.git("log", "-1", "--format=%B", REF))["Gitcfg-Source"] == pool.commits[0]
