"""Parts of entries: values, and tables of what a layer binds, which files it has, and what it lists."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gitcfg.convert.reference.content import Code, Fact, Line, Part, Ranking, Table, Text
from gitcfg.convert.reference.usage import Usage
from gitcfg.explain.definition import make_setting
from gitcfg.explain.trail import Definition
from gitcfg.model import Binding, FileEntry, Op, Use
from gitcfg.pictures.picture import by_feature, instances

SECRET: Line = (Text("(secret)"),)


def value_piece(given: Any) -> Code:
    """Return a value on one line: text as it is, all else as JSON."""
    if isinstance(given, str) and given and given.isprintable():
        return Code(given)
    return Code(msgspec.json.encode(given).decode())


def binding_line(usage: Usage, name: str, binding: Binding) -> Line:
    """Return what a binding does to its parameter; the value of a secret is not shown."""
    if binding.op is Op.SECRET:
        return (Text("the secret "), Code(binding.given))
    if usage.fleet.declarations.secret(name):
        return SECRET
    if binding.op is Op.NULL:
        return (Text("its default"),)
    if binding.op is Op.UNSET:
        return (Text("as if nobody had set it"),)
    piece = value_piece(make_setting(usage.fleet, "", name, binding, {}).given)
    return (piece,) if binding.op is Op.SET else (Code(f"${binding.op.value}"), Text(" "), piece)


def layer_parts(usage: Usage, layer: Definition) -> Iterator[Part]:
    """Yield tables of the parameters and files of a layer, if it has any."""
    rows = [
        (usage.parameter(name), binding_line(usage, name, binding))
        for name, binding in sorted(layer.params.items())
    ]
    if rows:
        yield Table("Parameters", ("parameter", "value"), tuple(rows))
    files: list[tuple[Line, ...]] = []
    for _, entry in sorted(layer.files.items()):
        mode: Line = () if entry.removed else (Code(f"{entry.mode} {entry.owner}:{entry.group}"),)
        files.append(((Code(entry.path),), _content_line(entry), mode))
    if files:
        yield Table("Files", ("file", "what it holds", "mode, owner, group"), tuple(files))


def _content_line(entry: FileEntry) -> Line:
    """Return what a file is written from. Plain text is not shown: it may be long."""
    if entry.removed:
        return (Text("taken away"),)
    if entry.template is not None:
        return (Text("template "), Code(entry.template.name))
    if entry.source is not None:
        return (Text("file "), Code(entry.source.name))
    if entry.format is not None:
        chosen = ", ".join(entry.params) if not entry.tags else "tags " + ", ".join(entry.tags)
        return (Text("parameters as "), Code(entry.format), Text(": "), Code(chosen))
    return (Text("text"),)


def use_lines(usage: Usage, listed: Iterable[Use]) -> tuple[Line, ...]:
    """Return the lines of a list of features, with the instances of each together."""
    return tuple(
        (*usage.link("feature", name), *((Text(f" {told}"),) if (told := instances(of_name)) else ()))
        for name, of_name in by_feature(listed).items()
    )


def ranking(label: str, lines: tuple[Line, ...]) -> Iterator[Part]:
    """Yield a list in order of priority; a single item has none."""
    if len(lines) > 1:
        yield Ranking(f"{label}, highest priority first", lines)
    elif lines:
        yield Fact(label, lines)


def fact(label: str, lines: Iterable[Line]) -> Iterator[Part]:
    """Yield a fact, if it has items."""
    items = tuple(dict.fromkeys(lines))
    if items:
        yield Fact(label, items)
