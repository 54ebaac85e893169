"""For which nodes something holds, and until when: what overrides and holds say alike."""

from datetime import date

from gitcfg.load.document import Document
from gitcfg.load.nodesets import node_names
from gitcfg.load.reading import Reading
from gitcfg.model import Origin, Ref

NEVER = date.max


def until(reading: Reading, doc: Document) -> date:
    """The last day."""
    return day(reading, doc, doc.value["until"], doc.at("until"))


def day(reading: Reading, doc: Document, text: str, at: Origin) -> date:
    """A day as it is written; what is none is GC102, and far away."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        reading.report("GC102", doc.file, f"{text} is not a date.", at, hint="Write YYYY-MM-DD.")
        return NEVER


def chosen(reading: Reading, doc: Document, most: int) -> tuple[tuple[str, ...] | None, Ref | None, Origin]:
    """The nodes that are named, or the condition that they fulfil, and where it stands."""
    where, nodes = doc.value.get("where"), doc.value.get("nodes")
    place = doc.at("nodes" if where is None else "where")
    members = None if nodes is None else node_names(reading, Ref(nodes, doc.at("nodes")), most)
    return members, None if where is None else Ref(where, place), place
