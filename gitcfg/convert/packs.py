"""What new repositories start from."""

from collections.abc import Iterator, Mapping
from importlib.abc import Traversable

from gitcfg.bundled import folder

EMPTY: Mapping[str, bytes] = {
    "gitcfg.yaml": b"format: 1\n",
    "groups/default.yaml": b"description: What every node has.\nfeatures: []\nparams: {}\n",
}


def pack_files(name: str) -> Mapping[str, bytes]:
    """The files of a pack, path to content."""
    return EMPTY if name == "empty" else dict(_below(folder("sample-repo"), ""))


def _below(place: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for found in sorted(place.iterdir(), key=lambda found: found.name):
        inner = f"{path}{found.name}"
        if found.is_dir():
            yield from _below(found, inner + "/")
        elif inner != "demo.sh":
            yield inner, found.read_bytes()
