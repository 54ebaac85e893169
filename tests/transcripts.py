"""Runs the transcripts of a page: its commands, in order, print what the page shows.

A fenced block whose first line begins with `$ ` is a transcript. A command goes on while its lines end
in a backslash, and to the end of a here-document; the lines that follow are what it prints, stdout and
stderr in their order. `...` on a line of its own stands for any number of lines that are left out.

All blocks of a page share one folder. It begins empty (but for the page's own files, which are in the
folder of the page's name) if the page's first command makes something there, else as a fresh sample
pool. Commits are a day apart, from 2026-01-05 on; today is 2026-02-01. Hashes of commits may differ from
those that are shown. UPDATE_CASES=1 writes down what is printed where it differs: read it.
"""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from tests.transcripts_shell import Place, begin, execute, hashes

UPDATE = bool(os.environ.get("UPDATE_CASES"))

_BLOCK = re.compile(r"(?<=^```)(?P<kind>[^\n`]*)\n(?P<body>\$ .*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_HERE = re.compile(r"<<'?(\w+)'?")
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
_CHANCE = (  # what differs from run to run: keys, their fingerprints, how long something took or is ago
    (re.compile(r"(?<=SHA256:)[\w+/]{43}|(?<=ed25519:)[\w+/]{43}="), "KEY"),
    (re.compile(r"\bin \d+(?:\.\d+)? s\b"), "in 0.1 s"),
    (re.compile(r"\b(?:\d+ s ago|now)(?= |$)\s*", re.MULTILINE), "now "),
)
_LEFT_OUT = "..."


class Command(msgspec.Struct, frozen=True):
    """A command of a page, the line it stands in, and the lines that it is to print."""

    line: int
    text: str
    expected: str


def run(page: Path, tmp_path: Path, own: Path | None = None, programs: Path | None = None) -> None:
    """Run all transcripts of a page below an empty folder. AssertionError: something else is printed.

    `own` is a folder of files that are there in the beginning, in place of the page's; `programs` one in
    which gitcfg is, in place of the one that is installed.
    """
    text = page.read_text(encoding="utf-8")
    place = Place(tmp_path, tmp_path, own if own is not None else page.with_suffix(""))
    place.programs = programs or place.programs
    try:
        told, wrong = _follow(page, text, place)
    finally:
        _end_servers(place.home)
    if UPDATE and told != text:
        page.write_text(told, encoding="utf-8")
    assert not wrong, "\n\n".join(wrong) + "\n\nUPDATE_CASES=1 writes it down."


def _end_servers(home: Path) -> None:
    """End what a page started and, because something was wrong before that, did not end."""
    for file in home.glob("*.pid"):
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGTERM)


def transcripts(text: str) -> Iterator[re.Match[str]]:
    """The blocks of a page that are transcripts."""
    return _BLOCK.finditer(text)


def commands(body: str, line: int = 1) -> Iterator[Command]:
    """The commands of a transcript that begins in this line of its page."""
    lines = body.splitlines()
    place = 0
    while place < len(lines):
        first = place
        place = _end(lines, first)
        text = "\n".join([lines[first].removeprefix("$ "), *lines[first + 1 : place]])
        behind = place
        while place < len(lines) and not lines[place].startswith("$ "):
            place += 1
        yield Command(line + first, text, "".join(f"{told}\n" for told in lines[behind:place]))


def _end(lines: list[str], first: int) -> int:
    """The line behind a command that begins in this one."""
    place = first
    here = _HERE.search(lines[first])
    if here:
        return lines.index(here[1], first) + 1
    while lines[place].endswith("\\"):
        place += 1
    return place + 1


def _follow(page: Path, text: str, place: Place) -> tuple[str, list[str]]:
    """The page as it would have to be, and what is wrong with it."""
    told, wrong, end = "", [], 0
    for number, block in enumerate(transcripts(text)):
        if number == 0:
            begin(block["body"].removeprefix("$ "), place)
        told += text[end : block.start("body")]
        end = block.end("body")
        for command in commands(block["body"], text.count("\n", 0, block.start("body")) + 1):
            printed = execute(command.text, place)
            fits = printed == command.expected or matches(command.expected, printed, hashes(place.home))
            told += f"$ {command.text}\n{command.expected if fits else printed}"
            if not fits:
                wrong.append(f"{page.name}:{command.line}: $ {command.text}\n{printed}")
    return told + text[end:], wrong


def matches(expected: str, printed: str, known: frozenset[str] = frozenset()) -> bool:
    """Is this what a page shows, but for lines left out, blanks at line ends, and hashes of commits?"""
    expected, printed = _without_chance(expected), _without_chance(printed)
    pattern = ""
    for line in expected.splitlines():
        pattern += "(?:.*\n)*?" if line.strip() == _LEFT_OUT else f"{_line(line.rstrip())}\n"
    return re.fullmatch(pattern, _HASH.sub(lambda word: _named(word[0], known), printed)) is not None


def _without_chance(text: str) -> str:
    for pattern, instead in _CHANCE:
        text = pattern.sub(instead, text)
    return text


def _line(line: str) -> str:
    """A pattern for a line in which any hash may stand for any other."""
    parts = re.split(f"({_HASH.pattern})", line)
    return "".join(
        rf"(?:{part}|\x00{{{len(part)}}})" if _HASH.fullmatch(part) else re.escape(part) for part in parts
    )


def _named(word: str, known: frozenset[str]) -> str:
    """A commit's hash as so many NULs, anything else as it is."""
    return "\x00" * len(word) if any(commit.startswith(word) for commit in known) else word
