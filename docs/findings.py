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

`gitcfg check` looks at everything and tells all it finds; it never stops at the first. Each finding has a
code that does not change, and says in which file and line it is, which nodes it concerns, and what to do if
that is clear. `gitcfg help GC204` shows in a terminal what stands here below [GC204](#gc204).

GC1xx are about files, GC2xx about definitions, GC3xx about single nodes, GC4xx about what spans nodes, and
GC5xx are warnings. Errors make `gitcfg check` exit with 1, and the pre-commit hook refuses them; warnings
alone do not. Two severities are not fixed: of [GC201](#gc201), where `undeclared` in `gitcfg.yaml` decides
about parameters that nobody declared; and of [GC307](#gc307), which is a warning about text that is not given
to a parser at all.

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
    """One explanation; its heading is the code alone, so that its anchor is known to everybody."""
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
