"""What the harness wants to know of a tool that gitcfg is compared with."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.fleet import Fleet

RUNNERS = Path(__file__).parent / "runners"


class Tool(msgspec.Struct, frozen=True):
    """What runs a tool: the Python of its own environment, and its programs beside it."""

    python: Path

    def program(self, name: str) -> str:
        """A program of the environment."""
        return str(self.python.parent / name)

    def runner(self, name: str, *arguments: str) -> list[str]:
        """A script of the folder `runners`, run by the tool's Python."""
        return [str(self.python), str(RUNNERS / f"{name}.py"), *arguments]


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool: what to install, its own format, and how to ask it.

    `everything`, `one`: the command for all nodes in a folder, and for one; they print JSON.
    `answers`: what everything printed, as each node's parameters in JSON. `says`: how it is asked, in words.
    """

    name: str
    requirements: tuple[str, ...]
    files: Callable[[Fleet], Iterator[tuple[str, str]]]
    everything: Callable[[Tool, Path], Sequence[str]]
    one: Callable[[Tool, Path, str], Sequence[str]]
    answers: Callable[[bytes], dict[str, msgspec.Raw]]
    says: str


def by_node(printed: bytes) -> dict[str, msgspec.Raw]:
    """The answers where a tool prints {NODE: {PARAMETER: VALUE}}."""
    return msgspec.json.decode(printed, type=dict[str, msgspec.Raw])
