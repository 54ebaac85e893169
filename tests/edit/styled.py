"""Random YAML texts as people write them: blocks and brackets, comments, odd indentation, all line ends."""

from random import Random
from typing import Any

WORDS = (
    "a",
    "b1",
    "START",
    "x y",
    "/etc/motd",
    "10.0",
    "017",
    "1e3",
    "true",
    "null",
    "no",
    "~",
    "it's",
    'say "x"',
)
ODD = (
    "a: b",
    "a #b",
    "- x",
    "{x}",
    "[y",
    "",
    " lead",
    "tail ",
    "é",
    "x, y",
    "*",
    "&x",
    "!y",
    "%z",
    "@",
    "`",
    "$(A)",
)
KEYS = (
    "include",
    "params",
    "START",
    "A_B",
    "SLOT_*",
    "x.y",
    "description",
    "files",
    "/etc/x",
    "n o",
    "7",
    "k'q",
)


def value(rng: Random, depth: int = 3) -> Any:
    """A random value."""
    kind = rng.randrange(10 if depth else 6)
    if kind < 5:
        return rng.choice((*WORDS, *ODD, *WORDS, 1, -2, True, None, 1.5, "line\nline\n", "end\n\nless"))
    if kind < 8:
        return mapping(rng, depth - 1)
    return [value(rng, depth - 1) for _ in range(rng.choice((0, 1, 2, 3, 3)))]


def mapping(rng: Random, depth: int = 3) -> dict[str, Any]:
    """A random mapping."""
    keys = rng.sample(KEYS, rng.choice((0, 1, 2, 3, 4)))
    return {key: value(rng, max(depth, 0)) for key in keys}


class Writer:
    """Writes values as one of many people would."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.step = rng.choice((1, 2, 2, 2, 3, 4, 8))
        self.dash = rng.choice((0, self.step))
        self.comments = rng.choice((0.0, 0.2, 0.5))
        self.flows = rng.choice((0.1, 0.4, 0.8))

    def document(self, found: dict[str, Any]) -> str:
        """A whole text."""
        rng = self.rng
        text = rng.choice(("", "", "# A head.\n", "# A head.\n\n", "---\n"))
        text += "\n".join(self.block(found, 0)) + "\n" if found else "{}\n"
        text += rng.choice(("", "", "# The end.\n", "\n\n"))
        if rng.random() < 0.2 and not text.endswith("\n\n") and "|" not in text:
            text = text.removesuffix("\n")
        return text.replace("\n", "\r\n") if rng.random() < 0.2 else text

    def block(self, found: Any, column: int) -> list[str]:
        """The lines of a mapping or list that is not empty."""
        pairs = [(self.key(key) + ":", v) for key, v in found.items()] if isinstance(found, dict) else None
        lines: list[str] = []
        for head, inner in pairs if pairs is not None else [("-", v) for v in found]:
            lines += self.remarks(column)
            lines += self.entry(head, inner, column)
        return lines

    def entry(self, head: str, inner: Any, column: int) -> list[str]:
        rng, pad = self.rng, " " * column
        if isinstance(inner, dict | list) and inner and rng.random() > self.flows:
            if head == "-" and rng.random() < 0.7:
                below = self.block(inner, column + 2)
                while (below and below[0].lstrip().startswith("#")) or not below[0].strip():
                    below.pop(0)
                return [f"{pad}- {below[0].lstrip()}", *below[1:]]
            deeper = self.dash if isinstance(inner, list) and head != "-" else self.step
            return [f"{pad}{head}{self.remark()}", *self.block(inner, column + deeper)]
        if isinstance(inner, str) and "\n" in inner and rng.random() < 0.7:
            mark = "|" if inner.endswith("\n") else "|-"
            return [
                f"{pad}{head} {mark}{self.remark()}",
                *(f"{pad}{' ' * self.step}{x}".rstrip() for x in inner.splitlines()),
            ]
        apart = " " * rng.choice((1, 1, 1, 3))
        return [f"{pad}{head}{apart}{self.flow(inner, column + self.step)}{self.remark()}"]

    def flow(self, inner: Any, column: int) -> str:
        if isinstance(inner, dict | list):
            opening, closing = "{}" if isinstance(inner, dict) else "[]"
            parts = (
                [f"{self.key(k)}: {self.flow(v, column)}" for k, v in inner.items()]
                if isinstance(inner, dict)
                else [self.flow(v, column) for v in inner]
            )
            return opening + self.joined(parts, column) + closing
        return self.scalar(inner)

    def joined(self, parts: list[str], column: int) -> str:
        rng = self.rng
        pad = " " * (column + 1)
        if parts and rng.random() < 0.2:
            trailing = rng.choice(("", ","))
            lines = [
                f"\n{pad}{part}{',' if i + 1 < len(parts) else trailing}{self.remark()}"
                for i, part in enumerate(parts)
            ]
            return "".join(lines) + f"\n{pad}"
        blank = rng.choice(("", "", " "))
        return blank + rng.choice((", ", ", ", ",  ")).join(parts) + blank

    def key(self, key: str) -> str:
        plain = key.replace("_", "").replace(".", "").isalnum() and self.rng.random() < 0.8
        return key if plain else self.quoted(key)

    def scalar(self, found: Any) -> str:
        if found is None:
            return self.rng.choice(("null", "~"))
        if isinstance(found, bool):
            return str(found).lower()
        if not isinstance(found, str):
            return repr(found)
        return found if found.isalpha() and found not in ("true", "null") else self.quoted(found)

    def quoted(self, text: str) -> str:
        if "\n" not in text and self.rng.random() < 0.5:
            return "'" + text.replace("'", "''") + "'"
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    def remark(self) -> str:
        return f"{' ' * self.rng.choice((1, 3))}# why" if self.rng.random() < self.comments else ""

    def remarks(self, column: int) -> list[str]:
        if self.rng.random() >= self.comments:
            return []
        return self.rng.choice(
            (["" + " " * column + "# above"], [""], ["", " " * column + "# apart", ""], ["# odd"])
        )
