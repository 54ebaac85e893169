"""subsystems/**/*.yaml: the processes that settings affect."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.parts import refs
from gitcfg.load.reading import Reading
from gitcfg.load.sheet import Said, Sheet, SheetKind
from gitcfg.model import Ref, Subsystem
from gitcfg.model.definitions import Command
from gitcfg.model.names import NAME

FOLDER = "subsystems"


def _subsystem(reading: Reading, doc: Document, said: Said) -> Subsystem:
    get = said.given.get

    def names(key: str) -> tuple[Ref, ...]:
        return refs(reading, doc.file, said.nodes[key][1], said.given[key]) if key in said.nodes else ()

    return Subsystem(
        said.name,
        said.origin,
        description=str(get("description", "")),
        params=names("params"),
        files=tuple(get("files", ())),
        features=names("features") if "features" in said.nodes else None,
        covers=names("covers"),
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


SUBSYSTEMS: SheetKind[Subsystem] = SheetKind(
    FOLDER, "subsystem", NAME, _subsystem, Subsystem, Sheet[Subsystem]
)
