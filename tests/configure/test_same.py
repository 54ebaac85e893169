"""What a conversation writes is what the same edits by `gitcfg modify` write."""

from pathlib import Path
from random import Random

import pytest

from gitcfg.cli.main import run
from tests.configure.dialogue import fed
from tests.configure.pools import POOL, contents, pool
from tests.seeds import many, mostly_slow

FEATURES = ("Base", "Web", "Webmail", "Rival", "Loud")
VALUES = {
    "HOST": ("a.b", "x"),
    "PORT": ("8", "80"),
    "LOG": ("/x", "'017'"),
    "LEVEL": ("high  # so", "{$default: q}"),
}
TARGETS = (("group", "web"), ("group", "empty"), ("node", "n2"), ("node", "s2"), ("nodeset", "s"))


def drawn(rng: Random, kind: str, name: str) -> tuple[str, list[str]]:
    """A thing to say, and the words of `gitcfg modify` for the same."""
    modify = ["modify", kind, name, "--force"]
    feature, param = rng.choice(FEATURES), rng.choice(sorted(VALUES))
    value = rng.choice(VALUES[param])
    return rng.choice(
        (
            (f"a {feature}", [*modify, "--feature", feature]),
            (f"i 0 {feature}", [*modify, "--feature", feature, "--at", "0"]),
            (f"r {feature}", [*modify, "--no-feature", feature]),
            (f"s {param} {value}", [*modify, "--set", f"{param}={value}"]),
            (f"u {param}", [*modify, "--unset", param]),
        )
    )


@pytest.mark.parametrize("seed", mostly_slow(many(0, 8)))
def test_what_is_written_is_what_modify_writes(tmp_path: Path, seed: int) -> None:
    rng = Random(f"configure {seed}")
    kind, name = rng.choice(TARGETS)
    talked, modified = pool(tmp_path / "talked"), pool(tmp_path / "modified")
    said, done = [], []
    for _ in range(5):
        line, words = drawn(rng, kind, name)
        before = contents(modified)
        if run(["-C", str(modified), *words]) == 0 and contents(modified) != before:
            done.append(line)
        said.append(line)
    code, shown = fed(talked, f"{kind}/{name}", [*said, "w"])
    changes = contents(modified) != POOL
    assert code == (0 if changes else 1 if done else 0), shown
    assert contents(talked) == contents(modified), (said, shown)
