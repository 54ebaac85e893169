"""What writes a parameter's value: file entries by their formats, and templates."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Entry, Reference
from gitcfg.explain.layers import labelled
from gitcfg.explain.said import entries
from gitcfg.model import Origin
from gitcfg.render.files import selected
from gitcfg.render.templates import TemplateEngine


def taking_files(fleet: Fleet, engine: TemplateEngine, name: str) -> tuple[Entry, ...]:
    """The file entries whose format would write a parameter."""
    found = [
        (label, said)
        for label, layer in labelled(fleet.model)
        for said in layer.files.values()
        if said.format is not None and selected(fleet, said, {name: ""})
    ]
    return entries(fleet, engine, found)


def taking_templates(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Reference]:
    """The templates that name a parameter, or go through all of them."""
    for template in fleet.templates:
        analysis = engine.analyse(template)
        line = dict(analysis.params).get(name, 1 if analysis.everything else None)
        if line is not None:
            path = f"templates/{template}"
            yield Reference(path, Origin(path, line))
