r"""Reads cases as data: a text file holds a repository and what gitcfg is to say of it.

Lines of `#` at the top say what the case proves. Sections follow, each under a line of `===`:

    === PATH               a file of the repository (gitcfg.yaml is `format: 1` unless given)
    === PATH (escaped)     the same with \n \r \t \0 \\ \xFF \u00e9 read, a backslash at the end of a line
                           joining it to the next, and \*65{[} for 65 brackets
    === PATH -> TARGET     a symbolic link
    === PATH (submodule)   another repository
    === no PATH            the file is left out
    === today 2026-01-01   the day of the check (this one, if nothing is said)
    === findings           the findings, one a line
    === all findings       the same, and there are no others, warnings included
    === features NODE      the node's feature set, a JSON list
    === params NODE        all the node's parameters, a JSON object
    === trail NODE PARAM   all steps, lowest first: a JSON object a line, only the keys given are judged
    === table DECLARATION  a table of operations on parameters so declared (see tests/cases_table.py)
    === before PATH        a file of the repository as it was, for what only a change can show
    === pushed by WHO      who pushes the change, for what only a push can show

Escapes are read in paths always. A finding's line is

    GC301 error [Missing] nodes=n[1-2] at=features/A.yaml:2:11,groups/g.yaml:1 hint=Add

with subjects in brackets; `*` for a severity, subjects or nodes that are not judged. Without `nodes` there
are none; every place in `at` is among the origins (a line alone will do), and the hint holds the text.
Before the hint `cause=GC201[Missing]` may name the finding from which it follows. `maybe` in front: it may
be missing. The listed findings are all errors there are; warnings that are not listed are judged only
under `all findings`, or if the file's name begins with their code. Findings with the same code, severity
and subjects count as one, with all their nodes and places."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.git.tree import SUBMODULE, Content, DictTree, Symlink
from gitcfg.model import Finding, Severity
from tests.cases_expected import Expected, read_findings
from tests.cases_table import Cell, read_table, spread
from tests.cases_text import lines, unescape

ROOT = Path(__file__).parent / "cases"


class Case(msgspec.Struct):
    """A repository, a day, and what is expected of them."""

    name: str
    files: dict[str, Content]
    today: date = date(2026, 1, 1)
    findings: tuple[Expected, ...] = ()
    every: bool = False
    features: dict[str, list[str]] = {}
    params: dict[str, dict[str, Any]] = {}
    trails: dict[tuple[str, str], list[dict[str, Any]]] = {}
    cells: list[Cell] = []
    before: dict[str, Content] = {}
    pusher: str = ""

    @property
    def former(self) -> DictTree:
        """The repository as it was."""
        return DictTree({"gitcfg.yaml": "format: 1\n", **self.before})

    @property
    def tree(self) -> DictTree:
        """The repository."""
        return DictTree(self.files)

    def is_judgement(self, found: Finding) -> bool:
        """Must the case list this finding?"""
        listed = {expected.code for expected in self.findings}
        severe = found.severity is Severity.ERROR
        return self.every or severe or found.code in listed or self.name.startswith(found.code)


def read_cases(folder: str) -> Iterator[Case]:
    """The cases of a folder under tests/cases, in order of name."""
    for path in sorted((ROOT / folder).glob("*.txt")):
        yield read(path.stem, path.read_text(encoding="utf-8"))


def read(name: str, text: str) -> Case:
    """The case that a text describes."""
    case = Case(name, {"gitcfg.yaml": "format: 1\n"})
    preface, *sections = re.split(r"^=== ", text, flags=re.MULTILINE)
    if any(line and not line.startswith("#") for line in preface.splitlines()):
        raise ValueError(f"{name}: only comments may stand before the first section")
    for section in sections:
        heading, _, body = section.partition("\n")
        _take(case, heading.strip(), body.rstrip("\n") + "\n")
    if case.cells:
        spread(case.cells, case.files)
    return case


def _take(case: Case, heading: str, body: str) -> None:
    word, _, rest = heading.partition(" ")
    if heading in ("findings", "all findings"):
        case.findings, case.every = tuple(read_findings(body)), word == "all"
    elif word == "today":
        case.today = date.fromisoformat(rest)
    elif word == "no":
        del case.files[rest]
    elif word == "table":
        case.cells.extend(read_table(len(case.cells), rest, body))
    elif word == "before":
        _take_file(case.before, rest, body)
    elif heading.startswith("pushed by "):
        case.pusher = heading.removeprefix("pushed by ")
    elif word in ("features", "params", "trail") and rest:
        _take_answer(case, word, rest.split(), body)
    else:
        _take_file(case.files, heading, body)


def _take_answer(case: Case, word: str, names: list[str], body: str) -> None:
    if word == "features":
        case.features[names[0]] = msgspec.json.decode(body)
    elif word == "params":
        case.params[names[0]] = msgspec.json.decode(body)
    else:
        case.trails[names[0], names[1]] = [msgspec.json.decode(line) for line in lines(body)]


def _take_file(files: dict[str, Content], heading: str, body: str) -> None:
    path, arrow, target = heading.partition(" -> ")
    path, escaped, _ = path.partition(" (escaped)")
    path, submodule, _ = path.partition(" (submodule)")
    path = unescape(path).decode()
    if arrow:
        files[path] = Symlink(target)
    elif submodule:
        files[path] = SUBMODULE
    else:
        files[path] = unescape(body) if escaped else body.lstrip("\n")


def differences(case: Case, findings: Iterable[Finding]) -> list[str]:
    """How the findings are not those that the case asks for, in lines to read."""
    left = _united(findings)
    wrong = []
    for expected in (*case.findings, *_of_cells(case)):
        fitting = next((found for found in left if expected.fits(found)), None)
        if fitting is not None:
            left.remove(fitting)
        elif not expected.maybe:
            wrong.append(f"missing: {expected.line}")
    return wrong + [f"not expected: {written(found)}" for found in left if case.is_judgement(found)]


def _of_cells(case: Case) -> Iterator[Expected]:
    for cell in case.cells:
        if cell.finding:
            yield Expected(f"{cell.expected} [{cell.param}] {cell}", cell.expected, None, (cell.param,), None)


def _united(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each fact, whatever classes of nodes it was found in."""
    facts: dict[tuple[str, str, tuple[str, ...]], Finding] = {}
    for found in findings:
        key = (found.code, found.severity, found.subjects)
        known = facts.get(key, found)
        nodes = tuple(sorted({*known.nodes, *found.nodes}))
        origins = tuple(dict.fromkeys((*known.origins, *found.origins)))
        facts[key] = msgspec.structs.replace(known, nodes=nodes, origins=origins)
    return list(facts.values())


def written(found: Finding) -> str:
    """A finding as a line of a case, with its message behind it."""
    nodes = f" nodes={','.join(found.nodes)}" if found.nodes else ""
    at = ",".join(str(origin) for origin in found.origins)
    return f"{found.code} {found.severity} [{', '.join(found.subjects)}]{nodes} at={at}  ({found.message})"
