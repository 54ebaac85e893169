"""The lines of a case that say which findings are expected."""

import re
from collections.abc import Iterator

import msgspec

from gitcfg.model import Finding
from gitcfg.nodeset import expand
from tests.cases_text import lines, unescape

_LINE = re.compile(
    r"(?P<maybe>maybe )?(?P<code>GC\d{3}) (?P<severity>error|warning|\*) \[(?P<subjects>.*?)\]"
    r"(?: nodes=(?P<nodes>\S+))?(?: at=(?P<at>\S+))?(?: cause=(?P<cause>\S+))?(?: hint=(?P<hint>.+))?"
)


class Expected(msgspec.Struct, frozen=True):
    """A finding that a case asks for; None is what it does not judge."""

    line: str
    code: str
    severity: str | None
    subjects: tuple[str, ...] | None
    nodes: frozenset[str] | None
    at: tuple[str, ...] = ()
    hint: str = ""
    maybe: bool = False
    cause: tuple[str, ...] = ()

    def fits(self, found: Finding) -> bool:
        """Is this the finding, as far as the case judges it?"""
        return (
            found.code == self.code
            and self.severity in (None, found.severity)
            and self.subjects in (None, found.subjects)
            and self.nodes in (None, frozenset(found.nodes))
            and all(
                any(f"{origin}:".startswith(f"{place}:") for origin in found.origins) for place in self.at
            )
            and self.hint in found.hint
            and self.cause in ((), found.cause)
        )


def read_findings(body: str) -> Iterator[Expected]:
    """The findings that a section lists."""
    for line in lines(body):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"not a finding's line: {line}")
        yield _expected(line, match)


def _expected(line: str, match: re.Match[str]) -> Expected:
    names = unescape(match["subjects"]).decode()
    nodes = match["nodes"] or ""
    return Expected(
        line=line,
        code=match["code"],
        severity=None if match["severity"] == "*" else match["severity"],
        subjects=None if names == "*" else tuple(filter(None, names.split(", "))),
        nodes=None if nodes == "*" else frozenset(expand(nodes, 1000) if nodes else ()),
        at=tuple(filter(None, (match["at"] or "").split(","))),
        hint=match["hint"] or "",
        maybe=bool(match["maybe"]),
        cause=tuple(re.split(r"(?<=^GC\d{3})\[|,", match["cause"][:-1])) if match["cause"] else (),
    )
