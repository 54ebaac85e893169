"""A pool that is served for real: the sample repository, its nodes, and what they have said."""

import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.server.agent import Node
from tests.server.site import Server, Site, run, until

SAMPLE = Path(__file__).parents[2] / "sample-repo"
FIRST, SECOND, FAILS, DRIFTS = "exec01", "exec02", "exec03", "exec04"
DOMAIN = ".pool.example.org"
NASTY = "<script>alert(1)</script> \"quoted\" 'single' \u202eevil javascript:alert(2)"
AUTHOR = "A 'bold' \"author\" &amp; <a@example.com>"
DIFF = f"--- a\n+++ b\n@@ -1 +1 @@\n-was\n+{NASTY}\n"
_FIRST = f"first: 'node.name == \"{FAILS + DOMAIN}\"'"
RELEASE = f"release: {{stages: [1, 100%], settle: 0s, max_failures: 0, {_FIRST}}}\n"


class Answered(NamedTuple):
    """What a browser would get."""

    status: int
    headers: "Message[str, str]"
    text: str


class Place:
    """`commits` are the first and the second commit, of which the second has halted."""

    def __init__(self, place: Path) -> None:
        self.site = Site(place)
        self.nodes = {name + DOMAIN: Node(name + DOMAIN, "") for name in (FIRST, SECOND, FAILS, DRIFTS)}
        self.commits = [self._first()]
        self.server = Server(self.site, "--trusted-proxy", "127.0.0.1")
        for node in self.nodes.values():
            node.server, node.server_key = self.server.url, self.server.key
        self.server.accepted(self.commits[0])
        self.read, self.operate = self.server.token("looks", "read"), self.server.token("ops")

    def _first(self) -> str:
        shutil.copytree(SAMPLE, self.site.work, dirs_exist_ok=True)
        keys = "".join(f"{name} {node.public}\n" for name, node in self.nodes.items())
        settings = (SAMPLE / "gitcfg.yaml").read_text() + RELEASE
        return self.site.push({"keys/all.txt": keys, "gitcfg.yaml": settings})

    def live(self) -> None:
        """Let nodes come, take the first commit, and one fail at the second."""
        for node in self.nodes.values():
            assert node.obey().status == 200
        stranger = Node("stranger.example.org", self.server.url, self.server.key)
        assert stranger.config().problem == "pending"
        group = (SAMPLE / "groups" / "Workers.yaml").read_text()
        self.commits.append(self._second(group))
        self.server.accepted(self.commits[1])
        until(self.fail_again)
        drift = {"path": "/etc/motd", "kind": "changed", "diff": DIFF}
        node = self.nodes[DRIFTS + DOMAIN]
        target = node.config().json()
        runs = {"commit": target["commit"], "digest": target["digest"], "since": time.time()}
        facts = {"cores": 8, "note": NASTY, NASTY: True}
        assert (
            node.checkin(running=runs, drift=[drift], facts=facts, version="1.2", interval=60).status == 200
        )

    def _second(self, group: str) -> str:
        (self.site.work / "groups" / "Workers.yaml").write_text(group)
        motd = (SAMPLE / "templates" / "motd.j2").read_text()
        (self.site.work / "templates" / "motd.j2").write_text(f"{motd}\nA line that is new.\n")
        entry = self.site.work / "features" / "MessageOfTheDay.yaml"
        entry.write_text(
            entry.read_text().replace("{template: motd.j2}", '{template: motd.j2, mode: "0640"}')
        )
        run("git", "add", "-A", cwd=self.site.work)
        subject = f"A new line {NASTY}"
        said = ("--author", AUTHOR, "-m", f"{subject}\n\nWith a body: {NASTY}")
        run("git", "commit", "-q", *said, cwd=self.site.work)
        run("git", "push", "-q", "origin", "HEAD:main", cwd=self.site.work)
        return self.site.head()

    def fail_again(self) -> bool:
        """Let whoever is offered the second commit fail at it; has it halted?"""
        for node in self.nodes.values():
            target = node.config().json()
            if target["commit"] == self.commits[1]:
                output = f"{NASTY}\n" + "\n".join(f"line {number}" for number in range(40))
                said = {
                    "commit": self.commits[1],
                    "outcome": "reverted",
                    "step": "validate",
                    "output": output,
                }
                runs = {"commit": self.commits[0], "digest": "0" * 64, "since": time.time() - 60}
                assert node.checkin(running=runs, result=said).status == 200
        found = self.server.get("/v1/releases", self.read).json()["releases"]
        return bool(found[0]["commit"] == self.commits[1] and found[0]["status"] == "halted")

    def ask(
        self,
        target: str,
        cookie: str = "",
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answered:
        """Ask as a browser does that follows nothing."""
        said = {"Accept": "text/html", **(headers or {}), **({"Cookie": cookie} if cookie else {})}
        body = urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(self.server.url + target, body, said)
        try:
            with _OPENER.open(request, timeout=60) as answer:
                return Answered(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answered(error.code, error.headers, error.read().decode())

    def logged_in(self, token: str) -> str:
        """The cookie of a new session."""
        form = self.ask("/login")
        said = {"csrf": csrf(form.text), "token": token, "onward": "/"}
        answer = self.ask("/login", cookie_of(form), said)
        assert answer.status == 303, answer.text
        return cookie_of(answer)


class _Unmoved(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *words: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Unmoved)


def cookie_of(answer: Answered) -> str:
    """The cookie that an answer sets, as a browser says it."""
    return str(answer.headers["Set-Cookie"]).partition(";")[0]


def csrf(text: str) -> str:
    """What the first form of a page proves itself with."""
    return text.partition('name="csrf" value="')[2].partition('"')[0]
