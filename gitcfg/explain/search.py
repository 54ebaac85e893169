"""What people wrote into a YAML file: names and values with their places, not the format's own words."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.trail import Record, origin_record
from gitcfg.load.document import Document, Mark, parse
from gitcfg.model import GitcfgError, Model, Origin
from gitcfg.model.age import is_recipient
from gitcfg.model.folders import SHEETS
from gitcfg.model.nodeset import fold
from gitcfg.model.secrets import PLAIN, lines_of_keys, open_mark

_NAMED = frozenset({"params", "facts", "with", "default"})
"""Keys below which all keys are names that people chose, or parts of values."""
_RULED = frozenset({"set", "domain", "values"})
"""The same of rules, and of what was decided for them, where they are not below another key."""
_WORDS = {
    "parameter": frozenset(
        {"type", "must_change", "restart", "unique", "separator", "macros", "level", "secret"}
    ),
    "node": frozenset({"state"}),
    "nodeset": frozenset({"state"}),
    "setting": frozenset({"format"}),
}
"""By kind, keys whose values are words of the format."""


class Written(msgspec.Struct, frozen=True):
    """A name or value: `path` are the keys and indices that lead to it, `text` is its source.

    A name ends its own path: `key` tells it from its value. `start` and `end` are line and column from 1;
    the text stands somewhere from start to before end.
    """

    path: tuple[str | int, ...]
    text: str
    start: tuple[int, int]
    end: tuple[int, int]
    key: bool


def written(kind: str, document: Document) -> Iterator[Written]:
    """Everything that people wrote into a document, in its order."""
    found = list(_walk((), document.value, document.mark))
    starts = sorted(start for _, _, start, _ in found)
    for path, text, start, key in found:
        own = path[2:] if path and path[0] in SHEETS else path
        if text is not None and (_name(path, own) if key else _value(kind, own)):
            after = bisect_right(starts, start)
            end = starts[after] if after < len(starts) else (1 << 31, 1)
            yield Written(path, text, start, end, key)


_Found = tuple[tuple[str | int, ...], str | None, tuple[int, int], bool]


def _walk(path: tuple[str | int, ...], value: Any, mark: Mark) -> Iterator[_Found]:
    """Every key and every value that is neither map nor list, with its place and whether it is a key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), key, mark.keys[key], True
            yield from _walk((*path, key), item, mark.values[key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk((*path, index), item, mark.items[index])
    else:
        text = mark.text if mark.text is not None else value
        yield path, None if value is None else str(text), (mark.line, mark.column), False


def _name(path: tuple[str | int, ...], own: tuple[str | int, ...]) -> bool:
    """Is a key a name that people chose?"""
    if not own:
        return len(path) == 2  # the name of a parameter, subsystem or rule
    if own[0] == "files":
        return len(own) == 2
    below = not _NAMED.isdisjoint(own[:-1]) or not _RULED.isdisjoint(own[:1])
    return len(own) > 1 and below and not str(own[-1]).startswith("$")


def _value(kind: str, own: tuple[str | int, ...]) -> bool:
    """Is a value one that people chose, and not a word of the format?"""
    if own and own[0] == "files":
        return own[-1] not in ("format", "mode")
    return not (own and own[0] in _WORDS.get(kind, ()))


# Where in a text a pattern is found: the line, the column, and the line's part around it.

_AROUND = 70
_LONGEST = 160


class Hit(msgspec.Struct, frozen=True):
    """A line in which something is found, or the beginning of what holds it. `spans` are in the excerpt.

    `veiled`: it is found in a secret that stands there in plain text.
    """

    line: int
    column: int
    excerpt: str
    spans: tuple[tuple[int, int], ...]
    veiled: bool = False


def in_lines(text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Every line of a text in which the pattern is found, or begins."""
    found: dict[int, list[tuple[int, int]]] = {}
    number, seen = 1, 0
    for match in pattern.finditer(text):
        number, seen = number + text.count("\n", seen, match.start()), match.start()
        begin = text.rfind("\n", 0, seen) + 1
        found.setdefault(number, []).append((seen - begin, match.end() - begin))
    lines = text.split("\n") if found else []
    for number, spans in found.items():
        line = lines[number - 1]
        yield _hit(number, line, [(start, min(end, len(line))) for start, end in spans])


def in_value(lines: list[str], written: Written, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Where a written value holds the pattern: in each line of a block, else in the first line that does.

    Where it is written otherwise than it reads (escapes, folded lines) that is the value's beginning.
    """
    (first, column), (last, end) = written.start, written.end
    head = lines[first - 1][column - 1 : column] if first <= len(lines) else ""
    block, plain = head in ("|", ">"), head not in ("|", ">", "'", '"')
    found = False
    for number in range(first, min(last, len(lines)) + 1):
        start = column - 1 if number == first else 0
        line = lines[number - 1]
        stop = end - 1 if number == last else len(line)
        comment = line.find(" #", start, stop) if plain else -1
        spans = [match.span() for match in pattern.finditer(line, start, stop if comment < 0 else comment)]
        if spans:
            yield _hit(number, line, spans)
            found = True
            if not block:
                return
    if not found and first <= len(lines):
        yield whole(first, column, lines[first - 1])


def whole(line: int, column: int, text: str) -> Hit:
    """A line in which nothing is marked."""
    return Hit(line, column, text.strip()[:_LONGEST], ())


def _hit(number: int, line: str, spans: list[tuple[int, int]]) -> Hit:
    """A line; of a long one the part around the first place."""
    column = spans[0][0] + 1
    start = len(line) - len(line.lstrip())
    stop = len(line.rstrip())
    if stop - start > _LONGEST:
        start = max(start, spans[0][0] - _AROUND)
        stop = min(stop, max(spans[0][1], spans[0][0] + _AROUND))
    inside = [(a - start, b - start) for a, b in spans if a >= start and b <= stop]
    return Hit(number, column, line[start:stop], tuple(inside))


# A place where a searched text is found.


class Match(msgspec.Struct, frozen=True):
    """A place where one of the texts is found, or several. `field` are the keys that lead to it.

    `veiled`: it is found in a secret that stands there in plain text, and is not shown.
    """

    kind: str
    name: str
    field: str
    origin: Origin
    excerpt: str
    spans: tuple[tuple[int, int], ...]
    veiled: bool = False


Found = tuple[frozenset[int], Match]
"""A match, and the numbers of the texts that are found there."""


def match(kind: str, name: str, field: str, file: str, hit: Hit) -> Match:
    """What is found in a line of a file."""
    return Match(kind, name, field, Origin(file, hit.line, hit.column), hit.excerpt, hit.spans, hit.veiled)


def matches_record(commit: str | None, texts: Iterable[str], matches: Iterable[Match]) -> Record:
    """`gitcfg.matches/1`."""
    return {
        "schema": "gitcfg.matches/1",
        "commit": commit,
        "texts": list(texts),
        "matches": [
            {
                "kind": match.kind,
                "name": match.name,
                "field": match.field,
                "origin": origin_record(match.origin),
                "excerpt": match.excerpt,
                "spans": match.spans,
            }
            for match in matches
        ],
    }


# What a search must not show: secrets in plain text, which findings show nobody either.

_MARK = re.compile(r"\$\{[^{}]*\}")
_ATTRIBUTE = re.compile(r"\$\{with\.([^{}]*)\}")
_AROUND_VEIL = " \t-,:[]{}'\""

Place = tuple[int, int]


class Veil:
    """Knows the secrets that stand in plain text in the files of a fleet's definitions."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def over(self, text: str, found: Iterable[Written]) -> "Veiled":
        """The same of one file, in which all this is written."""
        secret = tuple(filter(self._secret, found))
        lines = text.split("\n")
        hidden = lines_of_keys(text).union(*(_lines_veil(lines, one) for one in secret))
        return Veiled(frozenset(one.start for one in secret), hidden)

    def _secret(self, one: Written) -> bool:
        """Is something that is written a secret in plain text, or a part of one?"""
        parameters = self._fleet.model.parameters
        match one.path:
            case (
                ("params", str(name), *inside)
                | ("rules", str(), "set" | "domain", str(name), *inside)
                | ("values", str(), str(name), *inside)
            ):
                kept = inside[:1] != ["$secret"] and bool(inside or not one.key) and self._kept(name)
            case ("parameters", str(name), "default", *_):
                kept = name in parameters and parameters[name].secret
            case ("recipients", int()):
                kept = not is_recipient(one.text)
            case _:
                kept = "with" in one.path and self._given(one)
        return kept or bool(open_mark(one.text))

    def _kept(self, name: str) -> bool:
        """Is a parameter secret, or one that an instance may make of a name?"""
        secret = self._fleet.declarations.secret
        if "${" not in name:
            return secret(name)
        made = re.compile(".+".join(map(re.escape, _MARK.split(name))))
        every = self._fleet.model.parameters.values()
        return secret(_MARK.sub("1", name)) or any(one.secret and made.fullmatch(one.name) for one in every)

    def _given(self, one: Written) -> bool:
        """Is it an attribute of an instance that a feature writes into a secret parameter?"""
        inside = one.path[one.path.index("with") + 1 :]
        return bool(inside[1:] or not one.key) and inside[0] in self._attributes

    @cached_property
    def _attributes(self) -> Set[str | int]:
        return frozenset(
            name
            for feature in self._fleet.model.features.values()
            for param, binding in feature.params.items()
            if "${with." in str(binding.given) and self._kept(param)
            for name in _ATTRIBUTE.findall(str(binding.given))
        )


class Veiled:
    """Where secrets in plain text begin in a file, and the lines in which they stand."""

    def __init__(self, places: Set[Place], lines: Set[int]) -> None:
        self._places = places
        self._lines = lines

    def told(self, one: Written, hits: Iterable[Hit]) -> Iterator[Hit]:
        """What may be told of the places where something is found in a name or value.

        Of a secret only where it begins: else it would be told how much of it was guessed.
        """
        if one.start in self._places:
            yield Hit(*one.start, PLAIN, (), veiled=True)
            return
        for hit in hits:
            yield Hit(hit.line, hit.column, PLAIN, ()) if hit.line in self._lines else hit


def veiled(text: str, hits: Iterable[Hit]) -> Iterator[Hit]:
    """The same of a text that is no definitions: a template, a file."""
    keys = lines_of_keys(text)
    for hit in hits:
        yield Hit(hit.line, 1, PLAIN, (), veiled=True) if hit.line in keys else hit


def _lines_veil(lines: list[str], one: Written) -> range:
    """The lines in which something stands: not the next one's, if there is nothing of it before that."""
    (first, _), (last, end) = one.start, one.end
    if last > len(lines) or not lines[last - 1][: end - 1].strip(_AROUND_VEIL):
        last = min(last - 1, len(lines))
    return range(first, max(first, last) + 1)


# The texts that a search is for.


class Wanted:
    """Texts to be found, whatever the case of letters; a blank stands for any white space."""

    def __init__(self, texts: Sequence[str]) -> None:
        if not all(text.strip() for text in texts):
            raise GitcfgError("An empty text is found everywhere.", "Say what to search for.")
        sources = [r"\s+".join(map(re.escape, text.split())) for text in texts]
        self._each = [re.compile(source, re.IGNORECASE) for source in sources]
        self.pattern = re.compile("|".join(sources), re.IGNORECASE)
        self.all = frozenset(range(len(texts)))

    def held(self, *texts: str) -> frozenset[int]:
        """The numbers of those that are found in some of the texts."""
        return frozenset(
            number for number, pattern in enumerate(self._each) if any(pattern.search(text) for text in texts)
        )

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Where any of them is found."""
        return tuple(match.span() for match in self.pattern.finditer(text))

    def may_hold(self, source: str) -> bool:
        """May a file's values hold one? Escapes might hide it."""
        return "\\" in source or "''" in source or self.pattern.search(source) is not None

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names that hold one."""
        return tuple(name for name in names if self.pattern.search(name))


# Finds texts in the YAML files of definitions.


def documents(model: Model) -> dict[str, tuple[str, str]]:
    """The YAML files of definitions: what kind they hold, and of what name, where they hold just one."""
    files = {"gitcfg.yaml": ("setting", "")}
    files |= {found.origin.file: ("parameter", "") for found in model.parameters.values()}
    files |= {found.origin.file: ("subsystem", "") for found in model.subsystems.values()}
    files |= {found.origin.file: ("rule", "") for found in model.rules.values()}
    for kind, definitions in (
        ("node", model.nodes),
        ("group", model.groups),
        ("feature", model.features),
        ("nodeset", model.nodesets),
        ("override", model.overrides),
        ("hold", model.holds),
        ("secret", model.secrets),
        ("allocation", model.allocations),
    ):
        files |= {found.origin.file: (kind, name) for name, found in definitions.items()}
    return files


def in_document(
    fleet: Fleet, wanted: Wanted, veil: Veil, file: str, definition: tuple[str, str]
) -> Iterator[Found]:
    """Where texts are found in a file that holds definitions of a kind, or the one of a name."""
    kind, name = definition
    entry = fleet.tree.entry(file)
    data = fleet.tree.read(entry) if entry is not None else b""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    members = wanted.among(_members(fleet.model, kind, name))
    if not (members or wanted.may_hold(text)):
        return
    lines = text.split("\n")
    everything = tuple(written(kind, parse(file, data)))
    shows = veil.over(text, everything)
    for one in everything:
        own = _own(one, kind, name)
        extra = members if one.path == ("nodes",) else ()
        held = wanted.held(one.text, *extra)
        if own is None or not held:
            continue
        for hit in shows.told(one, _hits(lines, one, wanted, extra)):
            yield held, match(kind, *own, file, hit)


def _members(model: Model, kind: str, name: str) -> Iterable[str]:
    """The nodes that `nodes` of a set, an override or a hold stands for."""
    if kind == "nodeset":
        return model.nodesets[name].members
    named = model.overrides if kind == "override" else model.holds if kind == "hold" else {}
    return named[name].members or () if name in named else ()


def _own(one: Written, kind: str, name: str) -> tuple[str, str] | None:
    """The name of the definition that something is written in, and its field; None: it is in none."""
    path = [str(step) for step in one.path if isinstance(step, str) and not step.startswith("$")]
    if name:
        return name, " ".join(path)
    if kind == "setting":
        return (path[0], "value") if path else None
    return (path[1], " ".join(path[2:]) or "name") if len(path) > 1 and path[0] != "defaults" else None


def _hits(lines: list[str], one: Written, wanted: Wanted, members: tuple[str, ...]) -> Iterator[Hit]:
    if members and not wanted.spans(one.text):
        yield whole(*one.start, fold(members))
    else:
        yield from in_value(lines, one, wanted.pattern)


# Finds texts in names, descriptions and values, as they are written, of everything that is defined.

ORDER = (
    *("node", "group", "feature", "parameter", "subsystem"),
    *("nodeset", "override", "hold", "secret", "rule", "allocation", "template", "file", "setting"),
)


Key = tuple[str, str]
"""A definition's kind and name."""


def search(fleet: Fleet, texts: Sequence[str]) -> tuple[Match, ...]:
    """Where texts are found, in definitions that hold all of them; small and capital letters are one.

    In order of kind and name. GitcfgError: a text is empty.
    """
    wanted = Wanted(texts)
    held: dict[Key, frozenset[int]] = {}
    found: dict[Key, list[Match]] = {}
    for numbers, one in _everywhere(fleet, wanted):
        key = (one.kind, one.name)
        held[key] = held.get(key, frozenset()) | numbers
        found.setdefault(key, []).append(one)
    keys = sorted((key for key in found if held[key] == wanted.all), key=_order)
    return tuple(one for key in keys for one in _lines(found[key]))


def _order(key: Key) -> tuple[int, str]:
    return ORDER.index(key[0]), key[1]


def _lines(matches: Iterable[Match]) -> Iterator[Match]:
    """A field's matches in the same line as one."""
    found: dict[tuple[str, str, int, str], list[Match]] = {}
    for one in matches:
        key = (one.field, one.origin.file, one.origin.line, one.excerpt)
        found.setdefault(key, []).append(one)
    for same in found.values():
        spans = sorted({span for one in same for span in one.spans})
        yield msgspec.structs.replace(min(same, key=lambda one: one.origin), spans=tuple(spans))


def _everywhere(fleet: Fleet, wanted: Wanted) -> Iterator[Found]:
    for kind, name, file in _named(fleet.model):
        spans = wanted.spans(name)
        if spans:
            yield wanted.held(name), Match(kind, name, "name", Origin(file), name, spans)
    veil = Veil(fleet)
    for file, definition in documents(fleet.model).items():
        yield from in_document(fleet, wanted, veil, file, definition)
    texts = [("template", f"templates/{name}", name, text) for name, text in fleet.templates.items()]
    texts += [("file", f"files/{name}", name, text or "") for name, text in fleet.sources.items()]
    for kind, file, name, text in texts:
        for hit in veiled(text, in_lines(text, wanted.pattern)):
            yield wanted.held(text), match(kind, name, "line", file, hit)


def _named(model: Model) -> Iterator[tuple[str, str, str]]:
    """Kind, name and file of everything that is named by its file."""
    for file, (kind, name) in documents(model).items():
        if name:
            yield kind, name, file
    yield from (("template", name, f"templates/{name}") for name in model.templates)
    yield from (("file", name, f"files/{name}") for name in model.sources)
