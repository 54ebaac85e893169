"""Makes docs/findings.md from the program: `make docs`."""

import re
from collections.abc import Iterator
from pathlib import Path

from gitcfg.check.findings import CODES, Code, above_blocks, explanation

_BLOCK = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)\bGC\d{3}\b(?!`)")

_PREFACE = """\
# Findings

<!-- Made by docs/findings.py from gitcfg/check/findings.py and gitcfg/check/explanations; do not edit. -->

`gitcfg check` reports everything that is wrong; it does not stop at the first error. Each finding has a
stable code, the file and line, the nodes that it concerns, and a hint where the solution is clear.
`gitcfg help GC204` shows the text of [GC204](#gc204) in a terminal.

| codes | about | severity |
| --- | --- | --- |
| GC1xx | files | error |
| GC2xx | definitions | error |
| GC3xx | single nodes | error |
| GC4xx | several nodes together | error |
| GC5xx | what is allowed, but probably a mistake | warning |

With an error, `gitcfg check` exits with 1 and the pre-commit hook rejects the commit. Warnings alone do
neither. Two codes can have both severities:

- [GC201](#gc201): `undeclared` in `gitcfg.yaml` sets the severity for undeclared parameters.
- [GC307](#gc307): text that no parser checks is a warning.

| code | severity | what must hold |
| --- | --- | --- |
"""


def findings() -> str:
    """The table of all findings, and their explanations."""
    return "".join(
        (
            _PREFACE,
            *(f"| {_link(code.name)} | {code.severity} | {code.title} |\n" for code in CODES.values()),
            *(_section(code, set(CODES)) for code in CODES.values()),
        )
    )


def _link(code: str) -> str:
    return f"[{code}](#{code.lower()})"


def _section(code: Code, linked: set[str]) -> str:
    """One explanation; its heading is the code alone, so that its anchor is stable."""
    _, _, body = explanation(code.name).partition("\n")
    text = "".join(_parts(body.strip() + "\n", linked - {code.name}))
    return f"\n## {code.name}\n\n**{code.title}** ({code.severity})\n\n{text}"


def _parts(body: str, linked: set[str]) -> Iterator[str]:
    """Prose with links to other codes, and blocks below the names of their files."""
    place = 0
    for block in _BLOCK.finditer(body):
        yield _prose(body[place : block.start()], linked)
        yield "\n" + above_blocks(block[0]).lstrip("\n")
        place = block.end()
    yield _prose(body[place:], linked)


def _prose(text: str, linked: set[str]) -> str:
    text = re.sub(r"^## (.*)$", r"**\1**", text, flags=re.MULTILINE)
    return _CODE.sub(lambda code: _link(code[0]) if code[0] in linked else code[0], text)


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(findings(), encoding="utf-8")
