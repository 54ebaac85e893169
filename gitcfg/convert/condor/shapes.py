"""Types and spellings of parameters, from their values and from what HTCondor knows."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.compile import values as lists
from gitcfg.convert.condor.chains import Chain, infer_separator
from gitcfg.convert.condor.factoring import Chains
from gitcfg.convert.condor.known import KnownName
from gitcfg.convert.expressions import parse_operators
from gitcfg.convert.literals import LITERALS, convert_text

_EXACT = frozenset({"TRUE", "FALSE"})  # as gitcfg writes them: in other words the case may matter to somebody


class ParameterType(msgspec.Struct, frozen=True):
    """A parameter: how it is spelt, its type, how its items are told apart, and words about it."""

    name: str
    kind: str
    separator: str | None
    description: str

    def value(self, text: str) -> Any:
        """A text as YAML writes it."""
        if self.kind == "list":
            return lists.split(text, self.separator)
        return convert_text(self.kind, text)

    @property
    def declaration(self) -> dict[str, Any]:
        """What is declared, without what the file's `defaults:` say."""
        return {
            **({"description": self.description} if self.description else {}),
            **({"type": self.kind} if self.kind != "string" else {}),
            **({"separator": self.separator} if self.separator else {}),
        }


def infer_types(hosts: Chains, known: Mapping[str, KnownName]) -> dict[str, ParameterType]:
    """Every parameter by its name in lower case."""
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
    """The type that all of some texts have; `known` is what HTCondor takes them for."""
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
    return (
        "expression"
        if all(found) and any(one is not None and one.is_judgement for one in found)
        else "string"
    )
