"""parameters/**/*.yaml and subsystems/**/*.yaml: what can be set, and the processes that it affects."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.collections import Said, Sheet, SheetKind, gathered
from gitcfg.load.context import Reading
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.load.parts import binding, refs
from gitcfg.model import Binding, Op, Parameter, Ref, Subsystem
from gitcfg.model.definitions import Command
from gitcfg.model.names import FAMILY, NAME

FOLDER = "parameters"


def load_parameters(reading: Reading) -> dict[str, Parameter]:
    """Return every declaration, by name or pattern."""
    return gathered(reading, PARAMETERS)


def _family(parameter: Parameter) -> str | None:
    """Return the pattern as everybody would write it: `**` matches what `*` does."""
    family = parameter.name
    while "**" in family:
        family = family.replace("**", "*")
    return family if parameter.pattern else None


def _parameter(reading: Reading, doc: Document, said: Said) -> Parameter:
    file, every, nodes = doc.file, {**doc.get("defaults"), **said.given}, said.nodes
    if "defaults" in doc.top:
        nodes = {**pairs(doc.top["defaults"]), **nodes}
    get = every.get

    def names(key: str) -> tuple[Ref, ...]:
        return refs(reading, file, nodes[key][1], every[key]) if key in every else ()

    separator = get("separator")
    return Parameter(
        said.name,
        said.origin,
        description=str(get("description", "")),
        type=get("type", "list" if separator else None),
        schema=get("schema"),
        schema_origin=place(file, nodes["schema"][0]) if "schema" in every else None,
        default=_default(reading, file, nodes, every) if "default" in every else None,
        must_change=get("must_change", False),
        restart=get("restart", False),
        depends=names("depends"),
        conflicts=names("conflicts"),
        separator=separator,
        unique=get("unique", False),
        macros=get("macros"),
        level=get("level", 0),
        tags=tuple(get("tags", ())),
        secret=bool(get("secret", False)),
    )


def _default(
    reading: Reading, file: str, nodes: Mapping[str, Pair], every: Mapping[str, Any]
) -> Binding | None:
    said = binding(reading, file, *nodes["default"], every["default"])
    return None if said is None or said.op is Op.NULL else said


PARAMETERS: SheetKind[Parameter] = SheetKind(
    FOLDER, "parameter", FAMILY, _parameter, Parameter, Sheet[Parameter], frozenset({"defaults"}), _family
)


# subsystems/**/*.yaml: the processes that settings affect.

FOLDER_SUBSYSTEMS = "subsystems"


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
    FOLDER_SUBSYSTEMS, "subsystem", NAME, _subsystem, Subsystem, Sheet[Subsystem]
)
