"""The order of hashes, which Python changes from run to run, changes no byte of the answer."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import given

from gitcfg.generate import MISTAKES, Options, repository
from tests.properties.runs import QUICK
from tests.properties.strategies import Files, wild

ROOT = Path(__file__).parents[2]
PLANTED = tuple(code for code in MISTAKES if code not in ("GC104", "GC208"))


def answers(repositories: Sequence[Mapping[str, str]], seed: int) -> list[str]:
    """What a new process with that hash seed makes of each."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.properties.fingerprint"],
        input=json.dumps(repositories),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout.splitlines()


def samples() -> list[Files]:
    """Some wild repositories, always the same."""
    found: list[Files] = []

    @QUICK
    @given(wild())
    def collect(files: Files) -> None:
        found.append(files)

    collect()
    return found


def test_answers_have_the_same_bytes_under_every_hash_seed() -> None:
    generated = [repository(Options(seed=seed, mistakes=PLANTED)) for seed in range(3)]
    repositories = [*generated, *samples()]
    first, *others = (answers(repositories, seed) for seed in (1, 2, 3))
    assert len(first) == len(repositories)
    for other in others:
        for files, one, two in zip(repositories, first, other, strict=True):
            assert one == two, files
