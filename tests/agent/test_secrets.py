"""Secrets come sealed, stand in their files alone, and are told to nobody."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gitcfg.install.package import UNKNOWN, Package, Subsystem
from tests.agent.server import raw
from tests.agent.site import CONFIG, Site, awaited, drained
from tests.install.world import SCRIPT, package, secret_file

TRUE, NEXT = "password = canary-one\n", "password = canary-two\n"


def made(site: Site, text: str, commit: str, version: int, *more: Subsystem, **rest: Any) -> Package:
    file = secret_file(CONFIG, text, version, **rest)
    return package({CONFIG: file, "/etc/app/plain": "plain\n"}, site.app(), *more, commit=commit)


def ready(site: Site) -> None:
    """A node that has its first secret."""
    site.accept()
    site.book.offer(made(site, TRUE, "a", 1, app="reload"), restart=["app"])
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.world.runs_with("app") == TRUE


def told(site: Site) -> bytes:
    """All that the agent keeps or has told."""
    kept = [path.read_bytes() for path in site.world.state(".").rglob("*") if path.is_file()]
    return b"\n".join(
        [*kept, json.dumps(site.book.checkins).encode(), "\n".join(site.book.requests).encode()]
    )


def test_a_secret_is_installed_and_kept_nowhere_else(site: Site) -> None:
    ready(site)
    site.book.offer(made(site, NEXT, "b", 2), reload=["app"])
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.world.read(CONFIG) == NEXT == site.world.runs_with("app")
    assert site.world.root.joinpath(CONFIG[1:]).stat().st_mode & 0o777 == 0o600
    assert b"canary" not in told(site)
    assert "canary" not in done.stderr + site.agent("status", "-o", "json").stdout
    assert b"<secret pool v2>" in site.world.state("installed.json").read_bytes()
    assert site.agent("drift").returncode == 0


def test_what_fails_is_told_without_it(site: Site) -> None:
    ready(site)
    site.configure(f'commands = [["{SCRIPT}", "**"], ["/bin/cat", "**"]]')
    says = Subsystem("says", validate=("/bin/cat", "{new}" + CONFIG, "/nowhere"))
    site.book.offer(made(site, NEXT, "b", 2, says), reload=["app"])
    done = site.once()
    assert done.returncode == 3
    (result,) = [one["result"] for one in site.book.checkins if one["result"]][-1:]
    assert "<secret>" in result["output"]
    assert "/nowhere" in result["output"]
    assert "canary" not in done.stderr
    assert b"canary" not in told(site)
    assert site.world.read(CONFIG) == TRUE == site.world.runs_with("app")


@pytest.mark.parametrize("change", ["password = canary-by-hand\n", None])
def test_drift_is_told_and_mended_with_what_the_server_sends_anew(site: Site, change: str | None) -> None:
    ready(site)
    place = site.world.root / CONFIG[1:]

    def spoil() -> None:
        place.unlink()
        if change is not None:
            site.world.write(CONFIG, change)

    spoil()
    site.once()
    (found,) = site.book.checkins[-1]["drift"]
    assert (found["path"], found["kind"]) == (CONFIG, "changed" if change else "missing")
    assert not place.exists() or place.read_text() == change
    site.configure('drift = "repair"', server="http://127.0.0.1:9")
    done = site.once()
    assert done.returncode == 5
    assert f"the repair waits for secrets from a server: {CONFIG}" in done.stderr
    assert not place.exists() or place.read_text() == change
    site.configure('drift = "repair"')
    site.world.log("app")
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.world.read(CONFIG) == TRUE == site.world.runs_with("app")
    assert site.world.log("app") == ["reload"]
    assert site.book.checkins[-1]["drift"] == []
    assert site.book.checkins[-1]["result"]["step"] == "repair"
    assert "canary" not in done.stderr + json.dumps(site.book.checkins)


def test_other_files_are_mended_without_a_server(site: Site) -> None:
    ready(site)
    site.configure('drift = "repair"', server="http://127.0.0.1:9")
    site.world.write(CONFIG, "by hand\n")
    site.world.write("/etc/app/plain", "by hand\n")
    assert site.once().returncode == 5
    assert (site.world.read("/etc/app/plain"), site.world.read(CONFIG)) == ("plain\n", "by hand\n")
    (site.world.root / CONFIG[1:]).write_text(TRUE)
    (site.world.root / CONFIG[1:]).chmod(0o644)
    assert site.once().returncode == 5
    assert site.world.root.joinpath(CONFIG[1:]).stat().st_mode & 0o777 == 0o600


def test_what_is_sealed_to_another_key_changes_nothing(site: Site) -> None:
    ready(site)
    site.book.sealed_to = raw(Ed25519PrivateKey.generate())
    site.book.offer(made(site, NEXT, "b", 2), reload=["app"])
    done = site.once()
    assert done.returncode == 4
    assert "app.conf: it is encrypted for another key than this node's" in done.stderr
    assert site.book.results[-1] == ("b", "refused")
    assert site.world.read(CONFIG) == TRUE


def unopened(site: Site) -> None:
    """From now on the server cannot open any secret; all else it answers."""
    problem = {
        "type": "urn:gitcfg:problem:secrets",
        "title": "x",
        "status": 503,
        "detail": "No key opens it.",
    }
    headers = {"content-type": "application/problem+json"}
    refused = (503, headers, json.dumps(problem).encode())
    site.book.refuse = lambda path: refused if path.startswith("/v1/commits/") else None


@pytest.mark.parametrize("back", [False, True])
def test_that_it_cannot_is_told_once_until_it_can(site: Site, back: bool) -> None:
    """Or until nothing of it is needed any more: the check-ins between are no sign that it can."""
    ready(site)
    unopened(site)
    site.book.offer(made(site, NEXT, "b", 2), reload=["app"])
    daemon = site.start()
    asked = "GET /v1/commits/" + "b" * 40 + "/nodes/n1"
    awaited(lambda: site.book.requests.count(asked) >= 3)
    status = json.loads(site.agent("status", "-o", "json").stdout)
    if back:
        site.book.commit = "a" * 40
        site.book.sequence += 1
        site.book.rollback = True
    else:
        site.book.refuse = lambda path: None
    awaited(lambda: json.loads(site.agent("status", "-o", "json").stdout)["problem"] is None)
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert status["problem"]["kind"] == "secrets"
    assert said.count("No key opens it.") == 1, said
    assert said.count("answers correctly again") == 1, said
    assert said.index("No key opens it.") < said.index("answers correctly again")


def test_a_server_that_cannot_open_them_changes_nothing(site: Site) -> None:
    ready(site)
    unopened(site)
    site.book.offer(made(site, NEXT, "b", 2), reload=["app"])
    done = site.once()
    assert done.returncode == 5
    assert "No key opens it." in done.stderr
    status = json.loads(site.agent("status", "-o", "json").stdout)
    assert (status["problem"]["kind"], status["running"]["commit"]) == ("secrets", "a" * 40)
    assert site.world.read(CONFIG) == TRUE == site.world.runs_with("app")
    site.book.refuse = lambda path: None
    assert site.once().returncode == 0
    assert site.world.read(CONFIG) == NEXT


def test_a_content_that_only_shows_names_is_never_installed(site: Site) -> None:
    """As who has a token gets it; a server that sends a node that is broken, or none of ours."""
    ready(site)
    new = made(site, NEXT, "b", 2)
    shown = new.files[CONFIG]._replace(hidden=UNKNOWN)
    site.book.instead = new._replace(files={**new.files, CONFIG: shown})
    site.book.offer(new, reload=["app"])
    done = site.once()
    assert done.returncode == 4
    assert "does not include its content" in done.stderr
    assert site.book.results[-1] == ("b", "refused")
    assert site.world.read(CONFIG) == TRUE == site.world.runs_with("app")


def test_no_core_is_dumped_but_what_it_starts_may_dump_its_own(site: Site) -> None:
    ready(site)
    seen = site.world.daemons / "limit"
    site.configure('commands = [["**"]]')
    before = Path("/proc/self/limits").read_text()
    says = Subsystem("says", restart=("/bin/sh", "-c", f"cat /proc/self/limits > {seen}"))
    site.book.offer(made(site, NEXT, "b", 2, says), restart=["says"], reload=["app"])
    daemon = site.start()
    awaited(lambda: site.book.results[-1:] == [("b", "ok")])
    own = Path(f"/proc/{daemon.pid}/limits").read_text()
    core = re.compile(r"Max core file size +(\S+)")
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert core.findall(own) == ["0"]
    assert core.findall(seen.read_text()) == core.findall(before)
