"""subsystems/**/*.yaml: the processes that settings affect."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.names import Register
from gitcfg.load.parts import refs
from gitcfg.load.reading import Reading
from gitcfg.model import Subsystem
from gitcfg.model.definitions import Command
from gitcfg.model.names import NAME

FOLDER = "subsystems"


def load_subsystems(reading: Reading) -> dict[str, Subsystem]:
    """Every subsystem by name."""
    result: Register[Subsystem] = Register(reading, "subsystem", NAME)
    for entry in reading.files(FOLDER):
        doc, wrong = reading.read(entry, FOLDER)
        if not isinstance(doc.value, dict) or not isinstance(doc.value.get(FOLDER, {}), dict):
            reading.misread(FOLDER, entry.path)
            continue
        for name, said in doc.get(FOLDER).items():
            if not result.admit(name, doc.key(FOLDER, name)):
                continue
            if None in wrong or name in wrong:
                reading.misread(FOLDER, name)
                result[name] = Subsystem(name, doc.key(FOLDER, name))
            else:
                result[name] = _subsystem(reading, doc, name, said or {})
    return dict(result)


def _subsystem(reading: Reading, doc: Document, name: str, said: Mapping[str, Any]) -> Subsystem:
    path = (FOLDER, name)
    get = said.get
    return Subsystem(
        name,
        doc.key(*path),
        description=str(get("description", "")),
        params=refs(reading, doc, *path, "params") if "params" in said else (),
        files=tuple(get("files", ())),
        features=refs(reading, doc, *path, "features") if "features" in said else None,
        covers=refs(reading, doc, *path, "covers") if "covers" in said else (),
        validate=tuple(get("validate", ())),
        reload=tuple(get("reload", ())),
        restart=tuple(get("restart", ())),
        stop=tuple(get("stop", ())),
        check=_command(get("check")),
        using=get("using", "new"),
    )


def _command(said: Mapping[str, Any] | None) -> Command | None:
    if said is None:
        return None
    return Command(tuple(said["run"]), str(said.get("timeout", "60s")), said.get("retries", 0))
