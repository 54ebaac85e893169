"""What stands for a name, a value, a text: one key decides all of it."""

import re
from collections.abc import Callable, Mapping, Set

from gitcfg.convert.sanitize.figures import Figures
from gitcfg.convert.sanitize.ids import Ids
from gitcfg.convert.sanitize.letters import Letters
from gitcfg.convert.sanitize.sealed import no_key
from gitcfg.convert.sanitize.words import CALLED, CEL, EVERYWHERE, JINJA, PREFIXES
from gitcfg.model.marks import keys

_INSTANCE = r"(?P<kept>\$\{(?:as|with)(?![A-Za-z0-9_]))"
# What other tools write before what they have encrypted, and what stands above keys (GC513).
_BEGIN = r"-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE|(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY)-----"
_MARK = rf"(?P<mark>\$ANSIBLE_VAULT;\d|ENC\[(?:[A-Z]\w{{2,12}}),(?:data:)?|{_BEGIN})"
_IDENTITY = "AGE-SECRET-KEY-1"
_LETTERS = r"(?P<letters>[^\W\d_]+)"
_BASED = (
    r"(?P<based>(?<![\w.])(?:0x[0-9a-fA-F]+|0o[0-7]+|[-+]?(?:\d[\d.]*|\.\d+)[eE][-+]?\d+)(?![\w.])"
    r"|\$(?:ENV|INT|REAL|STRING|CHOICE|RANDOM_CHOICE|RANDOM_INTEGER|SUBSTR|BASENAME|DIRNAME|EVAL)(?=\())"
)
_FIGURES = r"(?P<figures>(?<![\w.$-])[-+]?\d(?:[\d.:/-]*\d)?(?![\w-]))"
_KEY = f"(?P<identity>{_IDENTITY}[A-Z0-9]{{16}})"
_NAME = re.compile(f"{_INSTANCE}|{_KEY}|{_LETTERS}")
_VALUE = re.compile(f"{_INSTANCE}|{_MARK}|{_KEY}|{_BASED}|{_FIGURES}|{_LETTERS}")
_REGEX = re.compile(
    r"(?P<kept>\\(?:[pP]\{[^}]*\}|[xu][0-9a-fA-F]{2,4}|.)|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?[a-zA-Z]+[:)])"
    rf"|{_LETTERS}",
    re.DOTALL,
)
_QUOTED = r"(?P<quoted>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
_IDENTIFIER = r"(?P<identifier>[A-Za-z_]\w*)"
_CODE = re.compile(
    f"{_QUOTED}|(?P<figures>(?<![\\w.])\\d+(?:\\.\\d+)?(?![\\w.]))|{_IDENTIFIER}|{_LETTERS}", re.DOTALL
)
_CALLED = re.compile(
    rf"\b(?:(?:{'|'.join(sorted(PREFIXES))})(?=\s*\.)|(?:{'|'.join(sorted(CALLED))})(?=\s*\())"
)
_JINJA = re.compile(r"\{[{%].*?(?:[%}]\}|\Z)", re.DOTALL)


class Pseudonyms:
    """Other names and values for all there are; a name is the same wherever it stands, also within texts.

    `kept` are names whose words stay. `joints`: see Letters. `figures` may be others than the key's.
    """

    def __init__(
        self,
        key: bytes,
        kept: Set[str] = frozenset(),
        joints: Set[str] = frozenset(),
        figures: Figures | None = None,
    ) -> None:
        words = {
            found["letters"].lower() for name in kept for found in _NAME.finditer(name) if found["letters"]
        }
        self.letters = Letters(key, EVERYWHERE | words, joints)
        self.figures = figures or Figures(key)
        self.ids = Ids(key)

    def name(self, text: str) -> str:
        """Digits stay, so that node sets stay node sets."""
        return self._replaced(_NAME, text)

    def value(self, text: str) -> str:
        """Numbers become others, as far as they are not part of names."""
        return self._replaced(_VALUE, text)

    def range(self, text: str) -> str:
        """A range of values, or one. Of addresses the order is not kept, so the lower one comes first."""
        ends = _RANGE.fullmatch(text)
        if ends is None:
            return self.value(text)
        first, last = (self.figures.of(end) for end in ends.groups())
        return "-".join(sorted((first, last), key=_parts) if "." in text else (first, last))

    def prose(self, text: str) -> str:
        """Not one word stays, nor how often it stands there. Of a private key its looks stay."""
        drawn = self.letters.prose(text)
        parts, end = [], 0
        for found in keys(text):
            parts += [self._said(text[end : found.start()], drawn), _made_up(found)]
            end = found.end()
        return "".join([*parts, self._said(text[end:], drawn)])

    def _said(self, text: str, drawn: Callable[[str], str]) -> str:
        return _WORD.sub(lambda found: drawn(found[0]), _FIGURE.sub(self._figure, text))

    def regex(self, text: str) -> str:
        """A regular expression: classes and escapes stay."""
        return self._replaced(_REGEX, text)

    def cel(self, text: str) -> str:
        """An expression: its own words stay outside quotes, and functions where they are called."""
        return self._code(text, CEL, {found.start() for found in _CALLED.finditer(text)})

    def commit(self, text: str) -> str:
        """A commit's id."""
        return self.ids.commit(text) or self.name(text)

    def public_keys(self, text: str) -> str:
        """Nodes with their public keys, a line each; remarks are gone, as comments are."""
        return "\n".join(map(self._public_key, text.split("\n")))

    def _public_key(self, line: str) -> str:
        node, *said = line.split()[:3] or ("#",)
        if node.startswith("#"):
            return ""
        key = " ".join(said)
        return f"{self.name(node)} {self.ids.public_key(key) or self.value(key)}".rstrip()

    def recipient(self, text: str) -> str:
        """Somebody's public key, with a comment behind it."""
        return self.ids.recipient(text, self.prose) or no_key(text) or self.value(text)

    def sealed(self, data: bytes) -> bytes:
        """An encrypted file as it looks to those who have no key."""
        return self.ids.sealed(data)

    def jinja(self, text: str) -> str:
        """A template: Jinja's own words stay within its brackets."""
        parts, end = [], 0
        for found in _JINJA.finditer(text):
            parts += [self.value(text[end : found.start()]), self._code(found[0], JINJA)]
            end = found.end()
        return "".join([*parts, self.value(text[end:])])

    def known(self) -> Mapping[str, Mapping[str, str]]:
        """What has been replaced until now by what."""
        return {"words": self.letters.known, "figures": self.figures.known, "ids": self.ids.known}

    def _code(self, text: str, words: Set[str], kept: Set[int] = frozenset()) -> str:
        """Code of which some words stay, and what begins at some places."""

        def replaced(found: re.Match[str]) -> str:
            if found["quoted"]:
                return self.value(found[0])
            if found["figures"]:
                return self.figures.of(found[0])
            stays = found[0] in words or found.start() in kept
            return found[0] if stays else self.name(found[0])

        return _CODE.sub(replaced, text)

    def _replaced(self, pattern: re.Pattern[str], text: str) -> str:
        return pattern.sub(self._other, text)

    def _other(self, found: re.Match[str]) -> str:
        done = _BY_GROUP.get(found.lastgroup or "")
        return done(self, found[0]) if done else found[0]

    def _figure(self, found: re.Match[str]) -> str:
        return self.figures.of(found[0])


def _made_up(found: re.Match[str]) -> str:
    """The beginning of a private key (GC513), over as many lines."""
    begin = _IDENTITY if found.lastgroup == "identity" else "-----BEGIN PRIVATE KEY-----"
    return begin + "\n" * found[0].count("\n") + "X" * 16


def _parts(address: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", address)]


_RANGE = re.compile(r"(-?\d[\d.]*)-(-?\d[\d.]*)")
_FIGURE = re.compile(_FIGURES)
_WORD = re.compile(_LETTERS)
_BY_GROUP: Mapping[str, Callable[[Pseudonyms, str], str]] = {
    "letters": lambda names, text: names.letters.word(text),
    "figures": lambda names, text: names.figures.of(text),
    "identity": lambda names, text: _IDENTITY + "X" * 16,
}
