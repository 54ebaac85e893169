"""What there is to tell of a definition: what it says, who uses it, and where that counts."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry, Op, Origin
from gitcfg.render.templates import TemplateEngine


class Reference(msgspec.Struct, frozen=True):
    """A name, or a layer's label, in a list: where it stands there, and as which instances."""

    name: str
    origin: Origin
    instances: tuple[str, ...] = ()


class Setting(msgspec.Struct, frozen=True):
    """A layer's binding of a parameter, and the nodes on which it wins. `fits`: its value has the type."""

    layer: str
    param: str
    op: Op
    given: Any
    origin: Origin
    nodes: tuple[str, ...]
    fits: bool


class Entry(msgspec.Struct, frozen=True):
    """A layer's entry for a file, and the nodes on which it decides.

    `private` are those on which its mode is not the one in `entry`, because only there it takes a secret.
    """

    layer: str
    entry: FileEntry
    nodes: tuple[str, ...]
    private: tuple[str, ...] = ()


class Nodes(msgspec.Struct, frozen=True):
    """Nodes, in order of name."""

    names: tuple[str, ...]


class Names(msgspec.Struct, frozen=True):
    """Plain names or words. `many`: of parameters, which may be numbered in hundreds."""

    names: tuple[str, ...]
    many: bool = False


class Flag(msgspec.Struct, frozen=True):
    """Whether something is so."""

    value: bool


class Value(msgspec.Struct, frozen=True):
    """A value of any type, as YAML or a parameter's type has it; None where there is none."""

    value: Any


Field = Flag | Value | Names | Nodes | tuple[Reference, ...] | tuple[Setting, ...] | tuple[Entry, ...]


class Definition(msgspec.Struct, frozen=True):
    """One definition: `fields` in the order in which they are told; no `origin`: it has no one place."""

    name: str
    description: str
    origin: Origin | None
    fields: Mapping[str, Field]


class Summary(msgspec.Struct, frozen=True):
    """One definition among others: `figures` are what matters of its kind, numbers above all."""

    name: str
    description: str
    origin: Origin | None
    figures: Mapping[str, Any]


class Kind(msgspec.Struct, frozen=True):
    """A kind of definition: a summary of each, in order of name, their names, and all about one.

    `also` says whether there is one of a name that is not among the names.
    """

    name: str
    summaries: Callable[[Fleet], Iterable[Summary]]
    names: Callable[[Fleet], Collection[str]]
    definition: Callable[[Fleet, TemplateEngine, str], Definition]
    also: Callable[[Fleet, str], bool] = lambda fleet, name: False
