"""Results by brute force: every commit loaded and compiled whole, everything of a thing compared."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.layers import Layers
from gitcfg.compile.operations import NOTHING
from gitcfg.git.tree import DictTree
from gitcfg.history.log import Question, Subject
from gitcfg.model import GitcfgError, Origin, Parameter, Use
from gitcfg.render.files import render_files
from gitcfg.render.templates import TemplateEngine, template_guard

Facts = Mapping[Any, Any]
"""A result as a flat mapping of pairs such as ("params", NAME), with `there` if it is there at all."""


class Oracle:
    """Results of versions, each compiled once. Close it at the end."""

    def __init__(self) -> None:
        self._guard = template_guard()
        self._fleets: dict[str, tuple[Fleet, TemplateEngine] | None] = {}

    def close(self) -> None:
        """End the templates' child."""
        self._guard.close()

    def result(self, question: Question, files: Mapping[str, str]) -> Facts:
        """What the question's thing is; an empty mapping where it is not there."""
        key = repr(sorted(files.items()))
        if key not in self._fleets:
            self._fleets[key] = self._compiled(files)
        found = self._fleets[key]
        return _RESULTS[question.kind](*found, question) if found else {}

    def _compiled(self, files: Mapping[str, str]) -> tuple[Fleet, TemplateEngine] | None:
        try:
            fleet = compile_tree(DictTree(files), date(2026, 1, 1))
        except GitcfgError:
            return None
        return fleet, TemplateEngine(fleet.templates, self._guard)


def node(fleet: Fleet, engine: TemplateEngine, question: Question) -> Facts:
    if question.name not in fleet:
        return {}
    found = fleet[question.name]
    if question.param is not None:
        values = {question.param: found.params[question.param]} if question.param in found.params else {}
        return {("params", name): as_json(value) for name, value in values.items()}
    files = render_files(fleet, found, engine)
    return {
        "there": True,
        **{("params", name): as_json(value) for name, value in found.params.items()},
        **{("features", name): True for name in found.features},
        **{("groups", name): True for name in found.groups},
        **{("files", path): file.digest for path, file in files.items()},
    }


def param(fleet: Fleet, engine: TemplateEngine, question: Question) -> Facts:
    name = question.name
    nodes = {node: fleet[node].params for node in fleet.names}
    values = {("values", node): as_json(params[name]) for node, params in nodes.items() if name in params}
    declared = fleet.declarations.find(name)
    said = without_places(declared) if declared else {}
    plain = without_places(Parameter("", Origin("")))
    said = {("declaration", key): as_json(value) for key, value in said.items() if value != plain[key]}
    return {**values, **said, **({"there": True} if values or said else {})}


def layer(fleet: Fleet, engine: TemplateEngine, question: Question) -> Facts:
    name, model = question.name, fleet.model
    # What a layer says is its own: which attributes rules leave open is said of nodes.
    layers = Layers(msgspec.structs.replace(model, rules={}), fleet.declarations)
    if question.kind is Subject.FEATURE:
        there = name in model.features
        partial = layers.feature(Use(name, Origin("x")))
        nodes = [node for node in fleet.names if name in fleet[node].features]
    else:
        there = name in model.groups
        partial = layers.group(name)
        everyone = name == model.settings.default_group and there
        nodes = [node for node in fleet.names if everyone or name in fleet[node].groups]
    if not there or partial is None:
        return {"there": True} if there else {}
    operations = {
        param: as_json(
            [[step.op.value, None if step.given is NOTHING else step.given] for step in cell.steps]
        )
        for param, cell in partial.cells.items()
    }
    return {
        "there": True,
        **{("params", param): steps for param, steps in operations.items()},
        **{("features", feature): True for feature in partial.features - {name}},
        **{("nodes", node): True for node in nodes},
        **{
            ("files", path): (without_places(entry), texts(fleet, entry))
            for path, entry in partial.files.items()
        },
    }


def texts(fleet: Fleet, entry: Any) -> list[Any]:
    """The texts that an entry names, a template's with all that it mentions."""
    if entry.source is not None:
        return [fleet.sources.get(entry.source.name)]
    found: dict[str, str | None] = {}
    names = [entry.template.name] if entry.template is not None else []
    while names:
        name = names.pop()
        if name not in found:
            found[name] = fleet.templates.get(name)
            names += re.findall(r"'(\w+\.j2)'", found[name] or "")
    return sorted(found.items(), key=str)


def as_json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def without_places(value: Any) -> Any:
    """A definition as plain data."""
    said = msgspec.to_builtins(value)
    return {key: strip(item) for key, item in said.items() if "origin" not in key and key != "at"}


def strip(item: Any) -> Any:
    if isinstance(item, list | tuple):
        return [strip(each) for each in item]
    if isinstance(item, dict):
        places = ("origin", "at") if "origin" in item else ()
        return {key: strip(each) for key, each in item.items() if key not in places}
    return item


_RESULTS = {Subject.NODE: node, Subject.PARAM: param, Subject.FEATURE: layer, Subject.GROUP: layer}
