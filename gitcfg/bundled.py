"""The data that comes with the program: schemas, hooks and the sample repository."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

_EMPTY_PACK: Mapping[str, bytes] = {
    "gitcfg.yaml": b"format: 1\n",
    "groups/default.yaml": b"description: What every node has.\nfeatures: []\nparams: {}\n",
}


def folder(name: str) -> Traversable:
    """Return a folder of data: in the package where it is installed, beside the package in a checkout."""
    package = files("gitcfg")
    inside = package / "_data" / name
    return inside if inside.is_dir() else package / ".." / name


def schema(name: str) -> bytes:
    """Return the text of schema/NAME.json."""
    return (folder("schema") / f"{name}.json").read_bytes()


def pack_files(name: str) -> Mapping[str, bytes]:
    """Return the files, by path, that a new repository starts from: the sample repository, or nearly none."""
    return _EMPTY_PACK if name == "empty" else dict(_walk_files(folder("sample-repo"), ""))


def _walk_files(place: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        inner = f"{path}{entry.name}"
        if entry.is_dir():
            yield from _walk_files(entry, inner + "/")
        elif inner != "demo.sh":
            yield inner, entry.read_bytes()
