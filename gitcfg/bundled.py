"""The data in the program: schemas, hooks, and the starting files of new repositories."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable


def folder(name: str) -> Traversable:
    """Return a folder of data: in the package if it is installed, beside the package in a checkout."""
    package = files("gitcfg")
    inside = package / "_data" / name
    return inside if inside.is_dir() else package / ".." / name


def read_schema(name: str) -> bytes:
    """Return the text of schema/NAME.json."""
    return (folder("schema") / f"{name}.json").read_bytes()


def read_pack(name: str) -> Mapping[str, bytes]:
    """Return the starting files of a new repository, by path: a folder of packs/, or the sample."""
    pack = folder("sample-repo") if name == "htcondor" else files("gitcfg") / "packs" / name
    return dict(_walk_files(pack, ""))


def _walk_files(place: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        inner = f"{path}{entry.name}"
        if entry.is_dir():
            yield from _walk_files(entry, inner + "/")
        elif inner != "demo.sh":
            yield inner, entry.read_bytes()
