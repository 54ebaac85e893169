"""Full-text search in definitions: the texts that people wrote, with their places, and without secrets."""

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
from gitcfg.model.names import SHEETS
from gitcfg.model.secrets import PLAIN, lines_of_keys, open_mark
from gitcfg.nodeset import fold

_NAMED = frozenset({"params", "facts", "node_facts", "with", "default"})
"""Keys below which all keys are names that people chose, or parts of values."""
_RULED = frozenset({"set", "domain", "values"})
"""The same in rules and allocations, where these keys are at the top."""
_WORDS = {
    "parameter": frozenset(
        {"type", "must_change", "restart", "unique", "separator", "macros", "level", "secret"}
    ),
    "node": frozenset({"state"}),
    "nodeset": frozenset({"state"}),
    "setting": frozenset({"format"}),
}
"""By kind, keys whose values are keywords of the format."""


class WrittenText(msgspec.Struct, frozen=True):
    """A name or value: `path` are the keys and indices that lead to it, `text` is its source.

    The path of a name ends with the name itself; `key` distinguishes it from its value. `start` and `end` are
    line and column from 1; the text is in this span, and ends before `end`.
    """

    path: tuple[str | int, ...]
    text: str
    start: tuple[int, int]
    end: tuple[int, int]
    key: bool


def walk_written(kind: str, document: Document) -> Iterator[WrittenText]:
    """Yield all names and values that people wrote into a document, in its order."""
    found = list(_walk((), document.value, document.mark))
    starts = sorted(start for _, _, start, _ in found)
    for path, text, start, key in found:
        own = path[2:] if path and path[0] in SHEETS else path
        if text is not None and (_is_name(path, own) if key else _is_value(kind, own)):
            after = bisect_right(starts, start)
            end = starts[after] if after < len(starts) else (1 << 31, 1)
            yield WrittenText(path, text, start, end, key)


_Found = tuple[tuple[str | int, ...], str | None, tuple[int, int], bool]


def _walk(path: tuple[str | int, ...], value: Any, mark: Mark) -> Iterator[_Found]:
    """Yield every key and every scalar with its place, and whether it is a key."""
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


def _is_name(path: tuple[str | int, ...], own: tuple[str | int, ...]) -> bool:
    """Return whether a key is a name that people chose."""
    if not own:
        return len(path) == 2  # the name of a parameter, subsystem or rule
    if own[0] == "files":
        return len(own) == 2
    below = not _NAMED.isdisjoint(own[:-1]) or not _RULED.isdisjoint(own[:1])
    return len(own) > 1 and below and not str(own[-1]).startswith("$")


def _is_value(kind: str, own: tuple[str | int, ...]) -> bool:
    """Return whether a value is one that people chose, not a keyword of the format."""
    if own and own[0] == "files":
        return own[-1] not in ("format", "mode")
    return not (own and own[0] in _WORDS.get(kind, ()))


# The places of a pattern in a text: the line, the column, and an excerpt of the line.

_AROUND = 70
_LONGEST = 160


class Hit(msgspec.Struct, frozen=True):
    """A line with a match, or the beginning of the value with it. `spans` are positions in the excerpt.

    `veiled`: the match is in a secret that is there in plain text.
    """

    line: int
    column: int
    excerpt: str
    spans: tuple[tuple[int, int], ...]
    veiled: bool = False


def find_in_lines(text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Yield every line of a text in which a match of the pattern begins."""
    found: dict[int, list[tuple[int, int]]] = {}
    number, seen = 1, 0
    for match in pattern.finditer(text):
        number, seen = number + text.count("\n", seen, match.start()), match.start()
        begin = text.rfind("\n", 0, seen) + 1
        found.setdefault(number, []).append((seen - begin, match.end() - begin))
    lines = text.split("\n") if found else []
    for number, spans in found.items():
        line = lines[number - 1]
        yield _cut_hit(number, line, [(start, min(end, len(line))) for start, end in spans])


def find_in_value(lines: list[str], written: WrittenText, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Yield where a written value matches: each such line of a block, otherwise the first such line.

    If the source differs from the value (escapes, folded lines), this is the value's beginning.
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
            yield _cut_hit(number, line, spans)
            found = True
            if not block:
                return
    if not found and first <= len(lines):
        yield unmarked_hit(first, column, lines[first - 1])


def unmarked_hit(line: int, column: int, text: str) -> Hit:
    """Return a line without spans."""
    return Hit(line, column, text.strip()[:_LONGEST], ())


def _cut_hit(number: int, line: str, spans: list[tuple[int, int]]) -> Hit:
    """Return a line, or the part of a long one around the first match."""
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
    """A place where one or several of the texts are found. `field` are the keys that lead to it.

    `veiled`: the match is in a secret that is there in plain text, and is not shown.
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


def make_match(kind: str, name: str, field: str, file: str, hit: Hit) -> Match:
    """Return the match for a hit in a file."""
    return Match(kind, name, field, Origin(file, hit.line, hit.column), hit.excerpt, hit.spans, hit.veiled)


def matches_record(commit: str | None, texts: Iterable[str], matches: Iterable[Match]) -> Record:
    """Return `gitcfg.matches/1`."""
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


# Secrets in plain text, which neither a search nor findings may show.

_MARK = re.compile(r"\$\{[^{}]*\}")
_ATTRIBUTE = re.compile(r"\$\{with\.([^{}]*)\}")
_AROUND_VEIL = " \t-,:[]{}'\""

Place = tuple[int, int]


class SecretFilter:
    """Filter of the matches in a fleet, which hides secrets in plain text in its definitions."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def for_file(self, text: str, found: Iterable[WrittenText]) -> "FileSecretFilter":
        """Return the filter for one file with these names and values."""
        secret = tuple(filter(self._is_secret, found))
        lines = text.split("\n")
        hidden = lines_of_keys(text).union(*(_lines_of(lines, one) for one in secret))
        return FileSecretFilter(frozenset(one.start for one in secret), hidden)

    def _is_secret(self, one: WrittenText) -> bool:
        """Return whether a name or value is a secret in plain text, or a part of one."""
        parameters = self._fleet.model.parameters
        match one.path:
            case (
                ("params", str(name), *inside)
                | ("rules", str(), "set" | "domain", str(name), *inside)
                | ("values", str(), str(name), *inside)
            ):
                secret = (
                    inside[:1] != ["$secret"] and bool(inside or not one.key) and self._is_secret_name(name)
                )
            case ("parameters", str(name), "default", *_):
                secret = name in parameters and parameters[name].secret
            case ("recipients", int()):
                secret = not is_recipient(one.text)
            case _:
                secret = "with" in one.path and self._is_secret_attribute(one)
        return secret or bool(open_mark(one.text))

    def _is_secret_name(self, name: str) -> bool:
        """Return whether a parameter is secret.

        A name with `${...}` is if one that instances make of it is.
        """
        secret = self._fleet.declarations.secret
        if "${" not in name:
            return secret(name)
        made = re.compile(".+".join(map(re.escape, _MARK.split(name))))
        every = self._fleet.model.parameters.values()
        return secret(_MARK.sub("1", name)) or any(one.secret and made.fullmatch(one.name) for one in every)

    def _is_secret_attribute(self, one: WrittenText) -> bool:
        """Return whether a text is in an attribute of an instance that a secret parameter contains."""
        inside = one.path[one.path.index("with") + 1 :]
        return bool(inside[1:] or not one.key) and inside[0] in self._attributes

    @cached_property
    def _attributes(self) -> Set[str | int]:
        return frozenset(
            name
            for feature in self._fleet.model.features.values()
            for param, binding in feature.params.items()
            if "${with." in str(binding.given) and self._is_secret_name(param)
            for name in _ATTRIBUTE.findall(str(binding.given))
        )


class FileSecretFilter:
    """Filter of one file: the places where secrets in plain text begin, and the lines with secrets."""

    def __init__(self, places: Set[Place], lines: Set[int]) -> None:
        self._places = places
        self.lines = lines

    def filter_hits(self, one: WrittenText, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Yield the hits in a name or value that may be shown.

        For a secret, yield only its beginning: the place of a hit would show how much of it was guessed.
        """
        if one.start in self._places:
            yield Hit(*one.start, PLAIN, (), veiled=True)
            return
        for hit in hits:
            yield Hit(hit.line, hit.column, PLAIN, ()) if hit.line in self.lines else hit


def find_secret_lines(fleet: Fleet, file: str, data: bytes) -> Set[int]:
    """Return the lines of a file, from 1, that have a secret in plain text, or a private key."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if file not in (documents := list_documents(fleet.model)):
        return lines_of_keys(text)
    return SecretFilter(fleet).for_file(text, walk_written(documents[file][0], parse(file, data))).lines


def filter_lines(text: str, hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield the hits that may be shown in a text without definitions: a template, a file."""
    keys = lines_of_keys(text)
    for hit in hits:
        yield Hit(hit.line, 1, PLAIN, (), veiled=True) if hit.line in keys else hit


def _lines_of(lines: list[str], one: WrittenText) -> range:
    """Return the lines of a name or value, without the last one if it has no part of it."""
    (first, _), (last, end) = one.start, one.end
    if last > len(lines) or not lines[last - 1][: end - 1].strip(_AROUND_VEIL):
        last = min(last - 1, len(lines))
    return range(first, max(first, last) + 1)


# The texts of a query.


class TextQuery:
    """The texts of a query, in upper or lower case; a blank matches any white space."""

    def __init__(self, texts: Sequence[str]) -> None:
        if not all(text.strip() for text in texts):
            raise GitcfgError("The text to search for is empty.", "Give a text to search for.")
        sources = [r"\s+".join(map(re.escape, text.split())) for text in texts]
        self._each = [re.compile(source, re.IGNORECASE) for source in sources]
        self.pattern = re.compile("|".join(sources), re.IGNORECASE)
        self.all = frozenset(range(len(texts)))

    def find_numbers(self, *texts: str) -> frozenset[int]:
        """Return the numbers of the query's texts that are found in any of these."""
        return frozenset(
            number for number, pattern in enumerate(self._each) if any(pattern.search(text) for text in texts)
        )

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the spans of a text in which any text of the query is found."""
        return tuple(match.span() for match in self.pattern.finditer(text))

    def may_hold(self, source: str) -> bool:
        """Return whether the values of a file may contain a text of the query; escapes may hide it."""
        return "\\" in source or "''" in source or self.pattern.search(source) is not None

    def filter_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that contain a text of the query."""
        return tuple(name for name in names if self.pattern.search(name))


# Matches in the YAML files of definitions.


def list_documents(model: Model) -> dict[str, tuple[str, str]]:
    """Return the files of definitions with their kind, and the name if they have only one definition."""
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


def find_in_document(
    fleet: Fleet, wanted: TextQuery, veil: SecretFilter, file: str, definition: tuple[str, str]
) -> Iterator[Found]:
    """Yield the matches in a file with definitions of a kind, or with the one of a name."""
    kind, name = definition
    entry = fleet.tree.entry(file)
    data = fleet.tree.read(entry) if entry is not None else b""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    members = wanted.filter_names(_find_members(fleet.model, kind, name))
    if not (members or wanted.may_hold(text)):
        return
    lines = text.split("\n")
    everything = tuple(walk_written(kind, parse(file, data)))
    shows = veil.for_file(text, everything)
    for one in everything:
        own = _find_definition(one, kind, name)
        extra = members if one.path == ("nodes",) else ()
        held = wanted.find_numbers(one.text, *extra)
        if own is None or not held:
            continue
        for hit in shows.filter_hits(one, _find_hits(lines, one, wanted, extra)):
            yield held, make_match(kind, *own, file, hit)


def _find_members(model: Model, kind: str, name: str) -> Iterable[str]:
    """Return the nodes in the `nodes` of a set, an override or a hold."""
    if kind == "nodeset":
        return model.nodesets[name].members
    named = model.overrides if kind == "override" else model.holds if kind == "hold" else {}
    return named[name].members or () if name in named else ()


def _find_definition(one: WrittenText, kind: str, name: str) -> tuple[str, str] | None:
    """Return the name of the definition with a name or value, and its field; None if it is in none."""
    path = [str(step) for step in one.path if isinstance(step, str) and not step.startswith("$")]
    if name:
        return name, " ".join(path)
    if kind == "setting":
        return (path[0], "value") if path else None
    return (path[1], " ".join(path[2:]) or "name") if len(path) > 1 and path[0] != "defaults" else None


def _find_hits(
    lines: list[str], one: WrittenText, wanted: TextQuery, members: tuple[str, ...]
) -> Iterator[Hit]:
    if members and not wanted.spans(one.text):
        yield unmarked_hit(*one.start, fold(members))
    else:
        yield from find_in_value(lines, one, wanted.pattern)


# Matches in the names, descriptions and values of all definitions, as they are written.

ORDER = (
    *("node", "group", "feature", "parameter", "subsystem"),
    *("nodeset", "override", "hold", "secret", "rule", "allocation", "template", "file", "setting"),
)


Key = tuple[str, str]
"""A definition's kind and name."""


def search(fleet: Fleet, texts: Sequence[str]) -> tuple[Match, ...]:
    """Return the places of the texts in definitions that contain all of them, in upper or lower case.

    The order is by kind and name. Raise GitcfgError if a text is empty.
    """
    wanted = TextQuery(texts)
    held: dict[Key, frozenset[int]] = {}
    found: dict[Key, list[Match]] = {}
    for numbers, one in _find_everywhere(fleet, wanted):
        key = (one.kind, one.name)
        held[key] = held.get(key, frozenset()) | numbers
        found.setdefault(key, []).append(one)
    keys = sorted(
        (key for key in found if held[key] == wanted.all), key=lambda key: (ORDER.index(key[0]), key[1])
    )
    return tuple(one for key in keys for one in _merge_lines(found[key]))


def _merge_lines(matches: Iterable[Match]) -> Iterator[Match]:
    """Merge the matches of a field in the same line."""
    found: dict[tuple[str, str, int, str], list[Match]] = {}
    for one in matches:
        key = (one.field, one.origin.file, one.origin.line, one.excerpt)
        found.setdefault(key, []).append(one)
    for same in found.values():
        spans = sorted({span for one in same for span in one.spans})
        yield msgspec.structs.replace(min(same, key=lambda one: one.origin), spans=tuple(spans))


def _find_everywhere(fleet: Fleet, wanted: TextQuery) -> Iterator[Found]:
    for kind, name, file in _walk_named(fleet.model):
        spans = wanted.spans(name)
        if spans:
            yield wanted.find_numbers(name), Match(kind, name, "name", Origin(file), name, spans)
    veil = SecretFilter(fleet)
    for file, definition in list_documents(fleet.model).items():
        yield from find_in_document(fleet, wanted, veil, file, definition)
    texts = [("template", f"templates/{name}", name, text) for name, text in fleet.templates.items()]
    texts += [("file", f"files/{name}", name, text or "") for name, text in fleet.sources.items()]
    for kind, file, name, text in texts:
        for hit in filter_lines(text, find_in_lines(text, wanted.pattern)):
            yield wanted.find_numbers(text), make_match(kind, name, "line", file, hit)


def _walk_named(model: Model) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and file of every definition that is named by its file."""
    for file, (kind, name) in list_documents(model).items():
        if name:
            yield kind, name, file
    yield from (("template", name, f"templates/{name}") for name in model.templates)
    yield from (("file", name, f"files/{name}") for name in model.sources)
