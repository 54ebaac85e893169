"""A secret goes from a keyboard to the nodes that may have it, and stands nowhere else on its way."""

import base64
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.site import awaited
from tests.server.site import run
from tests.system.searching import Search
from tests.system.secret_pool import CONFIG, DESCRIBED, SecretPool

APP = "features/App.yaml"


class Story:
    """What becomes of three versions of a secret, while somebody looks on."""

    def __init__(self, place: Path) -> None:
        self.pool = SecretPool(place)
        self.words = [f"canary{secrets.token_hex(12)}" for _ in range(3)]
        self.search, self.n1 = Search(*self.words), self.pool.nodes[0]
        self.within = tuple(self.n1.world.state(name) for name in ("staged", "backup"))

    def seen(self) -> list[str]:
        """Where a word stands that should not, also in the midst of an installation."""
        states = (node.world.state(".") for node in self.pool.nodes)
        return self.search.files(*states, self.pool.place / "tmp", but=self._meant)

    def _meant(self, path: Path) -> bool:
        """The file itself, beside it while it is exchanged, and what only root can enter meanwhile."""
        file = self.n1.world.root / CONFIG[1:]
        return path.parent == file.parent or any(one in path.parents for one in self.within)

    def _exchanging(self) -> bool:
        return any(one.exists() for one in self.within)

    def settled(self, word: str) -> None:
        """The file holds it, the installation is over, and it stands nowhere else on this machine."""
        awaited(lambda: self.n1.stands.endswith(f"password = {word}\n") and not self._exchanging(), 60)
        assert not self.search.files(
            self.pool.place, but=lambda path: str(path) == f"{self.n1.world.root}{CONFIG}"
        )

    def set(self, word: str, *words: str) -> None:
        self.pool.gitcfg("secret", "set", "pool", *words, content=f"{word}\n")

    def a_first_version_comes(self) -> None:
        self.set(self.words[0], "--for", 'node.name == "n1"', "--recipient", self.pool.reader)
        self.pool.push(self.pool.described())
        for node in self.pool.nodes:
            node.start()
        self.settled(self.words[0])
        assert self.n1.world.root.joinpath(CONFIG[1:]).stat().st_mode & 0o777 == 0o600

    def the_agent_dies_while_the_application_takes_a_second(self) -> None:
        """Another one goes back, and on."""
        hold = self.pool.marks / "hold"
        hold.touch()
        self.set(self.words[1])
        commit = self.pool.push({})
        awaited(lambda: self.words[1] in self.n1.stands, 60)
        self.n1.end(signal.SIGKILL)
        hold.unlink()
        assert self._exchanging()
        self.n1.start()
        awaited(lambda: self.pool.ran(commit), 60)
        self.settled(self.words[1])

    def the_application_refuses_a_commit(self) -> None:
        """And shows why, with all that it has read."""
        bad = self.pool.push({APP: DESCRIBED[APP].replace("good", "bad")})
        awaited(lambda: self.pool.last().get("commit") == bad, 60)
        said = self.pool.last()
        assert said["outcome"] == "reverted"
        assert "<secret>" in said["output"]
        self.settled(self.words[1])
        good = self.pool.push({APP: DESCRIBED[APP]})
        awaited(lambda: self.pool.ran(good), 60)

    def somebody_changes_it_by_hand(self) -> None:
        self.n1.world.root.joinpath(CONFIG[1:]).write_text("by hand\n")
        self.settled(self.words[1])

    def the_server_dies_and_a_third_comes(self) -> None:
        self.pool.server_dies()
        self.set(self.words[2])
        self.pool.push({})
        self.settled(self.words[2])

    def told(self) -> Iterator[bytes]:
        """All that anybody can be told afterwards."""
        yield from self.pool.everything()
        for node in self.pool.nodes:
            yield from (node.call(word).encode() for word in ("status", "drift"))
            yield node.log.read_bytes()
        for line in ("log n1", "explain n1 PASSWORD", "render n1", "check", "diff HEAD~1", "secret list"):
            self.pool.gitcfg(*line.split())
        yield self.pool.said.encode()


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    made = Story(tmp_path)
    yield made
    made.pool.close()


@pytest.mark.slow
def test_a_secret_stands_where_it_is_meant_and_nowhere_else(story: Story) -> None:
    pool, search = story.pool, story.search
    with search.looking_on(story.seen):
        story.a_first_version_comes()
        story.the_agent_dies_while_the_application_takes_a_second()
        story.the_application_refuses_a_commit()
        story.somebody_changes_it_by_hand()
        story.the_server_dies_and_a_third_comes()
        told = list(story.told())
    assert not search.found
    assert not any(search.within(each) for each in told)
    assert not search.objects(pool.site.bare)
    assert not search.objects(pool.site.work)
    assert "<secret pool v3>" in pool.said
    assert pool.nodes[1].stands == ""
    for node in pool.nodes:
        assert node.agent is not None
        limits = Path(f"/proc/{node.agent.pid}/limits").read_text()
        assert re.search(r"Max core file size +0 ", limits)


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """Else all of this would hold of anything."""
    word = "canary0123456789"
    search = Search(word)
    for number, text in enumerate((word, f"..{word}", word.encode().hex(), word[::-1])):
        (tmp_path / str(number)).write_text(text)
    assert len(search.files(tmp_path)) == 4
    for before in range(7):
        assert search.within(base64.b64encode(b"y" * before + word.encode() + b"z" * 5))
    run("git", "init", "-q", str(tmp_path / "git"), cwd=tmp_path)
    assert not search.objects(tmp_path / "git")
    run("git", "hash-object", "-w", str(tmp_path / "0"), cwd=tmp_path / "git")
    assert search.objects(tmp_path / "git")
    with search.looking_on(lambda: search.files(tmp_path)):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(0.5)", word], check=True)
    assert any("cmdline" in one for one in search.found)
    assert str(tmp_path / "0") in search.found
