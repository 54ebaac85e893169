"""parameters/**/*.yaml: what may be set."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.names import Register
from gitcfg.load.parts import binding, refs
from gitcfg.load.reading import Reading
from gitcfg.model import Binding, Finding, Op, Parameter
from gitcfg.model.names import FAMILY

FOLDER = "parameters"


def load_parameters(reading: Reading) -> dict[str, Parameter]:
    """Every declaration, by name or pattern."""
    result: Register[Parameter] = Register(reading, "parameter", FAMILY)
    families: dict[str, Parameter] = {}
    for entry in reading.files(FOLDER):
        doc, wrong = reading.read(entry, "parameters")
        if not isinstance(doc.value, dict) or not isinstance(doc.value.get("parameters", {}), dict):
            reading.misread(FOLDER, entry.path)
            continue
        for name, said in doc.get("parameters").items():
            if not result.admit(name, doc.key("parameters", name)):
                continue
            if None in wrong or "defaults" in wrong or name in wrong:
                reading.misread(FOLDER, name)
                result[name] = Parameter(name, doc.key("parameters", name))
                continue
            result[name] = parameter = _parameter(reading, doc, name, said)
            if parameter.pattern:
                _family(reading, families, parameter)
    return dict(result)


def _family(reading: Reading, families: dict[str, Parameter], parameter: Parameter) -> None:
    family = parameter.name
    while "**" in family:
        family = family.replace("**", "*")
    first = families.setdefault(family, parameter)
    if first is not parameter:
        names = (min(first.name, parameter.name), max(first.name, parameter.name))
        message = f"{names[0]} and {names[1]} declare the same family of parameters."
        reading.findings.append(Finding("GC103", names, message, (parameter.origin, first.origin)))


def _parameter(reading: Reading, doc: Document, name: str, said: Mapping[str, Any] | None) -> Parameter:
    path = ("parameters", name)
    own = said or {}
    every = {**doc.get("defaults"), **own}
    get = every.get

    def place(key: str) -> tuple[str, ...]:
        """Where a key is said: in the parameter's own mapping, else among the file's defaults."""
        return (*path, key) if key in own else ("defaults", key)

    if get("secret"):
        message = f"The parameter {name} is secret; secrets are not supported by this version."
        reading.report("GC105", "secret", message, doc.key(*path, "secret"))
    separator = get("separator")
    return Parameter(
        name,
        doc.key(*path),
        description=str(get("description", "")),
        type=get("type", "list" if separator else None),
        schema=get("schema"),
        schema_origin=doc.key(*place("schema")) if "schema" in every else None,
        default=_default(reading, doc, place("default")) if "default" in every else None,
        must_change=get("must_change", False),
        restart=get("restart", False),
        depends=refs(reading, doc, *place("depends")) if "depends" in every else (),
        conflicts=refs(reading, doc, *place("conflicts")) if "conflicts" in every else (),
        separator=separator,
        unique=get("unique", False),
        macros=get("macros"),
        level=get("level", 0),
        tags=tuple(get("tags", ())),
    )


def _default(reading: Reading, doc: Document, place: tuple[str, ...]) -> Binding | None:
    said = binding(reading, doc.file, doc.mark_at(*place[:-1]), "default", doc.get(*place))
    return None if said is None or said.op is Op.NULL else said
