"""Findings: their codes with what must hold and the long explanations, how they are made, and how folded."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from importlib import resources
from types import MappingProxyType

import msgspec

from gitcfg.model import Finding, GitcfgError, Origin, Severity


class Code(msgspec.Struct, frozen=True):
    """A code; `title` says what must hold."""

    name: str
    title: str

    @property
    def severity(self) -> Severity:
        """How grave its findings are, where nothing says otherwise."""
        return Severity.WARNING if self.name.startswith("GC5") else Severity.ERROR


_TITLES = {
    "GC101": "A file is one document of plain YAML 1.2, without tricks and of a sane size.",
    "GC102": "A document has the keys and types that its kind of file asks for.",
    "GC103": "Names are legal, and no two of a kind are the same, not even but for case.",
    "GC104": "The repository's format is one that this program reads.",
    "GC105": "Nothing is used that this version does not support.",
    "GC106": 'Nothing is left empty after a colon or a dash: null or "" is written out.',
    "GC201": "Everything that is referred to exists.",
    "GC202": "Features do not include each other in a circle.",
    "GC203": "Nothing depends on itself, and nothing comes after itself, however far around.",
    "GC204": "No two conflict of a feature and everything that it brings along.",
    "GC205": "Parameters that belong together do not conflict.",
    "GC206": "A value or operation fits its parameter's type and schema.",
    "GC207": "A parameter that must be changed has no default.",
    "GC208": "A template can be parsed and names only parameters that exist.",
    "GC209": "A file entry has one content, a normal path and a fitting mode.",
    "GC210": "A secret is whole: its content is there, encrypted for those whom it names.",
    "GC213": "No subsystem stops the agent that runs it.",
    "GC301": "A node has every feature that its features depend on.",
    "GC302": "No two features of a node conflict.",
    "GC303": "A node binds every parameter that its bound parameters depend on.",
    "GC304": "No two parameters that a node binds conflict.",
    "GC305": "A parameter that must be changed has a value on every node that binds it.",
    "GC306": "Final values fit their types and schemas, and a node's files do not get in each other's way.",
    "GC307": "The target's own parser accepts what is rendered, and reads what was meant.",
    "GC308": "A secret is bound only where its own file lets it go.",
    "GC309": "A file's format can carry every name and value that goes into the file.",
    "GC310": "In a nesting format no parameter's name is the beginning of another's.",
    "GC311": "A fact that a node's binding asks for is there.",
    "GC401": "Every rule is satisfied.",
    "GC402": "Every invariant holds.",
    "GC403": "No allocation is left over.",
    "GC404": "Values lie in their domains and are unique where they must be.",
    "GC405": "Whoever pushes a change may make it.",
    "GC406": "Collected values do not depend on each other in a circle.",
    "GC407": "Rules do not wait for each other in a circle.",
    "GC408": "Every expression can be evaluated on the nodes it is for.",
    "GC501": "Every setting counts on some node.",
    "GC502": "Every group and feature is had by some node.",
    "GC503": "A list holds each item once.",
    "GC504": "Every parameter has a description.",
    "GC505": "Every without and every override changes something.",
    "GC506": "A node's own list does not silently drop what its node set gives.",
    "GC507": "No override and no hold is there past its end, or ends soon.",
    "GC508": "Every $remove removes something.",
    "GC509": "A plain value does not throw away what lower layers composed.",
    "GC510": "Every parameter that a node binds goes into one of its files.",
    "GC511": "A node is retired first and deleted later.",
    "GC512": "Every secret is had by some node.",
    "GC513": "Nothing holds another tool's encrypted text, or a private key that everybody can read.",
    "GC514": "A file that takes a secret names it, or says its mode.",
    "GC518": "Every known warning that is to be ignored is there.",
}
CODES: Mapping[str, Code] = MappingProxyType({name: Code(name, title) for name, title in _TITLES.items()})


def lookup(code: str) -> Code:
    """Return the code of that name, in any case. GitcfgError: there is none."""
    known = CODES.get(code.upper())
    if known is None:
        family = [name for name in CODES if re.match(r"GC\d", code.upper()) and name[:3] == code[:3].upper()]
        hint = "A code is GC and three digits, as at the head of a finding: GC204."
        if family:
            hint = f"There are {', '.join(family)}."
        raise GitcfgError(f"There is no finding with the code {code!r}.", hint)
    return known


def explanation(code: str) -> str:
    """Return the long explanation of a code, in Markdown. GitcfgError: there is no such code."""
    known = lookup(code)
    folder = resources.files("gitcfg.check") / "explanations"
    return (folder / f"{known.name}.md").read_text(encoding="utf-8")


def above_blocks(text: str) -> str:
    """An explanation with its files' names in lines of their own: what shows Markdown drops them else."""
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
    """Return a hint as a sentence of its own: libraries' hints begin in lower case."""
    return text[:1].upper() + text[1:]


class Tally:
    """Findings that many classes share: each is made once, and its nodes are collected."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[object, tuple[Finding, ...], list[str]]] = {}

    def add(
        self, name: Hashable, about: object, nodes: list[str], tell: Callable[[], Iterable[Finding]]
    ) -> None:
        """Tell of some nodes what is wrong with a thing, known by its name and being the same object."""
        key = (name, id(about))
        if key not in self._entries:
            self._entries[key] = (about, tuple(tell()), [])
        self._entries[key][2].extend(nodes)

    def findings(self) -> Iterator[Finding]:
        """Yield all of them, each with its nodes."""
        for _, found, nodes in self._entries.values():
            for finding in found:
                yield msgspec.structs.replace(finding, nodes=tuple(nodes))


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the same code, subjects and words as one, with all their origins and nodes."""
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
    # In an order that does not depend on who found what first; the gravest speaks for all.
    group = sorted(group, key=lambda finding: (min(finding.nodes, default=""), finding.origins, finding.hint))
    first = min(group, key=lambda finding: not finding.is_error)
    origins: dict[Origin, None] = {origin: None for finding in group for origin in finding.origins}
    nodes = sorted({node for finding in group for node in finding.nodes})
    return msgspec.structs.replace(first, origins=tuple(origins), nodes=tuple(nodes))
