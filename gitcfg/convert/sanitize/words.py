"""The words that a sanitizer keeps, and pseudonyms of all others."""

import hmac
import json
import sys
from collections.abc import Callable, Iterator, Set
from functools import cache, lru_cache
from itertools import count
from typing import Any

from gitcfg.bundled import read_schema

# Keywords of the format, CEL, Jinja and JSON Schema, and where they are kept.

_SCHEMAS = (
    *("allocation", "feature", "gitcfg", "group", "hold", "node", "nodeset", "override", "parameters"),
    *("rules", "secret", "subsystems"),
)


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


EVERYWHERE = _split_words(
    "true false null inf nan undefined error warning default if elif else endif include use"
    " is isnt proc sys dev gitcfg yaml yml txt allowed signers"
    " etc var lib run usr local bin opt systemd system agent once service timer d systemctl pkill killall"
    " kill stop restart try condrestart force mask disable freeze no block hup sighup"
)
"""Words with a meaning in names and values too: literals, HTCondor's and gitcfg's own, folders, extensions,
and what stops the agent (GC209, GC213)."""

CHOICES = _split_words(
    "string integer number boolean list map expression path condor env ini json yaml toml error warning allow"
    " tip each off require comma blank-or-comma active retired old new ok"
)
"""The values of settings that allow only some words."""

COLLECTED = _split_words("name value")
"""What `$collect` takes instead of a parameter, and sorts by."""

SCHEMA = _split_words(
    "$schema $id $ref $defs $comment title description type properties patternProperties required enum const"
    " default examples items prefixItems contains minContains maxContains additionalProperties"
    " additionalItems propertyNames minProperties maxProperties minItems maxItems uniqueItems minLength"
    " maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf"
    " not if then else dependentRequired dependentSchemas definitions unevaluatedProperties"
    " unevaluatedItems"
)
SCHEMA_CHOICES = _split_words(
    "string integer number boolean array object null date date-time time duration email hostname ipv4 ipv6"
    " uri uri-reference regex uuid json-pointer"
)
CEL = _split_words(
    "node nodes other self fleet as with feature name groups features labels facts params in type null true"
    " false e E"
)
CALLED = _split_words(
    "has size all exists exists_one map filter matches startsWith endsWith contains int uint double string"
    " bool bytes list timestamp duration dyn type age in_net net_of is_address lowerAscii upperAscii trim"
    " replace substring split charAt indexOf lastIndexOf join reverse quote format intersects equivalent"
    " greatest least abs ceil floor round sign trunc distinct sort sortBy slice flatten range first last"
)
"""The functions of CEL and gitcfg: only before a bracket."""
PREFIXES = _split_words("sets math lists strings")
"""The prefixes of some functions, with a dot."""
JINJA = _split_words(
    "node name groups features labels facts params address state if elif else endif for endfor in not and or"
    " is set endset include import from as with without context block endblock extends macro endmacro call"
    " endcall filter endfilter raw endraw do ignore missing recursive loop index index0 first last length"
    " true false none True False None defined undefined none string number mapping sequence iterable abs"
    " attr batch capitalize count default dictsort escape e float format groupby indent int items join"
    " list lower map max min reject rejectattr replace reverse round select selectattr slice sort sum title"
    " tojson trim truncate unique upper wordcount wordwrap odd even range dict namespace cycler joiner"
    " keys values get split startswith endswith strip"
)


@cache
def keys() -> frozenset[str]:
    """Return the keys of documents, from the schemas."""
    found = {word for name in _SCHEMAS for word in _properties(json.loads(read_schema(name)))}
    return frozenset(found | {"resources", "allocations", "holds"})


def _properties(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from part.get("properties") or ()
        for inner in part.values():
            yield from _properties(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _properties(inner)


# Pseudonyms of words: of the same length and case, and irreversible without the key.

_LONGEST = 64
"""Letters after the first 64 depend only on these, because long words would take quadratic time."""


class WordPseudonyms:
    """Replacement of words, the same with the same key; different words stay different.

    Each letter is replaced by an order of the alphabet that the key and the letters before it decide. So
    words with a common beginning keep one, and globs such as `START*` still match. Words in `kept` stay.
    `joints` are words that begin within others: globs such as `*LOG` name them.
    """

    def __init__(self, key: bytes, kept: Set[str], joints: Set[str] = frozenset()) -> None:
        self._key = key
        self._kept = kept
        self._joints = tuple(sorted(joints, key=lambda joint: (-len(joint), joint)))
        self._orders: dict[str, str] = {}
        self.known: dict[str, str] = {}

    def replace(self, word: str) -> str:
        """Return the pseudonym of a word; words that are kept are their own."""
        if word not in self.known:
            self.known[word] = word if _lower(word) in self._kept else self._replace(word)
        return self.known[word]

    def replace_prose(self, text: str) -> Callable[[str], str]:
        """Return a function that replaces words by random ones, because frequency would reveal `the`."""
        drawn = hmac.digest(self._key, b"prose\0" + text.encode("utf-8", "surrogatepass"), "sha512")
        places = count()
        return lambda word: "".join(_draw_letters(drawn, next(places), word))

    def _replace(self, word: str) -> str:
        plain = _lower(word)
        ends = (len(plain) - len(joint) for joint in self._joints if plain.endswith(joint))
        inner = (plain.find(joint, 1) for joint in self._joints)
        at = next((at for at in (*ends, *inner) if at > 0), 0)
        if 0 < at < len(word):
            return self.replace(word[:at]) + self.replace(word[at:])
        found = self._exchange(word)
        while _lower(found) in self._kept:  # the next of a cycle, so that two words never become one
            found = self._exchange(found)
        return found

    def _exchange(self, word: str) -> str:
        before, rest = _lower(word[:_LONGEST]), word[_LONGEST:]
        letters = (self._letter(before[:place], letter) for place, letter in enumerate(word[:_LONGEST]))
        # The rest of a long word is replaced at once, because some files have a word of ten megabytes.
        others = {ord(letter): self._letter(before, letter) for letter in set(rest)}
        return "".join(letters) + rest.translate(others)

    def _letter(self, before: str, letter: str) -> str:
        if letter.isascii():
            found = self._order(before)[ord(letter.lower()) - ord("a")]
            return found.upper() if letter.isupper() else found
        letters = _letters_of_size(len(letter.encode("utf-8", "surrogatepass")))
        if letter not in letters:
            return letter
        shift = int.from_bytes(self._digest(before)[:8], "big")
        return list(letters)[(letters[letter] + shift) % len(letters)]

    def _order(self, before: str) -> str:
        if before not in self._orders:
            digest = self._digest(before)
            drawn = sorted((digest[2 * place : 2 * place + 2], place) for place in range(26))
            self._orders[before] = "".join(chr(ord("a") + place) for _, place in drawn)
        return self._orders[before]

    def _digest(self, before: str) -> bytes:
        return hmac.digest(self._key, b"word\0" + before.encode("utf-8", "surrogatepass"), "sha512")


def _draw_letters(drawn: bytes, place: int, word: str) -> Iterator[str]:
    for block in range(0, len(word), 64):
        digest = hmac.digest(drawn, f"{place} {block}".encode(), "sha512")
        for byte, letter in zip(digest, word[block : block + 64], strict=False):
            found = str(byte % 10) if letter.isdecimal() else chr(ord("a") + byte % 26)
            yield found.upper() if letter.isupper() else found


def _lower(word: str) -> str:
    return word.lower() if word.isascii() else "".join(c.lower() if c.isascii() else c for c in word)


@lru_cache(maxsize=4)
def _letters_of_size(size: int) -> dict[str, int]:
    """Return all letters of `size` bytes in UTF-8, numbered."""
    first, end = {2: (0x80, 0x800), 3: (0x800, 0x10000), 4: (0x10000, sys.maxunicode + 1)}[size]
    found = (letter for letter in map(chr, range(first, end)) if letter.isalpha())
    return {letter: number for number, letter in enumerate(found)}
