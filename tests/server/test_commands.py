"""`gitcfg serve`, `release` and `wait` as commands: what they refuse, and what they say."""

import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from gitcfg.state.state import connect
from tests.server.agent import Node
from tests.server.site import GITCFG, Server, Site, run, until


def said(site: Site, *words: str) -> tuple[int, str]:
    """The exit code of a command, and what it says on stderr."""
    done = subprocess.run([*GITCFG, "-C", str(site.bare), *words], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--listen", "nowhere"), "is not an address to listen on"),
        (("--listen", "127.0.0.1:99999"), "is not an address to listen on"),
        (("--tls-cert", "a.pem"), "A certificate needs its key"),
        (("--database", "mysql://x"), "is not valid"),
        (
            ("--listen", "127.0.0.1:0", "--tls-cert", "/nowhere", "--tls-key", "/nowhere"),
            "Cannot use the certificate",
        ),
        (("--listen", "192.0.2.1:1"), "Cannot listen"),
    ],
)
def test_what_cannot_be_served_is_refused(site: Site, words: tuple[str, ...], message: str) -> None:
    code, text = said(site, "serve", *words)
    assert (code, message in text) == (2, True), text
    if "--database" not in words:
        assert not (site.bare / "gitcfg-server").exists()


def test_without_a_repository_nothing_is_served(tmp_path: Path) -> None:
    done = subprocess.run([*GITCFG, "-C", str(tmp_path), "serve"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "is not a git repository" in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_the_extra_it_is_said_what_to_install(site: Site) -> None:
    hide = "import sys; sys.modules.update(dict.fromkeys(['aiohttp', 'sqlalchemy', 'uvloop'])); "
    call = f"sys.argv = ['gitcfg', '-C', {str(site.bare)!r}, *sys.argv[1:]]; "
    program = f"{hide}{call}from gitcfg.cli.main import main; main()"
    (site.bare / "gitcfg-server").mkdir()
    (site.bare / "gitcfg-server/state.db").touch()
    for words in (["serve"], ["serve", "token", "list"], ["release", "status"]):
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
        assert done.returncode == 2
        assert "pip install '.[server]'" in done.stderr, done.stderr


@pytest.mark.slow
def test_tokens(site: Site) -> None:
    site.with_nodes({})
    code, text = said(site, "serve", "token", "create", "alice")
    assert (code, "There is no state of a server here" in text) == (2, True)
    folder = site.bare / "gitcfg-server"
    code, text = said(site, "serve", "token", "create", "alice", "--state", str(folder))
    assert (code, "does not exist" in text) == (2, True)
    assert not folder.exists()
    with Server(site):  # which makes the folder and the database
        pass
    words = (*GITCFG, "-C", str(site.bare), "serve", "token")
    token = run(*words, "create", "alice", cwd=site.work).strip()
    assert token.startswith("gitcfg_")
    assert said(site, "serve", "token", "create", "alice")[0] == 2
    code, text = said(site, "serve", "token", "create", "a/b")
    assert (code, "as in alice" in text) == (2, True)
    assert "There is no token bob." in said(site, "serve", "token", "revoke", "bob")[1]
    assert "never used" in run(*words, "list", cwd=site.work)
    from tests.cli.published import judge

    listed = run(*words, "list", "-o", "json", cwd=site.work)
    judge(listed, "json")
    assert [one["name"] for one in json.loads(listed)["tokens"]] == ["alice"]
    assert run(*words, "revoke", "alice", cwd=site.work) == "revoked alice\n"
    made = run(*words, "create", "bob", "--role", "operate", "-o", "json", cwd=site.work)
    revoked = run(*words, "revoke", "bob", "-o", "json", cwd=site.work)
    for text in (made, revoked):
        judge(text, "json")
    found = json.loads(made)["tokens"][0]
    assert found.pop("token").startswith("gitcfg_")
    assert json.loads(revoked)["tokens"] == [found]
    assert run(*words, "list", cwd=site.work) == ""
    assert folder.stat().st_mode & 0o777 == 0o700


def test_status_before_anything_was_released(site: Site) -> None:
    site.with_nodes({})
    words = (*GITCFG, "-C", str(site.bare))
    (site.bare / "gitcfg-server").mkdir()
    connect(f"sqlite:///{site.bare}/gitcfg-server/state.db").close()
    assert run(*words, "release", "status", cwd=site.work) == "No commit has been released yet.\n"
    assert "The commit abcdef has no release" in said(site, "release", "resume", "abcdef")[1]
    assert "There is no revision nothing." in said(site, "release", "resume", "nothing")[1]


@pytest.mark.slow
def test_waiting_says_who_is_late_and_ends_when_all_are_there(site: Site) -> None:
    nodes = {name: Node(name, "") for name in ("n1", "n2")}
    first = site.with_nodes(nodes)
    with Server(site) as server:
        server.accepted(first)
        server.node("n1", nodes["n1"]).obey()
        code, text = said(site, "wait", first, "--timeout", "1s")
        assert code == 5
        assert "1 node of 2 does not run it yet: n2." in text
        assert said(site, "wait", first, "n1", "--timeout", "1s") == (0, "")
        server.node("n2", nodes["n2"]).obey()
        assert said(site, "wait", first, "--timeout", "5s") == (0, "")
        later = site.push({"README.md": "changes no node\n"})
        server.accepted(later)
        assert said(site, "wait", later, "--timeout", "5s") == (0, "")
        status = run(*GITCFG, "-C", str(site.bare), "release", "status", "-o", "json", cwd=site.work)
        from tests.cli.published import judge

        judge(status, "json")
        code, text = said(site, "wait", first, "--server", server.url, "--token", "gitcfg_no")
        assert (code, "rejected the token" in text) == (2, True)
    code, text = said(site, "wait", first, "--server", "http://127.0.0.1:1")
    assert (code, "does not answer" in text) == (2, True)
    assert said(site, "wait", first, "--timeout", "soon")[0] == 2


def test_it_serves_a_repository_that_people_work_in(site: Site) -> None:
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    with Server(site, repo=site.work) as server:
        server.accepted(commit)
        broken = site.work / "groups/default.yaml"
        broken.write_text("params: {COLOR: [}\n")  # what is not committed counts not
        run("git", "commit", "-q", "--allow-empty", "-m", "more", cwd=site.work)
        server.accepted(site.head())
        asking = server.node("n1", node)
        until(lambda: asking.config().json()["commit"] == site.head(), server.log)
        assert (site.work / ".git/gitcfg-server/server.key").exists()


def test_it_serves_over_tls(site: Site) -> None:
    commit = site.with_nodes({})
    cert, key = (str(site.work / name) for name in ("cert.pem", "key.pem"))
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    made = ("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", *subject)
    run(*made, "-keyout", key, "-out", cert, cwd=site.work)
    with Server(site, "--tls-cert", cert, "--tls-key", key) as server:
        assert server.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=cert)

        def accepted() -> bool:
            try:
                with urllib.request.urlopen(f"{server.url}/readyz", context=context) as answer:
                    return bool(json.load(answer)["accepted"] == commit)
            except urllib.error.HTTPError:
                return False

        until(accepted, server.log)
