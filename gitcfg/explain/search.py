"""Finds texts in names, descriptions and values, as they are written, of everything that is defined."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.document_search import documents, in_document
from gitcfg.explain.excerpt import in_lines
from gitcfg.explain.match import Found, Match, match
from gitcfg.explain.veil import Veil, veiled
from gitcfg.explain.wanted import Wanted
from gitcfg.model import Model, Origin

ORDER = (
    *("node", "group", "feature", "parameter", "subsystem"),
    *("nodeset", "override", "hold", "secret", "rule", "allocation", "template", "file", "setting"),
)


Key = tuple[str, str]
"""A definition's kind and name."""


def search(fleet: Fleet, texts: Sequence[str]) -> tuple[Match, ...]:
    """Where texts are found, in definitions that hold all of them; small and capital letters are one.

    In order of kind and name. GitcfgError: a text is empty.
    """
    wanted = Wanted(texts)
    held: dict[Key, frozenset[int]] = {}
    found: dict[Key, list[Match]] = {}
    for numbers, one in _everywhere(fleet, wanted):
        key = (one.kind, one.name)
        held[key] = held.get(key, frozenset()) | numbers
        found.setdefault(key, []).append(one)
    keys = sorted((key for key in found if held[key] == wanted.all), key=_order)
    return tuple(one for key in keys for one in _lines(found[key]))


def _order(key: Key) -> tuple[int, str]:
    return ORDER.index(key[0]), key[1]


def _lines(matches: Iterable[Match]) -> Iterator[Match]:
    """A field's matches in the same line as one."""
    found: dict[tuple[str, str, int, str], list[Match]] = {}
    for one in matches:
        key = (one.field, one.origin.file, one.origin.line, one.excerpt)
        found.setdefault(key, []).append(one)
    for same in found.values():
        spans = sorted({span for one in same for span in one.spans})
        yield msgspec.structs.replace(min(same, key=lambda one: one.origin), spans=tuple(spans))


def _everywhere(fleet: Fleet, wanted: Wanted) -> Iterator[Found]:
    for kind, name, file in _named(fleet.model):
        spans = wanted.spans(name)
        if spans:
            yield wanted.held(name), Match(kind, name, "name", Origin(file), name, spans)
    veil = Veil(fleet)
    for file, definition in documents(fleet.model).items():
        yield from in_document(fleet, wanted, veil, file, definition)
    texts = [("template", f"templates/{name}", name, text) for name, text in fleet.templates.items()]
    texts += [("file", f"files/{name}", name, text or "") for name, text in fleet.sources.items()]
    for kind, file, name, text in texts:
        for hit in veiled(text, in_lines(text, wanted.pattern)):
            yield wanted.held(text), match(kind, name, "line", file, hit)


def _named(model: Model) -> Iterator[tuple[str, str, str]]:
    """Kind, name and file of everything that is named by its file."""
    for file, (kind, name) in documents(model).items():
        if name:
            yield kind, name, file
    yield from (("template", name, f"templates/{name}") for name in model.templates)
    yield from (("file", name, f"files/{name}") for name in model.sources)
