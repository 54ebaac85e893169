"""Lines as HTCondor joins them, each with the lines that it was made of."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from gitcfg.convert.condor.sources import Source, import_error
from gitcfg.model.names import shown

MAX_LINE = 64 << 10
_BLANKS = " \t\v\f\r"


class Line(msgspec.Struct, frozen=True):
    """A whole line: where it begins, what it says, and how it is written."""

    file: str
    number: int
    text: str
    raw: str

    @property
    def place(self) -> str:
        """The place as messages name it."""
        return f"{self.file}:{self.number}"

    @property
    def tidy(self) -> str:
        """How it is written, without blanks at ends of lines, and with spaces for tabs before them."""
        return "".join(f"{_expand_indent(line.rstrip(_BLANKS))}\n" for line in self.raw.split("\n")[:-1])


def _expand_indent(line: str) -> str:
    text = line.lstrip(" \t")
    return line[: len(line) - len(text)].expandtabs(4) + text


class Lines:
    """A source, line after line; `block` takes the lines of a value as they are."""

    def __init__(self, source: Source) -> None:
        self._file = source.name
        self._lines = source.text.split("\n")
        if self._lines[-1] == "":
            self._lines.pop()
        self._next = 0

    def __iter__(self) -> Iterator[Line]:
        while self._next < len(self._lines):
            first, parts, more = self._next, list[str](), True
            while more and self._next < len(self._lines):
                part = self._take().strip(_BLANKS)
                if parts and part.startswith("#"):  # a comment within is blank, and may go on
                    part = "\\" if part.endswith("\\") else ""
                comment = not parts and part.startswith("#")
                more = part.endswith("\\") and not comment
                parts.append(part.removesuffix("\\") if more else part)
            yield self._line(first, "".join(parts))

    def take_block(self, tag: str, begun: Line) -> Line:
        """The lines up to `@tag`, with the one that they began with. GitcfgError: there is no end."""
        first = begun.number - 1
        while self._next < len(self._lines):
            if self._take().strip(_BLANKS) == f"@{tag}":
                return self._line(first, begun.text)
        raise import_error(
            self._file, begun.number, f"The value that begins here has no end: @{tag} is missing."
        )

    def _take(self) -> str:
        line = self._lines[self._next]
        self._next += 1
        return line

    def _line(self, first: int, text: str) -> Line:
        written = "\n".join(self._lines[first : self._next]) + "\n"
        if len(written) > MAX_LINE:
            raise import_error(
                self._file, first + 1, f"A line has {len(written)} characters, more than {MAX_LINE}."
            )
        return Line(self._file, first + 1, text.strip(_BLANKS), written)


# Comments right above settings as descriptions, without what people keep there besides words.

LONGEST = 2_000
"""Characters of a comment that still describes one setting; longer ones are chapters of a manual."""

_RULER = re.compile(r"#{4,}.*|#+\s*(?:(?:[^\w#\s]|_)[\W_]*|[-=*~_+]{3,}.*)")
_COMMAND = re.compile(
    r"@?(?:use\s+(?:role|feature|policy|security|templates?)\s*:|include(?:\s+(?:ifexist|command|output))?\s*:"
    r"|(?:if|elif)\s+(?:!\s*)?(?:(?:defined|version)\s|true\b|false\b|\$|\d)|(?:else|endif)$)",
    re.IGNORECASE,
)
_SETTING = re.compile(r"([A-Za-z_$][\w.$()]*)\s*[@+]?=(?!=|[?!]=)")
_HEADER = re.compile(
    r"copyright|licen[cs]ed?\b|warrant(?:y|ies)|all rights reserved|(?:managed|generated) by|do not edit"
    r"|puppet|ansible|cfengine|\bsalt\b|-\*-|\bvim?:",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"\s#+\s*$")
_ITEM = re.compile(r"[-*+•]\s|\d+[.)]\s")


class CommentBlock:
    """The comment lines right above the line that is read; `begun`: something stood before them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._begun = False

    def add(self, text: str) -> None:
        """Take a comment."""
        self._lines.append(text)

    def clear(self) -> None:
        """A blank line, or one that is no setting: what stands above it is not about what follows."""
        self._lines.clear()

    def take(self, name: str) -> str:
        """What they say of a setting."""
        found = describe(self._lines, name, self._begun) if self._lines and name else ""
        self._lines.clear()
        self._begun = True
        return found


def describe(lines: Sequence[str], name: str, begun: bool) -> str:
    """The words of comment lines above a setting; none in headers, rulers and settings that are put out.

    Not `begun`: they may be the file's header.
    """
    words = _relevant_lines(lines, name)
    if not begun and any(map(_HEADER.search, lines)):
        return ""
    text = "\n".join(_join_paragraphs(words)).strip()
    return text if len(text) <= LONGEST else ""


def _relevant_lines(lines: Sequence[str], name: str) -> list[str]:
    """The lines since the last that is about something else, indented as they are below each other."""
    result: list[str] = []
    continued = False
    for line in lines:
        said = _CLOSED.sub("", _printable(line.lstrip("#"))).rstrip()
        setting = _SETTING.match(said.strip())
        if not continued and (_is_divider(line, said) or (setting and setting[1].lower() != name.lower())):
            result.clear()
        elif not continued and setting is None:
            result.append(said)
        continued = said.endswith("\\") and (continued or setting is not None)
    least = min((len(line) - len(line.lstrip()) for line in result if line), default=0)
    return [line[least:] for line in result]


def _is_divider(line: str, said: str) -> bool:
    return _RULER.fullmatch(line) is not None or _COMMAND.match(said.strip()) is not None


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text.expandtabs())


def _join_paragraphs(words: Sequence[str]) -> Iterator[str]:
    """Paragraphs as one line each; items and what is indented stay lines of their own."""
    line = ""
    for text in words:
        if line and text and not text.startswith(" ") and not _ITEM.match(text):
            line = f"{line} {text}"
            continue
        if line:
            yield line
        if not text:
            yield ""
        line = text
    yield line


# What each line of HTCondor's configuration language is.

_FLAGS = re.IGNORECASE | re.ASCII  # HTCondor's blanks are those of C
_COMMENT = re.compile(r"#+\s*gitcfg\s*:\s*(.*)", _FLAGS)
_CONDITION = re.compile(r":?(if|elif|else|endif)(?:\s+(.*)|\s*)", _FLAGS)
_COMMAND_STATEMENTS = re.compile(r"[@:]?\s*(?:(include|use)(?=[\s:])|(error|warning)(?=\s*:))\s*(.*)", _FLAGS)
_LONG = re.compile(r"([A-Za-z_$][^=:\s]*)\s*@=\s*(\w*)", _FLAGS)
_SETTING_STATEMENTS = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", _FLAGS)
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
    if (found := _COMMAND_STATEMENTS.fullmatch(line.text)) is not None:
        return Statement(StatementKind((found[1] or found[2]).lower()), "", found[3], line)
    if (found := _SETTING_STATEMENTS.fullmatch(line.text)) is not None:
        return Statement(StatementKind.SETTING, found[1], found[2], line)
    if (found := _MORE.fullmatch(line.text)) is not None:  # HTCondor 25 takes it as this, to the letter
        return Statement(StatementKind.SETTING, found[1], f"$({found[1]}) {found[2]}".rstrip(), line)
    if (found := _NUMBERED.match(line.text)) is not None:
        return Statement(StatementKind.LONG, found[1], "", line)
    if _COMPUTED.match(line.text):
        return Statement(StatementKind.COMPUTED, "", "", line)
    reason = f"HTCondor would not take this line: {shown(line.text)}"
    raise import_error(line.file, line.number, reason, "Each line is NAME = VALUE, a comment, or a command.")


# A whole `if` among statements: where it ends, and what its tests guard.

_STEPS = {StatementKind.IF: 1, StatementKind.ENDIF: -1}


def find_endif(found: Sequence[Statement], start: int) -> int:
    """Where the `endif` of an `if` stands. GitcfgError: there is none."""
    depth = 0
    for at in range(start, len(found)):
        depth += _STEPS.get(found[at].kind, 0)
        if depth == 0:
            return at
    line = found[start].line
    raise import_error(line.file, line.number, "This `if` has no `endif`.")


def split_branches(found: Sequence[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Tests with what they guard, of a whole `if` from its first statement to its `endif`."""
    test, branch, depth = found[0], list[Statement](), 0
    for statement in found[1:]:
        if depth == 0 and statement.kind in (StatementKind.ELIF, StatementKind.ELSE, StatementKind.ENDIF):
            yield test, branch
            test, branch = statement, []
            continue
        depth += _STEPS.get(statement.kind, 0)
        branch.append(statement)
