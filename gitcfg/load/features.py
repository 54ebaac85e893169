"""features/**/*.yaml and groups/**/*.yaml: one definition a file."""

from collections.abc import Callable
from typing import TypeVar

from gitcfg.load.document import Document
from gitcfg.load.names import Register
from gitcfg.load.parts import bindings, description, files, refs, uses
from gitcfg.load.reading import Reading
from gitcfg.model import Feature, Group, Origin
from gitcfg.model.names import NAME

T = TypeVar("T")


def load_features(reading: Reading) -> dict[str, Feature]:
    """Every feature by name."""
    return load_kind(reading, Register(reading, "feature", NAME), "features", _feature, Feature)


def load_groups(reading: Reading) -> dict[str, Group]:
    """Every group by name."""
    return load_kind(reading, Register(reading, "group", NAME), "groups", _group, Group)


def load_kind(
    reading: Reading,
    result: Register[T],
    folder: str,
    build: Callable[[Reading, Document, str], T],
    empty: Callable[[str, Origin], T],
) -> dict[str, T]:
    """One definition a file, named by it; what cannot be understood leaves an empty one."""
    for entry in reading.files(folder):
        name = entry.path.rpartition("/")[2].removesuffix(".yaml")
        origin = Origin(entry.path)
        if not result.admit(name, origin):
            continue
        doc, wrong = reading.read(entry, result.noun.replace(" ", ""))
        if wrong:
            reading.misread(folder, name)
            result[name] = empty(name, origin)
        else:
            result[name] = build(reading, doc, name)
    return dict(result)


def _feature(reading: Reading, doc: Document, name: str) -> Feature:
    if doc.value.get("resources"):
        message = "`resources` is not supported by this version."
        reading.report("GC105", "resources", message, doc.key("resources"))
    return Feature(
        name,
        Origin(doc.file),
        description(doc),
        include=uses(reading, doc, "include"),
        depends=refs(reading, doc, "depends"),
        conflicts=refs(reading, doc, "conflicts"),
        after=refs(reading, doc, "after"),
        params=bindings(reading, doc, "params"),
        files=files(doc, "files"),
    )


def _group(reading: Reading, doc: Document, name: str) -> Group:
    return Group(
        name,
        Origin(doc.file),
        description(doc),
        features=uses(reading, doc, "features"),
        params=bindings(reading, doc, "params"),
        files=files(doc, "files"),
    )
