"""gitcfg.yaml: the settings of a repository (GC104, GC105)."""

from gitcfg.load.document import Document
from gitcfg.load.reading import Reading
from gitcfg.load.root import FILE, settings_entry
from gitcfg.model import Origin, Settings, Undeclared

FORMAT = 1
_LATER = {"release": "releases", "walk_in": "nodes that walk in"}


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
    _later(reading, doc)
    return Settings(Origin(FILE)) if wrong else _settings(doc)


def _later(reading: Reading, doc: Document) -> None:
    for key in filter(doc.value.get, _LATER):
        message = f"`{key}` belongs to {_LATER[key]}, which this version does not support."
        reading.report("GC105", key, message, doc.key(key))


def _settings(doc: Document) -> Settings:
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
        max_nodes=get("max_nodes", default.max_nodes),
    )
