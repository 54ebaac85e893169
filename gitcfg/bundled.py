"""The data that comes with the program: schemas, hooks and the sample repository."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def folder(name: str) -> Traversable:
    """A folder of data: in the package where it is installed, beside the package in a checkout."""
    package = files("gitcfg")
    inside = package / "_data" / name
    return inside if inside.is_dir() else package / ".." / name


def schema(name: str) -> bytes:
    """The text of schema/NAME.json."""
    return (folder("schema") / f"{name}.json").read_bytes()
