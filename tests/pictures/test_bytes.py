"""The same commit makes the same bytes under every order of hashes, which changes from run to run."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
from gitcfg.generate import Options, repository
from gitcfg.pictures.dot import dot
from gitcfg.pictures.features import features_picture
from gitcfg.pictures.features import groups_picture
from gitcfg.pictures.mermaid import mermaid
from gitcfg.pictures.node import node_picture
from tests.pictures.fleets import fleet

for options in (Options(seed=1), Options(seed=3, nodes=120, groups=20, memberships=4, sets=0)):
    made = fleet(repository(options))
    for picture in (features_picture(made), groups_picture(made), node_picture(made, made.names[0])):
        print(dot(picture), mermaid(picture))
"""


def drawn(seed: int) -> str:
    """What a new process with that hash seed writes."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout


def test_pictures_have_the_same_bytes_under_every_hash_seed() -> None:
    first = drawn(1)
    assert first.count("digraph") == first.count("flowchart") == 6
    assert drawn(2) == first
    assert drawn(3) == first
