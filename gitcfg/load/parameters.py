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
    said = said or {}
    get = {**doc.get("defaults"), **said}.get
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
        schema_origin=doc.key(*_place(doc, path, "schema")),
        default=_default(reading, doc, path),
        must_change=get("must_change", False),
        restart=get("restart", False),
        depends=refs(reading, doc, *_place(doc, path, "depends")),
        conflicts=refs(reading, doc, *_place(doc, path, "conflicts")),
        separator=separator,
        unique=get("unique", False),
        macros=get("macros"),
        level=get("level", 0),
        tags=tuple(get("tags", ())),
    )


def _place(doc: Document, path: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Where a key of a parameter is said: in its own mapping, else among the file's defaults."""
    return (*path, key) if key in (doc.get(*path) or {}) else ("defaults", key)


def _default(reading: Reading, doc: Document, path: tuple[str, ...]) -> Binding | None:
    place = _place(doc, path, "default")
    parent = place[:-1]
    if "default" not in (doc.get(*parent) or {}):
        return None
    said = binding(reading, doc.file, doc.mark_at(*parent), "default", doc.get(*place))
    return None if said is None or said.op is Op.NULL else said
