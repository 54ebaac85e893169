"""What is over ends by a commit that the server makes, if its git config says so, and that the gate takes."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gitcfg.git.repository import Config, Repository
from gitcfg.library import Source
from gitcfg.model import GitcfgError
from gitcfg.server.expiry import prepare
from gitcfg.server.fleets import find_tip
from tests.gate.signing import made
from tests.server.agent import Node
from tests.server.site import GITCFG, Server, Site, run, until

OVER = {
    "overrides/once.yaml": "nodes: n1\nuntil: 2020-01-01\nreason: a test\nparams: {COLOR: pink}\n",
    "overrides/long.yaml": "nodes: n1\nuntil: 2999-01-01\nreason: still\nfiles: {/etc/long: {text: long}}\n",
    "holds/old.yaml": "nodes: n2\nuntil: 2020-01-02\nreason: a run\ncommit: abcdef0\n",
}
ASKED = {"gitcfg.expire": "true", "user.name": "Keeper", "user.email": "keeper@example.com"}


def asked(site: Site, **more: str) -> None:
    for key, value in (ASKED | {name.replace("_", "."): value for name, value in more.items()}).items():
        run("git", "config", key, value, cwd=site.bare)


def tip(site: Site) -> str:
    return run("git", "rev-parse", "main", cwd=site.bare).strip()


def logged(server: Server, message: str) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{"))
    return [line for line in lines if line["message"] == message]


def test_a_server_that_is_asked_to_lifts_what_is_over_by_a_commit(site: Site) -> None:
    nodes = {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(nodes)
    before = site.push(OVER)
    run(*GITCFG, "hook", "install", "--server", str(site.bare), cwd=site.work)
    asked(site)
    with Server(site) as server:
        until(lambda: tip(site) != before, server.log)
        commit = tip(site)
        server.accepted(commit)
        assert run("git", "diff", "--name-status", before, commit, cwd=site.bare).split() == [
            *("D", "holds/old.yaml", "D", "overrides/once.yaml")
        ]
        assert run("git", "log", "-1", "--format=%P %B", commit, cwd=site.bare).strip() == (
            f"{before} Lift 1 hold and 1 override past their last day\n\n"
            "hold old ended on 2020-01-02: a run\noverride once ended on 2020-01-01: a test"
        )
        until(lambda: logged(server, "removed what has expired"), server.log)
        (line,) = logged(server, "removed what has expired")
        assert (line["commit"], line["overrides"], line["holds"]) == (commit, ["once"], ["old"])
        # A commit is accepted first and released after it: until then nodes get the one before.
        until(lambda: server.node("n1", nodes["n1"]).config().json()["commit"] == commit, server.log)
        page = server.ask("GET", "/", headers={"Cookie": server.cookie(server.token())}).body.decode()
        assert "past their last day" in page


def test_where_commits_must_be_signed_the_server_needs_a_key_that_may_sign(
    site: Site, tmp_path: Path
) -> None:
    keys = made(tmp_path / "keys")
    site.with_nodes({"n1": Node("n1", ""), "n2": Node("n2", "")})
    before = site.push(OVER)
    run(*GITCFG, "hook", "install", "--server", str(site.bare), cwd=site.work)
    (tmp_path / "signers").write_text(f"keeper@example.com {keys['ann']}\n")
    more = {"gitcfg_signatures": "require", "gitcfg_allowedSigners": str(tmp_path / "signers")}
    asked(site, **more, gpg_format="ssh", user_signingkey=str(keys.folder / "bob"))
    source = Source(Repository.served(site.bare), date(2026, 1, 1))
    there = find_tip(source.repository)
    with pytest.raises(GitcfgError, match=r"The gate rejects the commit: .* a key that may not sign"):
        prepare(source, there, source.today)
    asked(site, user_signingkey=str(keys.folder / "ann"))
    found = prepare(source, there, source.today)
    assert found is not None
    assert tip(site) == before
    found.push()
    assert tip(site) == found.commit


def test_nothing_is_lifted_that_is_not_over_and_by_nobody_who_is_not_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    site.with_nodes({"n1": Node("n1", ""), "n2": Node("n2", "")})
    site.push(OVER)
    source = Source(Repository.served(site.bare), date(2026, 1, 1))
    there = find_tip(source.repository)
    assert prepare(source, there, source.today) is None
    run("git", "config", "gitcfg.expire", "true", cwd=site.bare)
    assert Config(source.repository).flag("gitcfg.expire")
    assert prepare(source, there, date(2020, 1, 1)) is None  # the last day
    with pytest.raises(GitcfgError, match="no identity"):
        prepare(source, there, source.today)
