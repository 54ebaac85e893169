"""overrides/**/*.yaml: what holds for some nodes for some time."""

from datetime import date

from gitcfg.load.document import Document
from gitcfg.load.features import load_kind
from gitcfg.load.names import Register
from gitcfg.load.nodes import node_names
from gitcfg.load.parts import bindings, files, refs, uses
from gitcfg.load.reading import Reading
from gitcfg.model import Origin, Override, Ref, Settings
from gitcfg.model.names import NAME

NEVER = date.max


def load_overrides(reading: Reading, settings: Settings) -> dict[str, Override]:
    """Every override by name."""

    def build(reading: Reading, doc: Document, name: str) -> Override:
        return _override(reading, doc, name, settings)

    def empty(name: str, origin: Origin) -> Override:
        return Override(name, origin, "", NEVER, members=())

    return load_kind(reading, Register(reading, "override", NAME), "overrides", build, empty)


def _override(reading: Reading, doc: Document, name: str, settings: Settings) -> Override:
    where = doc.value.get("where")
    return Override(
        name,
        Origin(doc.file),
        str(doc.value["reason"]),
        _until(reading, doc),
        members=node_names(reading, doc, settings.max_nodes) if "nodes" in doc.value else None,
        place=doc.at("nodes" if where is None else "where"),
        until_at=doc.at("until"),
        where=None if where is None else Ref(where, doc.at("where")),
        params=bindings(reading, doc, "params"),
        features=uses(reading, doc, "features"),
        without=refs(reading, doc, "without"),
        files=files(doc, "files"),
    )


def _until(reading: Reading, doc: Document) -> date:
    text = doc.value["until"]
    try:
        return date.fromisoformat(text)
    except ValueError:
        reading.report("GC102", doc.file, f"{text} is not a date.", doc.at("until"), hint="Write YYYY-MM-DD.")
        return NEVER
