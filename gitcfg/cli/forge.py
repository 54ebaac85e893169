"""What all reports for forges share: where a finding is in git's tree, its words, and what it is known by."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from gitcfg.load.repository import FILE
from gitcfg.model import Finding, Origin
from gitcfg.model.nodeset import fold
from gitcfg.model.text import counted, safe


class Entry(msgspec.Struct, frozen=True):
    """A finding as a forge is told of it: places from git's top on, the first of them where it is shown."""

    finding: Finding
    places: tuple[Origin, ...]
    fingerprint: str

    @property
    def place(self) -> Origin:
        return self.places[0]

    def on(self) -> str:
        """The nodes, folded; empty for what is wrong with a file or a definition."""
        nodes = self.finding.nodes
        return f"on {counted(len(nodes), 'node')}: {line_of(fold(nodes))}" if nodes else ""


def report_entries(findings: Iterable[Finding], prefix: str) -> Iterator[Entry]:
    """The findings, errors first and causes before what follows: forges show only so many.

    `prefix` is the repository's place in git's tree. What has no place of its own is told of
    gitcfg.yaml, because forges drop what is nowhere.
    """
    seen: dict[str, int] = {}
    for finding in sorted(findings, key=lambda finding: (not finding.is_error, bool(finding.cause))):
        places = tuple(_inside(prefix, origin) for origin in finding.origins or (Origin(FILE),))
        fact = _fact(finding, places[0].file)
        seen[fact] = seen.get(fact, 0) + 1
        yield Entry(finding, places, sha256(f"{fact}\n{seen[fact]}".encode()).hexdigest())


def _inside(prefix: str, origin: Origin) -> Origin:
    return Origin(f"{prefix}/{origin.file}", origin.line, origin.column) if prefix else origin


def _fact(finding: Finding, file: str) -> str:
    """What stays when lines move and nodes come and go; JSON, so that no text can look like two."""
    fact = ("gitcfg/1", finding.code, finding.subjects, finding.message, file)
    return msgspec.json.encode([_whole(part) for part in fact]).decode()


def _whole(part: str | tuple[str, ...]) -> object:
    """JSON has no halves of surrogate pairs."""
    return whole(part) if isinstance(part, str) else [whole(text) for text in part]


def whole(text: str) -> str:
    """A text that UTF-8 can say; what it cannot is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def line_of(text: str) -> str:
    """A text on one line, without what a terminal or a forge's log would take as commands."""
    return whole(safe(text))
