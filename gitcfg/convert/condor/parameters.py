"""Declarations of parameters: from the values of hosts and their comments, or from HTCondor's own table."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec

from gitcfg.compile.values import split_list
from gitcfg.convert.base import DEFAULTS, LITERALS, Note, Place, convert_text, parse_operators
from gitcfg.convert.condor.factoring import Chain, Chains, Feature, infer_separator
from gitcfg.convert.condor.host import Host
from gitcfg.convert.condor.htcondor import KnownName
from gitcfg.load import yaml
from gitcfg.model.names import PARAMETER

FOLDER = "parameters/htcondor"
_EXACT = frozenset({"TRUE", "FALSE"})  # as gitcfg writes them; in other spellings the case may matter
_BLANKS = re.compile(r"\s+")


class ParameterType(msgspec.Struct, frozen=True):
    """A parameter: its spelling, type, list separator and description."""

    name: str
    kind: str
    separator: str | None
    description: str

    def value(self, text: str) -> Any:
        """Return a text as a value in YAML."""
        if self.kind == "list":
            return split_list(text, self.separator)
        return convert_text(self.kind, text)

    @property
    def declaration(self) -> dict[str, Any]:
        """The declaration, without what the `defaults:` of the file have."""
        return {
            **({"description": self.description} if self.description else {}),
            **({"type": self.kind} if self.kind != "string" else {}),
            **({"separator": self.separator} if self.separator else {}),
        }


def infer_types(hosts: Chains, known: Mapping[str, KnownName]) -> dict[str, ParameterType]:
    """Return the types of all parameters that hosts set, by name in lower case."""
    found: dict[str, list[Chain]] = {}
    for host in sorted(hosts):
        for key, chain in hosts[host].items():
            found.setdefault(key, []).append(chain)
    return {key: _infer_parameter_type(found[key], known.get(key)) for key in sorted(found)}


def _infer_parameter_type(given: list[Chain], known: KnownName | None) -> ParameterType:
    name = known.name if known is not None else given[0].name
    apart = infer_separator(name, given)
    words = known.description if known is not None else ""
    texts = {chain.text for chain in given}
    kind = "list" if apart else infer_type(texts, known.kind if known is not None else "")
    return ParameterType(name, kind, apart, words)


def infer_type(texts: Iterable[str], known: str) -> str:
    """Return the type that all texts have; `known` is HTCondor's own type, or empty."""
    given = set(texts)
    if not all(given):
        return "string"
    if known in LITERALS and all(map(LITERALS[known], given)):
        return known
    if known == "path" and all(text.startswith(("/", "$(")) for text in given):
        return "path"
    if known in ("", "integer") and all(map(LITERALS["integer"], given)):
        return "integer"
    if not known and given <= _EXACT:
        return "boolean"
    found = [parse_operators(text) for text in sorted(given)]
    judges = any(one is not None and one.is_judgement for one in found)
    return "expression" if all(found) and judges else "string"


def declare_parameters(
    types: Mapping[str, ParameterType], defaults: Mapping[str, Any], about: Mapping[str, str]
) -> dict[str, Any]:
    """Return the declarations of all parameters by name; a comment overrides HTCondor's description."""
    result = {}
    for key, type_ in types.items():
        words = {"description": about[key]} if key in about else {}
        default = {"default": defaults[key]} if key in defaults else {}
        result[type_.name] = {**words, **type_.declaration, **words, **default}
    return dict(sorted(result.items()))


def collect_descriptions(hosts: Mapping[str, Host], notes: list[Note]) -> dict[str, str]:
    """Return the first comment above each setting, by name in lower case; note the others."""
    result: dict[str, str] = {}
    for name in sorted(hosts):
        for setting in hosts[name].settings:
            if setting.about and result.setdefault(setting.key, setting.about) != setting.about:
                reason = "It already has a comment as its description; this one is omitted."
                Place(notes, "line", setting.line.place).dropped(setting.name, reason)
    return result


def collect_defaults(
    features: Sequence[Feature], types: Mapping[str, ParameterType], notes: list[Note]
) -> dict[str, Any]:
    """Return the defaults that annotations declare.

    If a parameter has several, note that; they are imported as values instead.
    """
    found: dict[str, list[str]] = {}
    for one in features:
        for key, steps in one.steps.items():
            if steps and steps[-1].default and len(steps) == 1:
                found.setdefault(key, []).append(steps[-1].text)
    for key, texts in found.items():
        if len(set(texts)) > 1:
            reason = (
                "It has several defaults, but a parameter can have only one: they are imported as values."
            )
            Place(notes, "parameter", types[key].name).changed("default", reason)
    return {key: types[key].value(texts[0]) for key, texts in found.items() if len(set(texts)) == 1}


def default_files(
    known: Iterable[KnownName], declared: Callable[[str], bool], taken: Collection[str]
) -> dict[str, str]:
    """Return files with the parameters of HTCondor that are not `declared` yet, by first letter.

    No path is in `taken`.
    """
    letters: dict[str, dict[str, Any]] = {}
    for one in sorted(known, key=lambda one: (one.name.lower(), one.name)):
        if PARAMETER.fullmatch(one.name) and not declared(one.name):
            letters.setdefault(one.name[0].lower(), {})[one.name] = declare(one)
    defaults = {**DEFAULTS, "tags": ["htcondor"]}
    files = {}
    for letter, found in sorted(letters.items()):
        paths = (f"{FOLDER}/{letter}{number if number > 1 else ''}.yaml" for number in count(1))
        path = next(path for path in paths if path not in taken)
        files[path] = yaml.dump({"defaults": defaults, "parameters": found})
    return files


def declare(known: KnownName) -> dict[str, Any]:
    """Return the declaration of a parameter of HTCondor, without what the `defaults:` of the file have."""
    text = None if known.value is None else _BLANKS.sub(" ", known.value).strip()
    kind = _default_type(known.kind, text or "")
    return {
        **({"description": words} if (words := _BLANKS.sub(" ", known.description).strip()) else {}),
        **({"type": kind} if kind != DEFAULTS["type"] else {}),
        **({"default": convert_text(kind, text)} if text is not None else {}),
    }


def _default_type(known: str, text: str) -> str:
    """Return HTCondor's own type; if the default is an expression, values may be expressions, too."""
    if not text or known == "path":
        return known
    kind = infer_type([text], known)
    if kind in (known, "expression") or known == "string":
        return kind
    return known if "$" in text else "expression"
