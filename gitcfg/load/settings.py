"""gitcfg.yaml: the settings of a repository (GC104)."""

from gitcfg.load.document import Document
from gitcfg.load.parts import refs
from gitcfg.load.reading import Reading
from gitcfg.load.release import release
from gitcfg.load.root import FILE, settings_entry
from gitcfg.load.terms import day
from gitcfg.model import Ignore, Origin, Ref, Settings, Undeclared

FORMAT = 1


def load_settings(reading: Reading) -> Settings | None:
    """The settings, or None where the format is not one this program reads."""
    doc, wrong = reading.read(settings_entry(reading.tree), "gitcfg")
    if not isinstance(doc.value, dict):
        return Settings(Origin(FILE))
    number = doc.value.get("format")
    if number != FORMAT:
        which = "says no format" if number is None else f"is of format {number}"
        message = f"The repository {which}; this version of gitcfg reads format {FORMAT}."
        reading.findings[:] = []
        reading.report(
            "GC104", FILE, message, doc.at("format"), hint=f"Write `format: {FORMAT}`, or use a newer gitcfg."
        )
        return None
    return Settings(Origin(FILE)) if wrong else _settings(reading, doc)


def _settings(reading: Reading, doc: Document) -> Settings:
    get = doc.value.get
    default = Settings(Origin(FILE))
    return Settings(
        Origin(FILE),
        default_group=get("default_group", default.default_group),
        undeclared=Undeclared(get("undeclared", default.undeclared)),
        protected=tuple(get("protected", default.protected)),
        check=get("check", default.check),
        ratchet=get("ratchet", default.ratchet),
        signatures=get("signatures", default.signatures),
        walk_in=_walk_in(reading, doc),
        release=release(reading, doc),
        ignore=tuple(_ignore(reading, doc, place) for place in range(len(get("ignore", ())))),
        max_nodes=get("max_nodes", default.max_nodes),
        max_places=get("max_places", default.max_places),
    )


def _ignore(reading: Reading, doc: Document, place: int) -> Ignore:
    said, path = doc.value["ignore"][place], ("ignore", place)
    until = day(reading, doc, said["until"], doc.at(*path, "until")) if "until" in said else None
    return Ignore(said["code"], said["reason"], doc.at(*path), said.get("subject"), until)


def _walk_in(reading: Reading, doc: Document) -> tuple[Ref, ...] | None:
    said = doc.value.get("walk_in")
    if said is None:
        return None
    groups = {key.value: node for key, node in doc.top["walk_in"].value}.get("groups")
    default = doc.value.get("default_group", "default")
    return refs(reading, doc.file, groups, said["groups"], default) if groups is not None else ()
