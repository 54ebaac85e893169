"""From a dump's bytes to the store that it holds."""

from collections.abc import Callable
from typing import TypeVar

from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby.dump import parse_yaml
from gitcfg.convert.wallaby.fields import Fields
from gitcfg.convert.wallaby.store import Feature, Group, Node, Parameter, Store, Subsystem
from gitcfg.convert.wallaby.tree import Items, Table, Text, Value, dump_error

T = TypeVar("T")


def read_store(data: bytes, notes: list[Note]) -> Store:
    """The store of a dump. GitcfgError: it is none, or not whole."""
    whole = parse_yaml(data)
    if not isinstance(whole, Table) or not whole.entries.keys() & {"features", "groups", "params"}:
        raise dump_error("it is not a store with lists of features, groups, nodes, params and subsystems")
    if not data.endswith(b"\n"):
        Place(notes, "dump", "").look("", "Its last line does not end: it may have been cut short.")
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
            place.changed(field, "A name has blanks around it in the dump, and none here.")
    return tuple(result)


def _note_unknown_fields(fields: Fields, place: Place) -> None:
    """Fields that this import does not know, unless they say nothing."""
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
