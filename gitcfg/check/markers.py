"""GC513: other tools' encrypted text, and private keys that everybody can read, wherever text is written."""

from collections.abc import Iterator, Mapping

from gitcfg.check.fold import of
from gitcfg.check.places import bindings, files
from gitcfg.check.prose import prose
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown
from gitcfg.model.secrets import OPEN, WORDS, mark_in, marked, open_mark

_ENCRYPTED = "Nodes get it as it is, encrypted. `gitcfg secret set NAME` keeps a secret that they can read."
_OPEN = "Whoever reads the repository has it: make a new one, and keep that with `gitcfg secret set NAME`."


def markers(fleet: Fleet) -> Iterator[Finding]:
    """GC513 for every value, text, template and file that holds such a thing, at its first place."""
    for name, binding in bindings(fleet):
        if mark := mark_in(binding.given):
            yield from _of_value(fleet, name, mark, binding.at)
    for parameter in fleet.model.parameters.values():
        if parameter.default is not None and (mark := mark_in(parameter.default.given)):
            yield from _of_value(fleet, parameter.name, mark, parameter.default.at)
    yield from _in_facts(fleet)
    for one in prose(fleet.model):
        if mark := open_mark(one.text):
            yield _told(one.subject, f"{one.what} {shown(one.subject)}", mark, one.origin)
    for entry in files(fleet.model):
        if mark := mark_in(entry.text):
            yield _told(entry.path, f"The text of {shown(entry.path)}", mark, entry.origin)
    for folder, noun, texts in (
        ("templates", "template", fleet.templates),
        ("files", "file", fleet.sources if fleet.model.sources else {}),
    ):
        yield from _in_texts(folder, noun, texts)


def _in_texts(folder: str, noun: str, texts: Mapping[str, str | None]) -> Iterator[Finding]:
    for name, text in texts.items():
        found = marked(text) if text else None
        if text and found:
            place = Origin(f"{folder}/{name}", text.count("\n", 0, found.start()) + 1)
            yield _told(name, f"The {noun} {shown(name)}", found.lastgroup or "", place)


def _in_facts(fleet: Fleet) -> Iterator[Finding]:
    for node in fleet.model.hosts():
        for name, fact in node.facts.items():
            if mark := mark_in(fact.value):
                yield _told(name, f"The fact {shown(name)} of {shown(node.name)}", mark, node.origin)


def _of_value(fleet: Fleet, name: str, mark: str, at: Origin) -> Iterator[Finding]:
    """Of a parameter that is declared secret it is told already that its value is plain (GC206)."""
    if not fleet.declarations.secret(name):
        yield _told(name, f"The value of {shown(name)}", mark, at)


def _told(subject: str, what: str, mark: str, at: Origin) -> Finding:
    hint = _OPEN if mark in OPEN else _ENCRYPTED
    return of("GC513", subject, f"{what} holds {WORDS[mark]}.", [at], hint=hint, veiled=mark in OPEN)
