"""Findings: their codes with titles and explanations, how they are created, and how they are merged."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from importlib import resources
from types import MappingProxyType

import msgspec

from gitcfg.model import Finding, GitcfgError, Origin, Severity


class Code(msgspec.Struct, frozen=True):
    """A code; `title` is what must hold."""

    name: str
    title: str

    @property
    def severity(self) -> Severity:
        """The severity of its findings, if these do not set another."""
        return Severity.WARNING if self.name.startswith("GC5") else Severity.ERROR


_TITLES = {
    "GC101": "A file is one document of plain YAML 1.2 within the size limits.",
    "GC102": "A document matches the schema of its kind of file.",
    "GC103": "Names are valid, and unique within their kind even if case is ignored.",
    "GC104": "This version of gitcfg can read the repository's format.",
    "GC105": "The repository uses only what this version supports.",
    "GC106": 'Every key and list item has a value: `null` and `""` are written out.',
    "GC201": "Every name refers to something that exists.",
    "GC202": "Features do not include each other in a cycle.",
    "GC203": "Dependencies and orderings have no cycles.",
    "GC204": "A feature and all that it includes or depends on do not conflict.",
    "GC205": "Parameters that are needed together do not conflict.",
    "GC206": "Values and operations fit their parameter's type and schema.",
    "GC207": "A parameter with `must_change` has no default.",
    "GC208": "A template is valid and names only parameters that exist.",
    "GC209": "A file entry has exactly one content, a normalized path and a valid mode.",
    "GC210": "A secret's content exists and is encrypted for exactly its recipients.",
    "GC213": "No subsystem stops the agent that runs its commands.",
    "GC301": "A node has every feature that its features depend on.",
    "GC302": "The features of a node do not conflict.",
    "GC303": "A node binds every parameter that its bound parameters depend on.",
    "GC304": "The parameters that a node binds do not conflict.",
    "GC305": "A parameter with `must_change` has a value on every node that binds it.",
    "GC306": "Final values fit their types and schemas, and a node's file paths do not overlap.",
    "GC307": "The target's own parser accepts what is rendered, and reads what was meant.",
    "GC308": "A secret is bound only on nodes that its `for` condition allows.",
    "GC309": "A file's format can represent every name and value in the file.",
    "GC310": "In a JSON, YAML or TOML file, no parameter is both a value and a table.",
    "GC311": "A node has every fact that its bindings use.",
    "GC401": "Every rule is satisfied.",
    "GC402": "Every invariant holds.",
    "GC403": "No allocation is obsolete.",
    "GC404": "Values are in their domains, and unique where a rule requires it.",
    "GC405": "The signer and the pusher of a change are allowed to make it.",
    "GC406": "Collected values do not depend on each other in a cycle.",
    "GC407": "Rules do not depend on each other in a cycle.",
    "GC408": "Every expression can be evaluated on the nodes that it applies to.",
    "GC501": "Every setting takes effect on some node.",
    "GC502": "Every group and feature is used by a node.",
    "GC503": "A list has no duplicate items.",
    "GC504": "Every parameter has a description.",
    "GC505": "Every `without` and every override changes something.",
    "GC506": "A node's own list does not silently drop items of its node set's list.",
    "GC507": "No override and no hold is overdue or ends soon.",
    "GC508": "Every `$remove` removes something.",
    "GC509": "A plain value does not discard what lower layers composed.",
    "GC510": "Every parameter that a node binds is used in one of its files.",
    "GC511": "A node is retired before it is deleted.",
    "GC512": "Every secret is used by a node.",
    "GC513": "The repository contains no text that another tool encrypted, and no unencrypted private key.",
    "GC514": "A file entry names the secret parameters that it takes, or sets a mode.",
    "GC518": "Every entry of `ignore` matches a warning.",
}
CODES: Mapping[str, Code] = MappingProxyType({name: Code(name, title) for name, title in _TITLES.items()})


def lookup(code: str) -> Code:
    """Return the code of that name, in any case. Raise GitcfgError if there is none."""
    known = CODES.get(code.upper())
    if known is None:
        family = [name for name in CODES if re.match(r"GC\d", code.upper()) and name[:3] == code[:3].upper()]
        hint = "A code is GC and three digits, as at the head of a finding: GC204."
        if family:
            hint = f"There are {', '.join(family)}."
        raise GitcfgError(f"There is no finding with the code {code!r}.", hint)
    return known


def explanation(code: str) -> str:
    """Return the long explanation of a code, in Markdown. Raise GitcfgError if there is no such code."""
    known = lookup(code)
    folder = resources.files("gitcfg.check") / "explanations"
    return (folder / f"{known.name}.md").read_text(encoding="utf-8")


def above_blocks(text: str) -> str:
    """Return an explanation with the names of its files on lines of their own.

    Programs that show Markdown drop names after the fence.
    """
    return _FENCE.sub(_named, text)


_FENCE = re.compile(r"^```(?P<kind>\w+) (?P<path>\S+)(?P<when> before)?\n", re.MULTILINE)


def _named(fence: re.Match[str]) -> str:
    when = f",{fence['when']}" if fence["when"] else ""
    return f"\n`{fence['path']}`{when}\n\n```{fence['kind']}\n"


def of(
    code: str,
    subjects: str | tuple[str, ...],
    message: str,
    origins: Iterable[Origin],
    nodes: Iterable[str] = (),
    hint: str = "",
    grave: Severity | None = None,
    veiled: bool = False,
) -> Finding:
    """Return a finding, with the severity of its code unless another is given."""
    named = (subjects,) if isinstance(subjects, str) else subjects
    severity = grave or CODES[code].severity
    return Finding(code, named, message, tuple(origins), tuple(nodes), severity, sentence(hint), veiled)


def sentence(text: str) -> str:
    """Return a hint as a sentence of its own, since hints of libraries begin in lower case."""
    return text[:1].upper() + text[1:]


class Tally:
    """Findings that many classes share: each is made once, and its nodes are collected."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[object, tuple[Finding, ...], list[str]]] = {}

    def add(
        self, name: Hashable, about: object, nodes: list[str], tell: Callable[[], Iterable[Finding]]
    ) -> None:
        """Add nodes with a problem.

        Findings are made once for each name and object (compared by identity).
        """
        key = (name, id(about))
        if key not in self._entries:
            self._entries[key] = (about, tuple(tell()), [])
        self._entries[key][2].extend(nodes)

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, each with its nodes."""
        for _, found, nodes in self._entries.values():
            for finding in found:
                yield msgspec.structs.replace(finding, nodes=tuple(nodes))


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the same code, subjects and message as one, with all their origins and nodes."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.subjects, finding.message), []).append(finding)
    return tuple(
        sorted(
            map(_merged, groups.values()),
            key=lambda one: (one.code, one.subjects, one.origins, one.message, one.nodes),
        )
    )


def _merged(group: list[Finding]) -> Finding:
    # The order must not depend on which check ran first; the most severe finding determines the severity.
    group = sorted(group, key=lambda finding: (min(finding.nodes, default=""), finding.origins, finding.hint))
    first = min(group, key=lambda finding: not finding.is_error)
    origins: dict[Origin, None] = {origin: None for finding in group for origin in finding.origins}
    nodes = sorted({node for finding in group for node in finding.nodes})
    return msgspec.structs.replace(first, origins=tuple(origins), nodes=tuple(nodes))
