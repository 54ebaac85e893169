"""Findings as GitHub's workflow commands: a runner that reads them shows them on the lines they are about."""

from collections.abc import Iterable, Iterator

from gitcfg.check.codes import CODES
from gitcfg.cli.forge import Entry, line_of, report_entries, whole
from gitcfg.model import Finding


def github_commands(findings: Iterable[Finding], prefix: str) -> Iterator[str]:
    """A command for each finding, errors first."""
    for found in report_entries(findings, prefix):
        title = f"{found.finding.code} {CODES[found.finding.code].title}"
        properties = {
            "file": whole(found.place.file),
            "line": str(found.place.line),
            "col": str(found.place.column),
            "title": title,
        }
        said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        yield f"::{found.finding.severity} {said}::{_data(_message(found))}"


def _message(found: Entry) -> str:
    """In a log only this is shown, so it says again where it is."""
    finding = found.finding
    lines = [f"{line_of(str(found.place))}: {line_of(finding.message)}", found.on()]
    lines += [f"hint: {line_of(finding.hint)}"] if finding.hint else []
    lines += [f"also {line_of(str(place))}" for place in found.places[1:]]
    return "\n".join(filter(None, lines))


def _data(text: str) -> str:
    """A message, as the runner reads it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property's value, as the runner reads it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
