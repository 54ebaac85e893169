"""Comments right above settings as descriptions, without what people keep there besides words."""

import re
from collections.abc import Iterator, Sequence

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
