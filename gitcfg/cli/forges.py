"""Findings as reports for forges: GitHub's commands, GitLab's Code Quality, SARIF."""

import re
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from gitcfg import __version__
from gitcfg.check.findings import CODES, above_blocks, explanation
from gitcfg.cli.session import write
from gitcfg.load.repository import FILE
from gitcfg.model import Finding, Origin, Severity
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import fold


class Entry(msgspec.Struct, frozen=True):
    """A finding for a forge: its places as paths from git's top; the first is where it is shown."""

    finding: Finding
    places: tuple[Origin, ...]
    fingerprint: str

    @property
    def place(self) -> Origin:
        return self.places[0]

    def on(self) -> str:
        """Return the nodes, folded; "" for a finding about a file or a definition."""
        nodes = self.finding.nodes
        return f"on {counted(len(nodes), 'node')}: {line_of(fold(nodes))}" if nodes else ""


def report_entries(findings: Iterable[Finding], prefix: str) -> Iterator[Entry]:
    """Yield the findings, errors first and causes before consequences, because forges show a limited number.

    `prefix` is the repository's path in git's tree. A finding without a place is shown at gitcfg.yaml,
    because forges drop entries without one.
    """
    seen: dict[str, int] = {}
    for finding in sorted(findings, key=lambda finding: (not finding.is_error, bool(finding.cause))):
        places = finding.origins or (Origin(FILE),)
        if prefix:
            places = tuple(replace(origin, file=f"{prefix}/{origin.file}") for origin in places)
        # What stays if lines move, and nodes are added or removed; as JSON, so that different findings never
        # give the same text.
        subjects = tuple(map(whole, finding.subjects))
        known = ("gitcfg/1", finding.code, subjects, whole(finding.message), whole(places[0].file))
        fact = msgspec.json.encode(known).decode()
        seen[fact] = seen.get(fact, 0) + 1
        yield Entry(finding, places, sha256(f"{fact}\n{seen[fact]}".encode()).hexdigest())


def whole(text: str) -> str:
    """Return a text in which what UTF-8 (and so JSON) cannot encode is escaped: halves of surrogate pairs."""
    return text.encode("utf-8", "backslashreplace").decode()


def line_of(text: str) -> str:
    """Return a text on one line, without control sequences for a terminal or a forge's log."""
    return whole(safe(text))


# GitHub's workflow commands: a runner reads them and shows them at their lines.


def github_commands(findings: Iterable[Finding], prefix: str) -> Iterator[str]:
    """Yield a workflow command for each finding, errors first."""
    for found in report_entries(findings, prefix):
        properties = {
            "file": whole(found.place.file),
            "line": str(found.place.line),
            "col": str(found.place.column),
            "title": f"{found.finding.code} {CODES[found.finding.code].title}",
        }
        values = ((name, _escape(value)) for name, value in properties.items())
        listed = ",".join(f"{name}={value.replace(':', '%3A').replace(',', '%2C')}" for name, value in values)
        yield f"::{found.finding.severity} {listed}::{_escape(_github_message(found))}"


def _github_message(found: Entry) -> str:
    """Return the message with its place, because a log shows only the message."""
    finding = found.finding
    lines = [f"{line_of(str(found.place))}: {line_of(finding.message)}", found.on()]
    lines += [f"hint: {line_of(finding.hint)}"] if finding.hint else []
    lines += [f"also {line_of(str(place))}" for place in found.places[1:]]
    return "\n".join(filter(None, lines))


def _escape(text: str) -> str:
    """Return a message with the escapes of the runner."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# GitLab's Code Quality report, which a merge request shows at its lines.

_SEVERITY = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def quality_record(findings: Iterable[Finding], prefix: str) -> list[dict[str, Any]]:
    """Return an entry for each finding, errors first."""
    return [
        {
            "description": _description(found),
            "check_name": found.finding.code,
            "fingerprint": found.fingerprint,
            "severity": _SEVERITY[found.finding.severity],
            "location": {"path": whole(found.place.file), "lines": {"begin": found.place.line}},
        }
        for found in report_entries(findings, prefix)
    ]


def _description(found: Entry) -> str:
    """Return the description in one line, because GitLab shows no more."""
    finding = found.finding
    hint = f"Hint: {line_of(finding.hint)}" if finding.hint else ""
    nodes = f"({found.on()})" if finding.nodes else ""
    return " ".join(filter(None, (line_of(finding.message), nodes, hint)))


# SARIF 2.1.0, which code scanning and editors read.

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_IN_LABELS = re.compile(r"([\[\]\\])")


def sarif_record(findings: Iterable[Finding], prefix: str) -> dict[str, Any]:
    """Return one log with one run; files are named from git's top."""
    results = tuple(report_entries(findings, prefix))
    codes = sorted({found.finding.code for found in results})
    run = {
        "tool": {"driver": {"name": "gitcfg", "version": __version__, "rules": [_rule(c) for c in codes]}},
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of git's tree."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, codes.index(found.finding.code)) for found in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    """Return the rule of a code: its title, its reason in a sentence or two, and `gitcfg help`'s text."""
    text = above_blocks(explanation(code)).strip() + "\n"
    first = next(part for part in text.split("\n\n")[1:] if part.strip())
    return {
        "id": code,
        "shortDescription": {"text": CODES[code].title},
        "fullDescription": {"text": " ".join(first.split())},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": str(CODES[code].severity)},
    }


def _result(found: Entry, rule: int) -> dict[str, Any]:
    finding = found.finding
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": _sarif_message(found)},
        "locations": [{"physicalLocation": _physical(found.place)}],
        "relatedLocations": [
            {"id": number, "physicalLocation": _physical(place)}
            for number, place in enumerate(found.places[1:], 1)
        ],
        "partialFingerprints": {"gitcfg/v1": found.fingerprint},
        "properties": {
            "subjects": [whole(subject) for subject in finding.subjects],
            "nodeset": whole(fold(finding.nodes)),
            "count": len(finding.nodes),
            "hint": whole(finding.hint),
        },
    }


def _sarif_message(found: Entry) -> str:
    """Return the whole message, because forges show nothing else.

    The other places are links, because otherwise forges do not show them.
    """
    finding = found.finding
    lines = [_text(finding.message), found.on()]
    lines += [f"Hint: {_text(finding.hint)}"] if finding.hint else []
    labels = (_IN_LABELS.sub(r"\\\1", line_of(str(place))) for place in found.places[1:])
    lines += [f"Also [{label}]({number})." for number, label in enumerate(labels, 1)]
    return "\n".join(filter(None, lines))


def _text(text: str) -> str:
    """Return a text without links."""
    return line_of(text).replace("](", "] (")


def _physical(place: Origin) -> dict[str, Any]:
    return {
        "artifactLocation": {"uri": quote(whole(place.file)), "uriBaseId": _ROOT},
        "region": {"startLine": place.line, "startColumn": place.column},
    }


def write_report(form: str, findings: Iterable[Finding], prefix: str) -> None:
    """Write findings as `github`, `gitlab` or `sarif`; `prefix` is the repository's path in git's tree."""
    if form == "github":
        write("".join(f"{line}\n" for line in github_commands(findings, prefix)))
    elif form == "gitlab":
        write(_document(quality_record(findings, prefix)))
    else:
        write(_document(sarif_record(findings, prefix)))
    sys.stdout.flush()  # a job's log has both streams, and the summary comes last


def _document(record: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"
