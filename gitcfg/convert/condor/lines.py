"""Lines as HTCondor joins them, each with the lines that it was made of."""

from collections.abc import Iterator

import msgspec

from gitcfg.convert.condor.sources import Source, import_error

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
