"""What each line of HTCondor's configuration language is."""

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from gitcfg.convert.condor.comments import CommentBlock
from gitcfg.convert.condor.lines import Line, Lines
from gitcfg.convert.condor.sources import Source, import_error
from gitcfg.model.names import shown

_FLAGS = re.IGNORECASE | re.ASCII  # HTCondor's blanks are those of C
_COMMENT = re.compile(r"#+\s*gitcfg\s*:\s*(.*)", _FLAGS)
_CONDITION = re.compile(r":?(if|elif|else|endif)(?:\s+(.*)|\s*)", _FLAGS)
_COMMAND = re.compile(r"[@:]?\s*(?:(include|use)(?=[\s:])|(error|warning)(?=\s*:))\s*(.*)", _FLAGS)
_LONG = re.compile(r"([A-Za-z_$][^=:\s]*)\s*@=\s*(\w*)", _FLAGS)
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", _FLAGS)
_MORE = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s+\+=\s*(.*)", _FLAGS)
_NUMBERED = re.compile(r"([0-9][A-Za-z0-9_.]*)\s*[=:]", _FLAGS)
_COMPUTED = re.compile(r"[A-Za-z0-9_.]*\$\([^=]*?\)[^=:\s]*\s*[=:]", _FLAGS)


class StatementKind(StrEnum):
    """Kinds of lines."""

    SETTING = "setting"
    LONG = "long"  # a value of several lines, NAME @=end, or of a name that begins with a digit
    COMPUTED = "computed"  # a setting of a name that holds macros
    IF = "if"
    ELIF = "elif"
    ELSE = "else"
    ENDIF = "endif"
    INCLUDE = "include"
    USE = "use"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"  # a comment that is meant for gitcfg


class Statement(msgspec.Struct, frozen=True):
    """One line: of a setting `name` and `rest`, its value; of all others `rest` is what follows the word.

    `about` is what the comment right above a setting says.
    """

    kind: StatementKind
    name: str
    rest: str
    line: Line
    about: str = ""


def parse_statements(source: Source) -> Iterator[Statement]:
    """The lines that say something. GitcfgError: one that HTCondor would not take."""
    lines, above = Lines(source), CommentBlock()
    for line in lines:
        if not line.text or line.text.startswith("#"):
            yield from _parse_comment(line, above)
            continue
        long = _LONG.fullmatch(line.text)
        found = _parse_line(line) if long is None else _parse_long(long, lines, line)
        about = above.take(found.name)
        yield msgspec.structs.replace(found, about=about) if about else found


def _parse_comment(line: Line, above: CommentBlock) -> Iterator[Statement]:
    """A comment, or nothing."""
    note = _COMMENT.fullmatch(line.text)
    if note is not None:
        said = note[1].strip()
        yield Statement(StatementKind.NOTE, "", said, line)
        if said == "default":  # as much about the next setting as what stands above both
            return
    if note is None and line.text:
        above.add(line.text)
    else:
        above.clear()


def _parse_long(found: re.Match[str], lines: Lines, line: Line) -> Statement:
    return Statement(StatementKind.LONG, found[1], "", lines.take_block(found[2], line))


def _parse_line(line: Line) -> Statement:
    if (found := _CONDITION.fullmatch(line.text)) is not None:
        return Statement(StatementKind(found[1].lower()), "", found[2] or "", line)
    if (found := _COMMAND.fullmatch(line.text)) is not None:
        return Statement(StatementKind((found[1] or found[2]).lower()), "", found[3], line)
    if (found := _SETTING.fullmatch(line.text)) is not None:
        return Statement(StatementKind.SETTING, found[1], found[2], line)
    if (found := _MORE.fullmatch(line.text)) is not None:  # HTCondor 25 takes it as this, to the letter
        return Statement(StatementKind.SETTING, found[1], f"$({found[1]}) {found[2]}".rstrip(), line)
    if (found := _NUMBERED.match(line.text)) is not None:
        return Statement(StatementKind.LONG, found[1], "", line)
    if _COMPUTED.match(line.text):
        return Statement(StatementKind.COMPUTED, "", "", line)
    reason = f"HTCondor would not take this line: {shown(line.text)}"
    raise import_error(line.file, line.number, reason, "Each line is NAME = VALUE, a comment, or a command.")
