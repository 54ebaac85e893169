"""Wallaby's dump: its YAML, without Ruby's tags, and the store that it describes."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from gitcfg.convert.base import Note, Place
from gitcfg.load import yaml
from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

MAX_BYTES = 64 << 20
MAX_LEVELS = 32
MAX_REPEATED = 100_000  # values, and lines of text, that aliases repeat; short texts do not count
_LINE = 100
_HINT = "Use an unchanged file that `wallaby dump FILE` wrote."
_FLAGS = {"true": True, "false": False}
T = TypeVar("T")


class Text(msgspec.Struct, frozen=True):
    """A scalar: its source text, and whether it was written without quotes."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def absent(self) -> bool:
        """Whether it is YAML's null."""
        return self.plain and (self.text == "" or resolve_plain(self) is None)


class Items(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple["Value", ...]
    line: int
    column: int


class Table(msgspec.Struct, frozen=True):
    """A mapping."""

    entries: dict[str, "Value"]
    line: int
    column: int


Value = Text | Items | Table


Setting = str | None
"""The value that a feature or group sets for a parameter: text, or None for its default."""


class Feature(msgspec.Struct, frozen=True):
    """A feature; `included` is in order of priority, highest first."""

    name: str
    annotation: str
    included: tuple[str, ...]
    depends: tuple[str, ...]
    conflicts: tuple[str, ...]
    params: Mapping[str, Setting]


class Group(msgspec.Struct, frozen=True):
    """A group, or the identity group of a node; `features` is in order of priority, highest first."""

    name: str
    annotation: str
    identity: bool
    features: tuple[str, ...]
    params: Mapping[str, Setting]


class Node(msgspec.Struct, frozen=True):
    """A node; `membership` is in order of priority, highest first."""

    name: str
    annotation: str
    idgroup: str
    membership: tuple[str, ...]
    provisioned: bool


class Parameter(msgspec.Struct, frozen=True):
    """The declaration of a parameter; its `kind` is free text."""

    name: str
    annotation: str
    kind: str
    default: str
    description: str
    must_change: bool
    level: int
    restart: bool
    depends: tuple[str, ...]
    conflicts: tuple[str, ...]


class Subsystem(msgspec.Struct, frozen=True):
    """A subsystem with the parameters that affect it."""

    name: str
    annotation: str
    params: tuple[str, ...]


class Store(msgspec.Struct, frozen=True):
    """A whole store, in the order of the dump."""

    features: tuple[Feature, ...]
    groups: tuple[Group, ...]
    nodes: tuple[Node, ...]
    parameters: tuple[Parameter, ...]
    subsystems: tuple[Subsystem, ...]


class Fields:
    """The fields of an object, read strictly: if one is missing, the file was cut short.

    `left` are the fields not read yet, `trimmed` those with blanks around a name.
    """

    def __init__(self, value: Value, noun: str) -> None:
        if not isinstance(value, Table):
            raise value_error(value, f"a {noun} is not a mapping")
        self.table = value
        self.noun = noun
        self.left = dict(value.entries)
        self.trimmed: list[str] = []

    def take(self, key: str) -> Value:
        """Return a field. Raise GitcfgError if it is missing."""
        if key not in self.table.entries:
            raise value_error(self.table, f"the {self.label()} has no `{key}` and may be cut off")
        self.left.pop(key, None)
        return self.table.entries[key]

    def label(self) -> str:
        """Return the name of the object in messages."""
        name = self.table.entries.get("name")
        return f"{self.noun} {shown(name.text)}" if isinstance(name, Text) else self.noun

    def type_error(self, value: Value, key: str, expected: str) -> Exception:
        """Return the error for a field of another type than expected."""
        return value_error(value, f"`{key}` of the {self.label()} is not {expected}")

    def text(self, key: str) -> str:
        """Return a field of text; null is empty text."""
        value = self.take(key)
        if not isinstance(value, Text):
            raise self.type_error(value, key, "text")
        return "" if value.absent else value.text

    def name(self) -> str:
        """Return the name of the object."""
        name = self._trim(self.text("name"), "name")
        if not name:
            raise value_error(self.table, f"a {self.noun} has an empty name")
        return name

    def optional(self, key: str) -> str:
        """Return a field of text that older dumps do not have."""
        return self.text(key) if key in self.table.entries else ""

    def flag(self, key: str) -> bool:
        """Return a field that is true or false."""
        value = self.take(key)
        if not isinstance(value, Text) or value.text.lower() not in _FLAGS:
            raise self.type_error(value, key, "true or false")
        return _FLAGS[value.text.lower()]

    def number(self, key: str) -> int:
        """Return a field that is an integer."""
        value = self.take(key)
        number = resolve_plain(value) if isinstance(value, Text) else None
        if isinstance(number, bool) or not isinstance(number, int):
            raise self.type_error(value, key, "an integer")
        return number

    def items(self, key: str) -> tuple[Value, ...]:
        """Return a field that is a list."""
        value = self.take(key)
        if not isinstance(value, Items):
            raise self.type_error(value, key, "a list")
        return value.items

    def names(self, key: str) -> tuple[str, ...]:
        """Return a field that is a list of names."""
        result = []
        for item in self.items(key):
            if not isinstance(item, Text) or item.absent:
                raise self.type_error(item, key, "a list of names")
            result.append(self._trim(item.text, key))
        return tuple(result)

    def settings(self, key: str) -> dict[str, Setting]:
        """Return a field that sets parameters, by name."""
        value = self.take(key)
        if not isinstance(value, Table):
            raise self.type_error(value, key, "a mapping of parameters")
        found = {name: self._setting(key, given) for name, given in value.entries.items()}
        result = {name: setting for name, setting in found.items() if name == name.strip()}
        for name, setting in found.items():
            if name.strip() not in result:
                result[self._trim(name, f"{key}.{name.strip()}")] = setting
            else:
                result[name] = setting
        return result

    def _trim(self, name: str, field: str) -> str:
        """Return a name without the blanks around it, which HTCondor removes too."""
        trimmed = name.strip()
        if trimmed != name:
            self.trimmed.append(field)
        return trimmed

    def _setting(self, key: str, value: Value) -> Setting:
        if not isinstance(value, Text):
            raise self.type_error(value, key, "a mapping of parameters to text")
        if value.absent:
            return ""
        number = resolve_plain(value) if value.plain else None
        is_zero = isinstance(number, int) and not isinstance(number, bool) and number == 0
        return None if is_zero else value.text


def read_store(data: bytes, notes: list[Note]) -> Store:
    """Read the store of a dump. Raise GitcfgError if it is not a dump, or was cut short."""
    whole = parse_yaml(data)
    if not isinstance(whole, Table) or not whole.entries.keys() & {"features", "groups", "params"}:
        raise dump_error("it does not have the lists features, groups, nodes, params and subsystems")
    if not data.endswith(b"\n"):
        Place(notes, "dump", "").look("", "Its last line has no end: the file may be cut off.")
    fields = Fields(whole, "dump")
    store = Store(
        features=_read_objects(fields, "features", "feature", _read_feature, notes),
        groups=_read_objects(fields, "groups", "group", _read_group, notes),
        nodes=_read_objects(fields, "nodes", "node", _read_node, notes),
        parameters=_read_objects(fields, "params", "parameter", _read_parameter, notes),
        subsystems=_read_objects(fields, "subsystems", "subsystem", _read_subsystem, notes),
    )
    _note_unknown_fields(fields, Place(notes, "dump", ""))
    return store


def _read_objects(
    whole: Fields, key: str, noun: str, read: Callable[[Fields], T], notes: list[Note]
) -> tuple[T, ...]:
    result = []
    for value in whole.items(key):
        fields = Fields(value, noun)
        result.append(read(fields))
        place = Place(notes, noun, fields.name())
        _note_unknown_fields(fields, place)
        for field in dict.fromkeys(fields.trimmed):
            place.changed(field, "Blanks around a name in the dump are removed.")
    return tuple(result)


def _note_unknown_fields(fields: Fields, place: Place) -> None:
    """Note fields that the import does not know, unless they are empty."""
    for key, value in fields.left.items():
        if not _is_empty(value):
            place.dropped(key, "The import does not know this field.")


def _is_empty(value: Value) -> bool:
    if isinstance(value, Text):
        return value.absent or value.text == ""
    return not (value.items if isinstance(value, Items) else value.entries)


def _read_feature(fields: Fields) -> Feature:
    return Feature(
        name=fields.name(),
        annotation=fields.optional("annotation"),
        included=fields.names("included"),
        depends=fields.names("depends"),
        conflicts=fields.names("conflicts"),
        params=fields.settings("params"),
    )


def _read_group(fields: Fields) -> Group:
    return Group(
        name=fields.name(),
        annotation=fields.optional("annotation"),
        identity=fields.flag("is_identity_group"),
        features=fields.names("features"),
        params=fields.settings("params"),
    )


def _read_node(fields: Fields) -> Node:
    return Node(
        name=fields.name(),
        annotation=fields.optional("annotation"),
        idgroup=fields.optional("idgroup"),
        membership=fields.names("membership"),
        provisioned=fields.flag("provisioned"),
    )


def _read_parameter(fields: Fields) -> Parameter:
    return Parameter(
        name=fields.name(),
        annotation=fields.optional("annotation"),
        kind=fields.text("kind"),
        default=fields.text("default_val"),
        description=fields.text("description"),
        must_change=fields.flag("must_change"),
        level=fields.number("level"),
        restart=fields.flag("needs_restart"),
        depends=fields.names("depends"),
        conflicts=fields.names("conflicts"),
    )


def _read_subsystem(fields: Fields) -> Subsystem:
    return Subsystem(
        name=fields.name(),
        annotation=fields.optional("annotation"),
        params=fields.names("params"),
    )


def parse_yaml(data: bytes) -> Value:
    """Parse the YAML document of a dump. Raise GitcfgError if it is invalid or too large."""
    if len(data) > MAX_BYTES:
        raise dump_error(f"it has {len(data)} bytes, more than {MAX_BYTES}")
    try:
        return _Builder(yaml.events(_decode(data))).document()
    except yaml.YAMLError as error:
        reason, line, column = yaml.complaint(error)
        raise dump_error(reason, line, column) from None


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise dump_error("it is not UTF-8 text", line, column) from None


class _Builder:
    """Builds values from YAML events, at most MAX_LEVELS deep, and with MAX_REPEATED values from aliases."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.repeated = 0

    def document(self) -> Value:
        next(self.events)
        if type(next(self.events)) is yaml.StreamEndEvent:
            raise dump_error("it is empty")
        value, _ = self.value(next(self.events), 1)
        next(self.events)
        end = next(self.events)
        if type(end) is not yaml.StreamEndEvent:
            raise dump_error("a second document follows", end.start_mark.line + 1, end.start_mark.column + 1)
        return value

    def value(self, event: Any, level: int) -> tuple[Value, int]:
        """Return the value that begins with an event, and its size with aliases expanded."""
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if type(event) is yaml.AliasEvent:
            return self.alias(event.anchor, line, column)
        if level > MAX_LEVELS:
            raise dump_error(f"it nests deeper than {MAX_LEVELS} levels", line, column)
        built, size = self.build(event, level, line, column)
        if event.anchor is not None:
            self.anchors[event.anchor] = built, size
        return built, size

    def alias(self, anchor: Any, line: int, column: int) -> tuple[Value, int]:
        """Return the value of an anchor; Ruby writes an alias where an object appears a second time."""
        if anchor not in self.anchors:
            raise dump_error(f"the alias {shown(anchor)} has no anchor", line, column)
        value, size = self.anchors[anchor]
        self.repeated += size if size > 1 else 0
        if self.repeated > MAX_REPEATED:
            raise dump_error("its aliases repeat too much", line, column)
        return value, size

    def build(self, event: Any, level: int, line: int, column: int) -> tuple[Value, int]:
        if type(event) is yaml.ScalarEvent:
            text = _decode_scalar(event, line, column)
            return text, 1 + len(text.text) // _LINE
        if type(event) is yaml.MappingStartEvent:
            return self.table(level, line, column)
        items, size = [], 1
        for inner in self.events:
            if type(inner) is yaml.SequenceEndEvent:
                break
            item, more = self.value(inner, level + 1)
            items.append(item)
            size += more
        return Items(tuple(items), line, column), size

    def table(self, level: int, line: int, column: int) -> tuple[Value, int]:
        entries: dict[str, Value] = {}
        size = 1
        for event in self.events:
            if type(event) is yaml.MappingEndEvent:
                break
            key, _ = self.value(event, level + 1)
            if not isinstance(key, Text):
                raise value_error(key, "a key is not text")
            if key.text in entries:
                raise value_error(key, f"the key {shown(key.text)!r} is twice in one mapping")
            entries[key.text], more = self.value(next(self.events), level + 1)
            size += more
        return Table(entries, line, column), size


def _decode_scalar(event: Any, line: int, column: int) -> Text:
    """Return a scalar; Ruby writes text that it considers binary in base64."""
    if event.tag is None or event.tag.rpartition(":")[2].lstrip("!") != "binary":
        return Text(event.value, event.implicit[0], line, column)
    try:
        data = base64.b64decode(event.value)
    except binascii.Error:
        raise dump_error("binary text is not in base64", line, column) from None
    try:
        return Text(data.decode("utf-8"), False, line, column)
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), False, line, column)


def resolve_plain(value: Text) -> object:
    """Return the value of a plain scalar in YAML, or its text if that is not a valid value."""
    try:
        return resolve(value.text)
    except ValueError:
        return value.text


def dump_error(message: str, line: int = 0, column: int = 0) -> GitcfgError:
    """Return the error that stops an import, with its place if there is one."""
    place = f" (line {line}, column {column})" if line else ""
    return GitcfgError(f"This is not a Wallaby dump{place}: {message}.", _HINT)


def value_error(value: Value, message: str) -> GitcfgError:
    """Return the error about a value."""
    return dump_error(message, value.line, value.column)
