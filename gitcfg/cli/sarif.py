"""Findings as SARIF 2.1.0, which code scanning and editors read."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from gitcfg import __version__
from gitcfg.check.codes import CODES, above_blocks, explanation
from gitcfg.cli.forge import Entry, line_of, report_entries, whole
from gitcfg.model import Finding, Origin
from gitcfg.model.nodeset import fold

Record = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_IN_LABELS = re.compile(r"([\[\]\\])")


def sarif_record(findings: Iterable[Finding], prefix: str) -> Record:
    """One log with one run; files are named from git's top on."""
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


def _rule(code: str) -> Record:
    """A code: what must hold, why in a sentence or two, and all that `gitcfg help` says of it."""
    text = above_blocks(explanation(code)).strip() + "\n"
    first = next(part for part in text.split("\n\n")[1:] if part.strip())
    return {
        "id": code,
        "shortDescription": {"text": CODES[code].title},
        "fullDescription": {"text": " ".join(first.split())},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": str(CODES[code].severity)},
    }


def _result(found: Entry, rule: int) -> Record:
    finding = found.finding
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": _message(found)},
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


def _message(found: Entry) -> str:
    """All of it, for forges show nothing else; the other places are links, for else nobody sees them."""
    finding = found.finding
    lines = [_text(finding.message), found.on()]
    lines += [f"Hint: {_text(finding.hint)}"] if finding.hint else []
    lines += [f"Also [{_label(place)}]({number})." for number, place in enumerate(found.places[1:], 1)]
    return "\n".join(filter(None, lines))


def _text(text: str) -> str:
    """A text in which there are no links."""
    return line_of(text).replace("](", "] (")


def _label(place: Origin) -> str:
    return _IN_LABELS.sub(r"\\\1", line_of(str(place)))


def _physical(place: Origin) -> Record:
    return {
        "artifactLocation": {"uri": quote(whole(place.file)), "uriBaseId": _ROOT},
        "region": {"startLine": place.line, "startColumn": place.column},
    }
