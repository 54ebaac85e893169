"""What new repositories start from."""

from collections.abc import Iterator, Mapping
from importlib.abc import Traversable

from gitcfg.bundled import folder

_EMPTY_PACK: Mapping[str, bytes] = {
    "gitcfg.yaml": b"format: 1\n",
    "groups/default.yaml": b"description: What every node has.\nfeatures: []\nparams: {}\n",
}


def pack_files(name: str) -> Mapping[str, bytes]:
    """The files of a pack, path to content."""
    return _EMPTY_PACK if name == "empty" else dict(_walk_files(folder("sample-repo"), ""))


def _walk_files(place: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for found in sorted(place.iterdir(), key=lambda found: found.name):
        inner = f"{path}{found.name}"
        if found.is_dir():
            yield from _walk_files(found, inner + "/")
        elif inner != "demo.sh":
            yield inner, found.read_bytes()
