"""HTCondor's configuration language: lines, comments above settings, statements, and whole `if` blocks."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from gitcfg.convert.condor.sources import Source, import_error
from gitcfg.model.names import shown

MAX_LINE = 64 << 10
LONGEST = 2_000
"""The most characters of a comment for one setting; a longer one is a chapter of a manual."""
_BLANKS = " \t\v\f\r"
_FLAGS = re.IGNORECASE | re.ASCII  # HTCondor's blanks are those of C
_COMMENT = re.compile(r"#+\s*gitcfg\s*:\s*(.*)", _FLAGS)
_CONDITION = re.compile(r":?(if|elif|else|endif)(?:\s+(.*)|\s*)", _FLAGS)
_COMMAND = re.compile(r"[@:]?\s*(?:(include|use)(?=[\s:])|(error|warning)(?=\s*:))\s*(.*)", _FLAGS)
_LONG = re.compile(r"([A-Za-z_$][^=:\s]*)\s*@=\s*(\w*)", _FLAGS)
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", _FLAGS)
_MORE = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s+\+=\s*(.*)", _FLAGS)
_NUMBERED = re.compile(r"([0-9][A-Za-z0-9_.]*)\s*[=:]", _FLAGS)
_COMPUTED = re.compile(r"[A-Za-z0-9_.]*\$\([^=]*?\)[^=:\s]*\s*[=:]", _FLAGS)
_RULER = re.compile(r"#{4,}.*|#+\s*(?:(?:[^\w#\s]|_)[\W_]*|[-=*~_+]{3,}.*)")
_DISABLED_COMMAND = re.compile(
    r"@?(?:use\s+(?:role|feature|policy|security|templates?)\s*:|include(?:\s+(?:ifexist|command|output))?\s*:"
    r"|(?:if|elif)\s+(?:!\s*)?(?:(?:defined|version)\s|true\b|false\b|\$|\d)|(?:else|endif)$)",
    re.IGNORECASE,
)
_DISABLED_SETTING = re.compile(r"([A-Za-z_$][\w.$()]*)\s*[@+]?=(?!=|[?!]=)")
_HEADER = re.compile(
    r"copyright|licen[cs]ed?\b|warrant(?:y|ies)|all rights reserved|(?:managed|generated) by|do not edit"
    r"|puppet|ansible|cfengine|\bsalt\b|-\*-|\bvim?:",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"\s#+\s*$")
_ITEM = re.compile(r"[-*+•]\s|\d+[.)]\s")


class Line(msgspec.Struct, frozen=True):
    """A logical line: its beginning, its text, and the lines in the file."""

    file: str
    number: int
    text: str
    raw: str

    @property
    def place(self) -> str:
        """The file and the line number, as messages name them."""
        return f"{self.file}:{self.number}"

    @property
    def tidy(self) -> str:
        """The lines as written, without trailing blanks, and with spaces for leading tabs."""
        return "".join(f"{_expand_indent(line.rstrip(_BLANKS))}\n" for line in self.raw.split("\n")[:-1])


class StatementKind(StrEnum):
    """The kinds of statements."""

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
    NOTE = "note"  # a comment for gitcfg


class Statement(msgspec.Struct, frozen=True):
    """A statement. `rest` is the value of a setting, or what follows the keyword of a command.

    `about` is the description in the comment right above a setting.
    """

    kind: StatementKind
    name: str
    rest: str
    line: Line
    about: str = ""


_STEPS = {StatementKind.IF: 1, StatementKind.ENDIF: -1}


class Lines:
    """The logical lines of a source, one after the other; `take_block` takes a value of several lines."""

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
                if parts and part.startswith("#"):  # a comment within is blank, and may continue
                    part = "\\" if part.endswith("\\") else ""
                comment = not parts and part.startswith("#")
                more = part.endswith("\\") and not comment
                parts.append(part.removesuffix("\\") if more else part)
            yield self._line(first, "".join(parts))

    def take_block(self, tag: str, begun: Line) -> Line:
        """Return the lines from the first one to `@tag` as one. Raise GitcfgError if `@tag` is missing."""
        first = begun.number - 1
        while self._next < len(self._lines):
            if self._take().strip(_BLANKS) == f"@{tag}":
                return self._line(first, begun.text)
        raise import_error(
            self._file, begun.number, f"The value that begins here has no end: the line @{tag} is missing."
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


class CommentBlock:
    """The comment lines right above the line that is read."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._begun = False

    def add(self, text: str) -> None:
        """Add a comment line."""
        self._lines.append(text)

    def clear(self) -> None:
        """Remove the lines, because they do not describe what follows."""
        self._lines.clear()

    def take(self, name: str) -> str:
        """Return the description of the setting that follows, and remove the lines."""
        found = describe(self._lines, name, self._begun) if self._lines and name else ""
        self._lines.clear()
        self._begun = True
        return found


def parse_statements(source: Source) -> Iterator[Statement]:
    """Yield the statements of a file. Raise GitcfgError at a line that HTCondor would not accept."""
    lines, above = Lines(source), CommentBlock()
    for line in lines:
        if not line.text or line.text.startswith("#"):
            yield from _parse_comment(line, above)
            continue
        if (long := _LONG.fullmatch(line.text)) is not None:
            found = Statement(StatementKind.LONG, long[1], "", lines.take_block(long[2], line))
        else:
            found = _parse_line(line)
        about = above.take(found.name)
        yield msgspec.structs.replace(found, about=about) if about else found


def _parse_comment(line: Line, above: CommentBlock) -> Iterator[Statement]:
    """Yield a comment that is an annotation; add another one to the block, which a blank line ends."""
    note = _COMMENT.fullmatch(line.text)
    if note is not None:
        text = note[1].strip()
        yield Statement(StatementKind.NOTE, "", text, line)
        if text == "default":  # what is above this line describes the next setting as well
            return
    if note is None and line.text:
        above.add(line.text)
    else:
        above.clear()


def _parse_line(line: Line) -> Statement:
    if (found := _CONDITION.fullmatch(line.text)) is not None:
        return Statement(StatementKind(found[1].lower()), "", found[2] or "", line)
    if (found := _COMMAND.fullmatch(line.text)) is not None:
        return Statement(StatementKind((found[1] or found[2]).lower()), "", found[3], line)
    if (found := _SETTING.fullmatch(line.text)) is not None:
        return Statement(StatementKind.SETTING, found[1], found[2], line)
    if (found := _MORE.fullmatch(line.text)) is not None:  # HTCondor 25 takes it literally
        return Statement(StatementKind.SETTING, found[1], f"$({found[1]}) {found[2]}".rstrip(), line)
    if (found := _NUMBERED.match(line.text)) is not None:
        return Statement(StatementKind.LONG, found[1], "", line)
    if _COMPUTED.match(line.text):
        return Statement(StatementKind.COMPUTED, "", "", line)
    reason = f"HTCondor would reject this line: {shown(line.text)}"
    raise import_error(line.file, line.number, reason, "Each line is NAME = VALUE, a comment, or a command.")


def find_endif(found: Sequence[Statement], start: int) -> int:
    """Return the index of the `endif` of an `if`. Raise GitcfgError if there is none."""
    depth = 0
    for at in range(start, len(found)):
        depth += _STEPS.get(found[at].kind, 0)
        if depth == 0:
            return at
    line = found[start].line
    raise import_error(line.file, line.number, "This `if` has no `endif`.")


def split_branches(found: Sequence[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Yield each test of a whole `if`, up to its `endif`, with the statements that it guards."""
    test, branch, depth = found[0], list[Statement](), 0
    for statement in found[1:]:
        if depth == 0 and statement.kind in (StatementKind.ELIF, StatementKind.ELSE, StatementKind.ENDIF):
            yield test, branch
            test, branch = statement, []
            continue
        depth += _STEPS.get(statement.kind, 0)
        branch.append(statement)


def _expand_indent(line: str) -> str:
    text = line.lstrip(" \t")
    return line[: len(line) - len(text)].expandtabs(4) + text


def describe(lines: Sequence[str], name: str, begun: bool) -> str:
    """Return the description in comment lines above a setting, without rulers and disabled settings.

    A comment with nothing above it (not `begun`) may be the header of the file, and is not a description.
    """
    words = _relevant_lines(lines, name)
    if not begun and any(map(_HEADER.search, lines)):
        return ""
    text = "\n".join(_join_paragraphs(words)).strip()
    return text if len(text) <= LONGEST else ""


def _relevant_lines(lines: Sequence[str], name: str) -> list[str]:
    """Return the lines after the last one that is about something else, without their common indent."""
    result: list[str] = []
    continued = False
    for line in lines:
        shown = "".join(c if c.isprintable() else " " for c in line.lstrip("#").expandtabs())
        text = _CLOSED.sub("", shown).rstrip()
        setting = _DISABLED_SETTING.match(text.strip())
        divides = _RULER.fullmatch(line) or _DISABLED_COMMAND.match(text.strip())
        if not continued and (divides or (setting and setting[1].lower() != name.lower())):
            result.clear()
        elif not continued and setting is None:
            result.append(text)
        continued = text.endswith("\\") and (continued or setting is not None)
    least = min((len(line) - len(line.lstrip()) for line in result if line), default=0)
    return [line[least:] for line in result]


def _join_paragraphs(words: Sequence[str]) -> Iterator[str]:
    """Yield each paragraph as one line; list items and indented lines stay as they are."""
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
