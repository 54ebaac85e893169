"""Pseudonyms of names, values, expressions and templates, all derived from one key."""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from operator import itemgetter

from gitcfg.convert.sanitize.numbers import IdPseudonyms, NumberPseudonyms, replace_invalid_key
from gitcfg.convert.sanitize.words import CALLED, CEL, EVERYWHERE, JINJA, PREFIXES, WordPseudonyms
from gitcfg.model.secrets import keys

_RANGE = re.compile(r"(-?\d[\d.]*)-(-?\d[\d.]*)")
_WORD = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"\d+|[^\W\d_]+|.", re.DOTALL)
_STEM = re.compile(r"([^\W\d_]+)[-_.]?\Z")
_LONG = re.compile(r"\d{5,}")
_COUNT = re.compile(r"[-+]?\d{1,7}")
_LIMIT = re.compile(r"[1-9]\d{7,20}")
_LOOK_BACK = 64
_INSTANCE = r"(?P<kept>\$\{(?:as|with)(?![A-Za-z0-9_]))"
# The beginning of encrypted texts of other tools, and of keys (GC513).
_BEGIN = r"-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE|(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY)-----"
_MARK = rf"(?P<mark>\$ANSIBLE_VAULT;\d|ENC\[(?:[A-Z]\w{{2,12}}),(?:data:)?|{_BEGIN})"
_IDENTITY = "AGE-SECRET-KEY-1"
_LETTERS = r"(?P<letters>[^\W\d_]+)"
_BASED = (
    r"(?P<based>(?<![\w.])(?:0x[0-9a-fA-F]+|0o[0-7]+|[-+]?(?:\d[\d.]*|\.\d+)[eE][-+]?\d+)(?![\w.]))"
    r"|(?P<function>\$(?:ENV|INT|REAL|STRING|CHOICE|RANDOM_CHOICE|RANDOM_INTEGER|SUBSTR|BASENAME|DIRNAME|EVAL)(?=\())"
)
_HEX = "[0-9A-Fa-f]"
_GROUPS = f"{_HEX}{{1,4}}(?::{_HEX}{{1,4}})*"
# Ids of machines, accounts and keys, in names too: UUIDs, MAC addresses and fingerprints, addresses of IPv6,
# of IPv4 with dashes or before a star, and groups with more than six digits.
_IDS = (
    rf"(?P<hex>(?<![\w:-]){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?![\w-])"
    rf"|(?<![\w:])(?=[A-Fa-f:-]*\d)(?:{_HEX}{{2}}(?::{_HEX}{{2}}){{3,}}|{_HEX}{{2}}(?:-{_HEX}{{2}}){{5,}})(?![\w:])"
    rf"|(?<![A-Za-z0-9])(?=[A-Fa-f._]*\d){_HEX}{{4}}[._]{_HEX}{{4}}[._]{_HEX}{{4}}(?![A-Za-z0-9]))"
    rf"|(?P<address>(?<![\w:.])(?=[A-Fa-f:]*\d)(?:(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}|(?:{_GROUPS})?::"
    rf"(?:(?:{_HEX}{{1,4}}:)*\d{{1,3}}(?:\.\d{{1,3}}){{3}}|{_GROUPS})?)(?:/\d{{1,3}})?(?![\w:]|\.\d))"
    r"|(?P<dashed>(?:(?<=[iI][pP]-)|(?<=[A-Za-z]-)(?=(?:-?\d){7}))\d{1,3}(?:-\d{1,3}){3}(?![\w-]))"
    rf"|(?P<groups>(?<![A-Za-z0-9])(?=(?:[A-Fa-f_-]*+\d){{7}}){_HEX}{{1,12}}(?:[_-]+{_HEX}{{1,12}}){{3,}}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])\d{3}[._-]\d{3}[._-]\d{4}(?![A-Za-z0-9]))"
    r"|(?P<network>(?<![\w.$-])\d{1,3}(?:\.\d{1,3}){0,2}(?=\.\*))"
    r"|(?P<range>(?<=[^\W\d_]|[-_.])\[\d[\d,/-]*\])"
)
_SERIAL = r"(?P<serial>(?=(?:[^\W\d_]*+\d){5})[^\W_]+)"
_QUAD = r"(?P<quad>(?<![\w.$\\-])(?:\d{1,3}(?:\.\d{1,3}){3}|(?=(?:\.?\d){7})\d+(?:\.\d+)+)(?![\w-]|\.\d))"
_NUMBER = r"(?P<figures>(?<![\w.$\\-])\d{5,}(?![\w.-]))"
_FIGURES = r"(?P<figures>(?<![\w.$-])[-+]?\d(?:[\d.:/-]*\d)?(?![\w-]))"
_KEY = f"(?P<identity>{_IDENTITY}[A-Z0-9]{{16}})"
_NAME = re.compile(f"{_INSTANCE}|{_KEY}|{_IDS}|{_BASED}|{_QUAD}|{_NUMBER}|{_SERIAL}|{_LETTERS}")
_VALUE = re.compile(f"{_INSTANCE}|{_MARK}|{_KEY}|{_IDS}|{_BASED}|{_FIGURES}|{_SERIAL}|{_LETTERS}")
_OCTETS = (
    r"(?P<octets>(?<!\d)\d{1,3}(?:\\\.\d{1,3}){3}(?!\d)|(?<!\d)\d{1,3}(?:\\\.\d{1,3}){1,2}(?=\\\.(?!\d)))"
)
_REGEX = re.compile(
    r"(?P<kept>\\(?:[pP]\{[^}]*\}|[xu][0-9a-fA-F]{2,4}|.)|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?[a-zA-Z]+[:)]"
    r"|\{\d+(?:,\d*)?\})"
    rf"|{_OCTETS}|{_KEY}|{_IDS}|{_BASED}|{_QUAD}|(?P<figures>(?<![\w.$\\-])\d{{4,}}(?![\w.-]))|{_SERIAL}|{_LETTERS}",
    re.DOTALL,
)
_QUOTED = r"(?P<quoted>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
_IDENTIFIER = r"(?P<identifier>[A-Za-z_]\w*)"
_CODE = re.compile(
    f"{_QUOTED}|{_BASED}|(?P<figures>(?<![\\w.])\\d+(?:\\.\\d+)?(?![\\w.]))|{_IDENTIFIER}|{_SERIAL}|{_LETTERS}",
    re.DOTALL,
)
_CALLED = re.compile(
    rf"\b(?:(?:{'|'.join(sorted(PREFIXES))})(?=\s*\.)|(?:{'|'.join(sorted(CALLED))})(?=\s*\())"
)
_JINJA = re.compile(r"\{[{%].*?(?:[%}]\}|\Z)", re.DOTALL)


def replace_between(
    kept: Iterable[re.Match[str]],
    text: str,
    replace: Callable[[str], str],
    keep: Callable[[re.Match[str]], str] = itemgetter(0),
) -> str:
    """Return a text with replacements: between matches by `replace`, and for each match by `keep`."""
    parts, end = [], 0
    for found in kept:
        parts += [replace(text[end : found.start()]), keep(found)]
        end = found.end()
    return "".join([*parts, replace(text[end:])])


class Pseudonyms:
    """Replacement of names and values; a name gets the same pseudonym everywhere, also within texts.

    `kept` are names whose words stay. `joints`: see WordPseudonyms. `figures` replace those of the key.
    """

    def __init__(
        self,
        key: bytes,
        kept: Set[str] = frozenset(),
        joints: Set[str] = frozenset(),
        figures: NumberPseudonyms | None = None,
    ) -> None:
        every = (found["letters"] for name in kept for found in _NAME.finditer(name))
        words = {letters.lower() for letters in every if letters}
        self.words = WordPseudonyms(key, EVERYWHERE | words, joints)
        self.numbers = figures or NumberPseudonyms(key)
        self.ids = IdPseudonyms(key)

    def replace_name(self, text: str) -> str:
        """Replace the words of a name; up to four digits stay, and so do the numbers of node sets."""
        return _NAME.sub(self._replace_match, text)

    def replace_value(self, text: str) -> str:
        """Replace the words of a value, and numbers that are not parts of names."""
        return _VALUE.sub(self._replace_match, text)

    def replace_range(self, text: str) -> str:
        """Replace a value or a range. The order of addresses is not kept, so the lower one goes first."""
        ends = _RANGE.fullmatch(text)
        if ends is None:
            return self.replace_value(text)
        first, last = (self.numbers.replace(end) for end in ends.groups())
        if "." in text:
            first, last = sorted((first, last), key=lambda end: [*map(int, re.findall(r"\d+", end))])
        return f"{first}-{last}"

    def replace_number(self, text: str) -> str:
        """Replace a number of the format itself: a count, or a duration."""
        if _COUNT.fullmatch(text):
            return text
        return self.numbers.replace_limit(text) if _LIMIT.fullmatch(text) else self.replace_name(text)

    def replace_prose(self, text: str) -> str:
        """Replace every word and number by a random one. A private key keeps its form."""
        draw = self.words.replace_prose(text)
        return replace_between(
            keys(text),
            text,
            lambda between: _WORD.sub(lambda found: draw(found[0]), between),
            _mask_private_key,
        )

    def replace_regex(self, text: str) -> str:
        """Replace the words of a regular expression; classes and escapes stay."""
        return _REGEX.sub(self._replace_match, text)

    def replace_cel(self, text: str) -> str:
        """Replace the names in an expression; keywords stay outside quotes, functions before brackets."""
        return self._replace_code(text, CEL, {found.start() for found in _CALLED.finditer(text)})

    def replace_commit(self, text: str) -> str:
        """Replace the id of a commit."""
        return self.ids.replace_commit(text) or self.replace_name(text)

    def replace_public_keys(self, text: str) -> str:
        """Replace lines of nodes with their public keys, without comments."""
        return "\n".join(map(self._replace_key_line, text.split("\n")))

    def _replace_key_line(self, line: str) -> str:
        node, *parts = line.split()[:3] or ("#",)
        if node.startswith("#"):
            return ""
        key = " ".join(parts)
        other = self.ids.replace_public_key(key) or self.replace_value(key)
        return f"{self.replace_name(node)} {other}".rstrip()

    def replace_recipient(self, text: str) -> str:
        """Replace a recipient: a public key, and a comment after it."""
        return (
            self.ids.replace_recipient(text, self.replace_prose)
            or replace_invalid_key(text)
            or self.replace_value(text)
        )

    def replace_sealed(self, data: bytes) -> bytes:
        """Replace an encrypted file by one that looks the same without a key."""
        return self.ids.replace_sealed(data)

    def replace_jinja(self, text: str) -> str:
        """Replace a template; Jinja's keywords stay within its brackets."""
        return replace_between(
            _JINJA.finditer(text),
            text,
            self.replace_value,
            lambda found: self._replace_code(found[0], JINJA),
        )

    def known(self) -> Mapping[str, Mapping[str, str]]:
        """Return all replacements so far."""
        return {"words": self.words.known, "figures": self.numbers.known, "ids": self.ids.known}

    def _replace_code(self, text: str, words: Set[str], kept: Set[int] = frozenset()) -> str:
        """Replace the names in code, except some words, and matches that begin at some places."""

        def replace(found: re.Match[str]) -> str:
            if found["quoted"]:
                return self.replace_value(found[0])
            if found["figures"]:
                return self.numbers.replace(found[0])
            if found["based"]:
                return self.numbers.replace_based(found[0])
            stays = found[0] in words or found.start() in kept
            return found[0] if stays else self.replace_name(found[0])

        return _CODE.sub(replace, text)

    def _replace_match(self, found: re.Match[str]) -> str:
        if found.lastgroup == "serial":
            return self._replace_serial(found)
        if found.lastgroup == "range":  # the numbers of a node set in brackets
            stem = _word_before(found)
            return _LONG.sub(lambda run: self._replace_run(stem, run[0], ""), found[0])
        replace = _BY_GROUP.get(found.lastgroup or "")
        return replace(self, found[0]) if replace else found[0]

    def _replace_serial(self, found: re.Match[str]) -> str:
        """Return a word with many digits: each is replaced, except those of node sets."""
        parts, word, stem = [], found[0], _word_before(found)
        for piece in _PIECE.finditer(word):
            if piece[0].isdecimal():
                before = word[max(0, piece.start() - _LOOK_BACK) : piece.start()]
                parts.append(self._replace_run(stem, piece[0], before))
            else:
                stem = piece[0]
                parts.append(self.words.replace(piece[0]))
        return "".join(parts)

    def _replace_run(self, stem: str, digits: str, before: str) -> str:
        counted = self.numbers.replace_counted(stem, digits)
        return self.numbers.replace_digits(digits, before.lower()) if counted is None else counted


def _mask_private_key(found: re.Match[str]) -> str:
    """Return the beginning of a private key (GC513), over as many lines."""
    begin = _IDENTITY if found.lastgroup == "identity" else "-----BEGIN PRIVATE KEY-----"
    return begin + "\n" * found[0].count("\n") + "X" * 16


def _word_before(found: re.Match[str]) -> str:
    """Return the word before the number of a machine, or the numbers of a set."""
    before = _STEM.search(found.string[max(0, found.start() - _LOOK_BACK) : found.start()])
    return before[1] if before is not None else ""


_BY_GROUP: Mapping[str, Callable[[Pseudonyms, str], str]] = {
    "letters": lambda names, text: names.words.replace(text),
    "figures": lambda names, text: names.numbers.replace(text),
    "quad": lambda names, text: names.numbers.replace(text),
    "dashed": lambda names, text: names.numbers.replace(text),
    "based": lambda names, text: names.numbers.replace_based(text),
    "hex": lambda names, text: names.numbers.replace_hexadecimal(text),
    "groups": lambda names, text: names.numbers.replace_hexadecimal(text),
    "address": lambda names, text: names.numbers.replace_address(text),
    "octets": lambda names, text: names.numbers.replace_network(text.replace("\\", "")).replace(".", "\\."),
    "network": lambda names, text: names.numbers.replace_network(text),
    "identity": lambda names, text: _IDENTITY + "X" * 16,
}
