"""`gitcfg hook post-receive` in real bare repositories, with real pushes."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from gitcfg.cache import FolderCache
from gitcfg.check.results import Checked, question
from gitcfg.git.repository import Repository
from tests.output.rendered import simple

PUSHER = {"GITEA_PUSHER_NAME": "jo"}
NOTES = ["log", "-1", "--format=%N", "--notes=gitcfg"]


class Server:
    """A bare repository with gitcfg's hooks, and a clone of it."""

    def __init__(self, place: Path) -> None:
        self.bare, self.clone = place / "server.git", place / "clone"
        self.environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": str(place / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        (place / "gitconfig").write_text("[user]\nname = Jo\nemail = jo@example.com\n")
        self.run("git", "init", "-q", "--bare", "--initial-branch=main", str(self.bare))
        self.run("git", "-C", str(self.bare), "config", "receive.advertisePushOptions", "true")
        for name in ("pre-receive", "post-receive"):
            hook = self.bare / "hooks" / name
            hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitcfg --no-pager hook {name}\n')
            hook.chmod(0o755)
        self.run("git", "init", "-q", "--initial-branch=main", str(self.clone))
        self.git("remote", "add", "origin", self.bare.as_uri())

    def run(self, *words: str, **more: str) -> str:
        """What a program says, on both streams. CalledProcessError: it fails."""
        done = subprocess.run(
            words,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self.environment, **more},
        )
        return done.stdout.decode().strip()

    def git(self, *words: str, **more: str) -> str:
        """git in the clone."""
        return self.run("git", "-C", str(self.clone), *words, **more)

    def served(self, *words: str) -> str:
        """git on the server."""
        return self.run("git", "-C", str(self.bare), *words)

    def commit(self, files: Mapping[str, str], subject: str = "x") -> str:
        """Exactly these files, committed in the clone."""
        for path, text in files.items():
            place = self.clone / path
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)
        for path in set(self.git("ls-files").splitlines()) - files.keys():
            (self.clone / path).unlink()
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def push(self, *words: str) -> str:
        """What comes back."""
        return self.git("push", "origin", *(words or ("main",)), **PUSHER)

    def sources(self) -> list[str]:
        """What the rendered ref's commits were made from, newest first."""
        return self.served(
            "log", "--format=%(trailers:key=Gitcfg-Source,valueonly,separator=%x2C)", "rendered"
        ).split()


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


@pytest.mark.slow
def test_fifty_commits_in_one_push_are_fifty_commits(server: Server) -> None:
    server.served("config", "gitcfg.renderRef", "rendered")
    first = server.commit(simple())
    assert "refs/heads/rendered: 1 commit, 3 nodes changed." in server.push()
    commits = [server.commit(simple(a=f"t{number}"), f"change {number}") for number in range(50)]
    assert "refs/heads/rendered: 50 commits, 100 nodes changed." in server.push()
    assert server.sources() == [*reversed(commits), first]
    assert server.served("log", "-2", "--format=%an %s", "rendered") == "Jo change 49\nJo change 48"
    assert server.served("show", "rendered~3:a1/etc/motd") == "t46"
    assert server.served("fsck", "--strict") == ""


def test_only_the_first_parents_of_a_merge_have_commits(server: Server) -> None:
    server.served("config", "gitcfg.renderRef", "rendered")
    first = server.commit(simple())
    server.push()
    server.git("checkout", "-q", "-b", "side")
    server.commit(simple(b="two"))
    server.git("checkout", "-q", "main")
    second = server.commit(simple(a="two"))
    server.git("merge", "-q", "--no-edit", "side")
    server.push()
    assert server.sources() == [server.git("rev-parse", "HEAD"), second, first]


def test_after_a_rewind_there_is_one_commit_more(server: Server) -> None:
    server.served("config", "gitcfg.renderRef", "rendered")
    server.served("config", "gitcfg.allowRewind", "true")
    first = server.commit(simple())
    second = server.commit(simple(a="two"))
    server.push()
    server.git("reset", "-q", "--hard", first)
    third = server.commit(simple(b="three"))
    server.push("--force", "main")
    assert server.sources() == [third, second]
    assert server.served("show", "rendered:a1/etc/motd") == "one"


def test_the_ref_catches_up_and_another_branch_may_be_its_source(server: Server) -> None:
    server.commit(simple())
    server.push()
    server.served("config", "gitcfg.renderRef", "rendered")
    server.served("config", "gitcfg.renderFrom", "live")
    assert "which does not exist" in server.push("main:other")
    live = server.commit(simple(a="two"))
    server.push("main:live")
    assert server.sources() == [live]
    later = server.commit(simple(a="three"))
    server.push("main")
    assert server.sources() == [live]
    server.push("main:live")
    assert server.sources() == [later, live]


def test_a_push_is_taken_whatever_goes_wrong_after_it(server: Server) -> None:
    server.served("config", "gitcfg.renderRef", "main")
    first = server.commit(simple())
    said = server.push()
    assert "warning: Cannot update the rendered ref: refs/heads/main is checked out" in said
    server.served("config", "gitcfg.renderRef", "rendered")
    server.served("config", "gitcfg.signingKey", "/nowhere/key")
    server.served("config", "gpg.format", "ssh")
    second = server.commit(simple(a="two"))
    assert "warning: Cannot update the rendered ref: `git commit-tree` failed" in server.push()
    assert server.served("rev-parse", "main") == second
    server.served("config", "--unset", "gitcfg.signingKey")
    server.commit(simple(a="three"))
    server.push()
    assert len(server.sources()) == 1
    assert server.served("rev-parse", "main~2") == first


def test_a_reason_is_noted_with_who_pushed(server: Server) -> None:
    commit = server.commit(simple())
    server.push("--push-option=gitcfg.reason=ticket 7\x1b[31m", "main", "main:side")
    assert server.served(*NOTES, commit) == "reason: ticket 7\\x1b[31m\npushed by: jo"
    server.push("--push-option=gitcfg.reason=again", "main:third")
    assert server.served(*NOTES, commit).splitlines() == [
        "reason: ticket 7\\x1b[31m",
        "pushed by: jo",
        "",
        "reason: again",
        "pushed by: jo",
    ]


def test_an_ordinary_push_is_not_noted(server: Server) -> None:
    server.commit(simple())
    server.push()
    assert server.served("for-each-ref", "refs/notes") == ""


def test_a_push_through_an_open_gate_is_noted(server: Server) -> None:
    until = (datetime.now() + timedelta(hours=1)).replace(microsecond=0)
    server.served("config", "gitcfg.bypass", f"{until.isoformat()} the datacentre burns")
    commit = server.commit(simple() | {"nodes/b1.yaml": "groups: [none]\n"})
    server.push()
    noted = server.served(*NOTES, commit).splitlines()
    assert noted[0].startswith("bypass until ")
    assert noted[0].endswith(": the datacentre burns")
    assert noted[1] == "pushed by: jo"


def test_deleting_a_branch_and_pushing_tags_leaves_nothing_to_do(server: Server) -> None:
    server.commit(simple())
    server.git("tag", "-a", "-m", "t", "v1")
    server.push("main", "main:side", "v1")
    assert "warning" not in server.push("--push-option=gitcfg.reason=gone", ":side")
    assert server.served("for-each-ref", "refs/notes") == ""


def test_nobody_can_push_to_a_rendered_ref_that_is_hidden_from_pushes(server: Server) -> None:
    server.served("config", "gitcfg.renderRef", "rendered")
    server.served("config", "receive.hideRefs", "refs/heads/rendered")
    server.commit(simple())
    server.push()
    server.git("fetch", "-q", "origin", "rendered")
    assert server.git("show", "FETCH_HEAD:a1/etc/motd") == "one"
    with pytest.raises(subprocess.CalledProcessError):
        server.push("main:rendered")
    server.commit(simple(a="two"))
    server.push()
    assert len(server.sources()) == 2


def test_a_server_that_knows_no_name_commits_as_gitcfg(server: Server, tmp_path: Path) -> None:
    server.commit(simple())
    server.served("config", "gitcfg.renderRef", "rendered")
    server.served("config", "user.useConfigOnly", "true")
    for name in (
        name for name in dict(server.environment) if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))
    ):
        del server.environment[name]
    (tmp_path / "gitconfig").write_text("")
    server.git("push", "--push-option=gitcfg.reason=x", "origin", "main", EMAIL="")
    assert server.served("log", "-1", "--format=%an, %cn", "rendered") == "Jo, gitcfg"
    assert server.served("log", "-1", "--format=%an", "refs/notes/gitcfg") == "gitcfg"


def test_rendered_commits_of_a_push_are_signed(server: Server, tmp_path: Path) -> None:
    key = tmp_path / "key"
    server.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    (tmp_path / "allowed").write_text(f"server@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gitcfg.renderRef", "rendered"),
        ("gitcfg.signingKey", str(key)),
        ("gpg.format", "ssh"),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "allowed")),
    ):
        server.served("config", name, value)
    server.commit(simple())
    server.push()
    assert "Good" in server.served("verify-commit", "rendered")


def test_the_cache_is_warmed_while_nobody_waits(server: Server) -> None:
    server.commit(simple())
    server.push()
    until = time.monotonic() + 60
    asked = question(Repository.served(server.bare).at("main"), None, date.today(), "")
    cache = FolderCache(server.bare / "gitcfg", os.geteuid())
    while cache.get(asked, Checked) is None and time.monotonic() < until:
        time.sleep(0.1)
    known = cache.get(asked, Checked)
    assert known is not None
    assert known.nodes == 3
