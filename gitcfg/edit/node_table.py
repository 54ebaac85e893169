"""Nodes in a table: CSV with one node per line, turned into a file for each node or into one node set."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

import msgspec
from msgspec.structs import replace

from gitcfg.edit.draft import NODE, NODESET, Draft, choose_place
from gitcfg.edit.kinds import Kind
from gitcfg.edit.orders import Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import Meaning, Raw, parse_value, to_yaml
from gitcfg.load.document import MAX_BYTES
from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError, Origin
from gitcfg.model.names import HOST, shown
from gitcfg.nodeset import fold

# CSV (RFC 4180) with commas, semicolons or tabs between cells. The standard library reports no columns.

_DELIMITERS = (",", ";", "\t")
_OPENS = re.compile(' *"')
_QUOTED = re.compile(r' *"((?:[^"]|"")*)" *')
_HINT = "Save the table as CSV in UTF-8, with a header line such as `name,rack,memory_gib`."


class Cell(msgspec.Struct, frozen=True):
    """A cell without surrounding blanks, and its place in the file."""

    text: str
    origin: Origin


Line = tuple[Cell, ...]


def parse_csv(data: bytes, file: str) -> list[Line]:
    """Return the lines of a table that have any text. Raise GitcfgError if the file is not CSV in UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        origin = _find_place(data[: error.start].decode("utf-8-sig"), file)
        raise GitcfgError(f"{origin}: The file is not UTF-8 text.", _HINT) from None
    if "\0" in text:
        origin = _find_place(text[: text.index("\0")], file)
        raise GitcfgError(f"{origin}: The file contains a NUL character.", _HINT)
    header = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", header).count)
    found: list[list[Cell]] = [[]]
    for cell, ends_line in _split_cells(text, file, delimiter):
        found[-1].append(cell)
        if ends_line:
            found.append([])
    return [tuple(line) for line in found if any(cell.text for cell in line)]


def _find_place(before: str, file: str) -> Origin:
    return Origin(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _split_cells(text: str, file: str, delimiter: str) -> Iterator[tuple[Cell, bool]]:
    """Yield the cells, and whether each is the last of its line."""
    plain = re.compile(rf"[^{delimiter}\r\n]*")
    end = re.compile(rf"{delimiter}|\r?\n|\r|\Z")
    at, line, start = 0, 1, 0
    while at < len(text):
        is_quoted = _OPENS.match(text, at) is not None
        origin = Origin(file, line, at - start + 1)
        found = (_QUOTED if is_quoted else plain).match(text, at)
        closing = end.match(text, found.end()) if found is not None else None
        if found is None or closing is None:
            hint = 'Close the quotes, and write `""` for a quote in quotes.'
            raise GitcfgError(f"{origin}: The quotes of this cell are not correct.", hint)
        content = found[1].replace('""', '"') if is_quoted else found[0]
        yield Cell(content.strip(), origin), closing[0] != delimiter
        if "\n" in found[0]:
            line += found[0].count("\n")
            start = text.rfind("\n", 0, found.end()) + 1
        at = closing.end()
        if closing[0] not in (delimiter, ""):
            line, start = line + 1, at


# The columns: some are keys of a node, and each other one is a fact of that name.

_NAMES = ("name", "node")
_LISTS = ("groups", "labels", "features", "without")
_TEXTS = ("address", "description")
_MISTAKEN = {"group": "groups", "label": "labels", "feature": "features"} | dict.fromkeys(
    ("hostname", "host", "fqdn", "nodename"), "name"
)
_NO_FACTS = ("params", "facts", "files", "nodes", "node_facts")


class NodeRow(msgspec.Struct, frozen=True):
    """A line of the table: a node with its cells by column, without the empty ones."""

    name: Cell
    cells: Mapping[str, Cell]

    @property
    def facts(self) -> dict[str, Given]:
        """The facts by name."""
        others = (*_LISTS, *_TEXTS)
        return {name: read_scalar(cell.text) for name, cell in self.cells.items() if name not in others}


def parse_nodes(data: bytes, file: str) -> list[NodeRow]:
    """Return the nodes of a table. Raise GitcfgError with the place of an error."""
    lines = parse_csv(data, file)
    if not lines:
        raise GitcfgError(f"{file} is empty.", _HINT)
    columns = _read_header(lines[0])
    place = next(place for place, name in enumerate(columns) if name in _NAMES)
    rows: dict[str, NodeRow] = {}
    for line in lines[1:]:
        row = _read_row(line, columns, place)
        known = rows.setdefault(row.name.text.casefold(), row)
        if known is not row:
            message = f"The node {shown(row.name.text)} is in line {known.name.origin.line} already."
            _refuse(row.name, message, "Keep one line for each node.")
    if not rows:
        raise GitcfgError(f"{file} has a header, but no nodes.", "Add a line for each node.")
    return list(rows.values())


def _refuse(cell: Cell, message: str, hint: str) -> NoReturn:
    raise GitcfgError(f"{cell.origin}: {message}", hint)


def _read_header(line: Line) -> list[str]:
    """Return the names of the columns. Raise GitcfgError if one is repeated, or none has nodes' names."""
    names = [cell.text for cell in line]
    while names and not names[-1]:
        names.pop()
    mistaken = next((cell for cell in line if cell.text.lower() in _MISTAKEN or cell.text in _NO_FACTS), None)
    if not any(name in _NAMES for name in names):
        near = next((cell.text for cell in line if _MISTAKEN.get(cell.text.lower()) == "name"), "")
        upper = next((cell.text for cell in line if cell.text.lower() in _NAMES), near)
        hint = f"Rename the column {shown(upper)} to name." if upper else _HINT
        _refuse(line[0], "The header has no column `name`.", hint)
    if mistaken is not None and mistaken.text in _NO_FACTS:
        hint = "Each fact has a column of its own. Use `--set` and `--file` for parameters and files."
        _refuse(mistaken, f"A table of nodes has no column {mistaken.text}.", hint)
    if mistaken is not None:
        hint = f"Did you mean {_MISTAKEN[mistaken.text.lower()]}? Every unknown column is a fact."
        _refuse(mistaken, f"A fact cannot be called {shown(mistaken.text)} in a table.", hint)
    seen: set[str] = set()
    for name, cell in zip(names, line, strict=False):
        if not name:
            _refuse(cell, "The column has no name.", "Name it in the header, or remove it.")
        key = "name" if name in _NAMES else name
        if key in seen:
            _refuse(cell, f"The column {shown(key)} is there twice.", "Rename or remove one of them.")
        seen.add(key)
    return names


def _read_row(line: Line, columns: Sequence[str], place: int) -> NodeRow:
    extra = next((cell for cell in line[len(columns) :] if cell.text), None)
    if extra is not None:
        hint = "Quote a cell that contains the delimiter."
        _refuse(extra, f"The line has more cells than the header, which has {len(columns)}.", hint)
    name = line[place] if place < len(line) else line[-1]
    if place >= len(line) or not name.text:
        _refuse(name, "The line has no node.", "Write its host name, or remove the line.")
    if not HOST.fullmatch(name.text):
        _refuse(name, f"{shown(name.text)!r} is not a host name.", "See `gitcfg help GC103`.")
    cells = {column: cell for column, cell in zip(columns, line, strict=False) if cell.text}
    return NodeRow(name, {column: cell for column, cell in cells.items() if column not in _NAMES})


def read_scalar(text: str) -> Given:
    """Read a cell as a YAML scalar: a number, true, false, null or text. Anything in quotes is text."""
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        try:
            meaning = parse_value(text, "cell")
        except GitcfgError:
            return Given(text)
        return Given(meaning if isinstance(meaning, str) else text)
    try:
        return Given(text if isinstance(resolve(text), str) else Raw(text))
    except ValueError:  # more digits than a number may have
        return Given(text)


# New definitions for all nodes of a table: a file for each, or one node set with equal facts written once.


def create_nodes(draft: Draft, rows: Sequence[NodeRow], common: Order) -> None:
    """Create a file for each node. Each has the `common` entries below those of its line.

    Raise GitcfgError if a node exists already. The texts are composed, as editing 10,000 texts takes minutes.
    """
    members = {name for nodeset in draft.model.nodesets.values() for name in nodeset.members}
    texts: dict[str, str] = {}
    for row in rows:
        order = _order_node(row, common)
        if row.name.text in members:
            hint = "Add its facts to `node_facts` of the node set, or use `gitcfg new node NAME`."
            _refuse(row.name, f"The node {row.name.text} is in a node set already.", hint)
        file = _choose_file(draft, NODE, order, row.name)
        texts[file] = compose_text(NODE, order)
    for file, text in texts.items():
        draft.write(file, text)


def create_nodeset(draft: Draft, rows: Sequence[NodeRow], common: Order) -> None:
    """Create a node set of all nodes, with facts that differ under `node_facts`.

    Raise GitcfgError if the nodes differ in more than facts, or if a node exists already.
    """
    members = {name: nodeset.name for nodeset in draft.model.nodesets.values() for name in nodeset.members}
    for row in rows:
        name = row.name.text
        if name in members or name in draft.model.nodes:
            where = f"in the node set {members[name]}" if name in members else "a file of its own"
            verb = "is" if name in members else "has"
            _refuse(row.name, f"The node {name} {verb} {where} already.", "Remove the line.")
    file = _choose_file(draft, NODESET, common, rows[0].name)
    text = compose_text(NODESET, _order_nodeset(rows, common))
    if len(text.encode()) > MAX_BYTES:
        message = f"{file} would have {len(text.encode()):,} bytes, and a file has at most 1 MiB."
        raise GitcfgError(message, "Divide the table, or use `gitcfg new node --from`.")
    draft.write(file, text)


def _choose_file(draft: Draft, kind: Kind, order: Order, cell: Cell) -> str:
    try:
        return choose_place(draft, kind, order.name, order.place).file
    except GitcfgError as error:
        raise GitcfgError(f"{cell.origin}: {error.message}", *error.hints, code=error.code) from None


def _order_node(row: NodeRow, common: Order) -> Order:
    return replace(
        common,
        name=row.name.text,
        add=_join_lists(common.add, row),
        fields={**common.fields, **_read_texts(row)},
        put={**common.put, "facts": {**common.put.get("facts", {}), **row.facts}},
    )


def _order_nodeset(rows: Sequence[NodeRow], common: Order) -> Order:
    if "nodes" in common.fields or "node_facts" in common.put:
        hint = "The table has them."
        raise GitcfgError("--from cannot be combined with nodes, or facts of some of them.", hint)
    first = rows[0]
    for row in rows:
        for column in (*_LISTS, *_TEXTS):
            here, there = row.cells.get(column), first.cells.get(column)
            if (here and here.text) != (there and there.text):
                message = f"In a node set, {column} is the same for all nodes, and here it differs."
                hint = "Use `gitcfg new node --from`, or a table and a node set for each."
                _refuse(here or row.name, message, hint)
    facts = {row.name.text: row.facts for row in rows}
    alike = {name: given for name, given in first.facts.items() if _is_shared(name, given, facts.values())}
    rest = {
        node: {name: given for name, given in found.items() if name not in alike}
        for node, found in facts.items()
    }
    return replace(
        common,
        add=_join_lists(common.add, first),
        fields={**common.fields, "nodes": Given(_write_plain(fold(facts))), **_read_texts(first)},
        put={
            **common.put,
            "facts": {**common.put.get("facts", {}), **alike},
            "node_facts": {nodes: Given(meaning) for nodes, meaning in fold_facts(rest).items()},
        },
    )


def _is_shared(name: str, given: Given, nodes: Iterable[Mapping[str, Given]]) -> bool:
    return all(facts.get(name) == given for facts in nodes)


def _join_lists(common: Mapping[str, tuple[Given, ...]], row: NodeRow) -> dict[str, tuple[Given, ...]]:
    """Return the lists of a row: its own items, then those of all nodes."""
    found: dict[str, tuple[Given, ...]] = {}
    for key in (*_LISTS, *(key for key in common if key not in _LISTS)):
        cell = row.cells.get(key)
        own = dict.fromkeys(_split_names(cell.text)) if cell is not None and key in _LISTS else {}
        more = (given for given in common.get(key, ()) if given.meaning not in list(own))
        found[key] = (*map(Given, own), *more)
    return found


def _split_names(text: str) -> list[str]:
    """Split a cell into names, at commas or semicolons if it has any: names may contain blanks."""
    if "," in text or ";" in text:
        return [name.strip() for name in re.split("[,;]", text) if name.strip()]
    return text.split()


def _read_texts(row: NodeRow) -> dict[str, Given]:
    return {key: Given(row.cells[key].text) for key in _TEXTS if key in row.cells}


def compose_text(kind: Kind, order: Order) -> str:
    """Return the text of a new definition, one value per line. Raise GitcfgError if its kind lacks a key."""
    values = {
        kind.known(key, kind.fields): f" {to_yaml(given.meaning)}" for key, given in order.fields.items()
    }
    for key, items in order.add.items():
        if items:
            values[kind.known(key, kind.lists)] = f" {to_yaml([given.meaning for given in items])}"
    for key, entries in order.put.items():
        if entries:
            lines = (
                f"\n  {to_yaml(_write_plain(name))}: {to_yaml(given.meaning)}"
                for name, given in entries.items()
            )
            values[kind.mapping(key)] = "".join(lines)
    return "".join(f"{key}:{values[key]}\n" for key in kind.keys if key in values) or "{}\n"


_BRACKETS = re.compile(r"[A-Za-z0-9][A-Za-z0-9.,-]*\[[][A-Za-z0-9.,-]*")


def _write_plain(text: str) -> Meaning:
    """Return text for a line of its own: brackets after the first letter need no quotes."""
    return Raw(text) if _BRACKETS.fullmatch(text) else text


_LONGEST = 400
"""The maximum length of a key that names several nodes. YAML allows 1,024 characters."""
_FEW = 4
"""The average number of nodes per name or range from which on a fact is written by value."""


def fold_facts(nodes: Mapping[str, Mapping[str, Given]]) -> dict[str, dict[str, Meaning]]:
    """Return the facts of nodes by the nodes that have them, in node-set notation.

    A fact is written by value if ranges of nodes share its values; facts of the same ranges are together.
    All others are written node by node.
    """
    ranges: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    single: list[str] = []
    for name in dict.fromkeys(name for facts in nodes.values() for name in facts):
        same = _group_by_facts(nodes, [name])
        pieces = sum(fold(members).count(",") + 1 for members in same)
        if pieces * _FEW <= sum(map(len, same)):
            ranges.setdefault(same, []).append(name)
        else:
            single.append(name)
    found: dict[str, dict[str, Meaning]] = {}
    for same, names in (*ranges.items(), (_group_by_facts(nodes, single), single)):
        for members in same:
            facts = nodes[members[0]]
            for key in _split_key(members):
                found.setdefault(key, {}).update(
                    (name, facts[name].meaning) for name in names if name in facts
                )
    return found


def _group_by_facts(
    nodes: Mapping[str, Mapping[str, Given]], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the nodes that have any of some facts; nodes with the same values are one group."""
    found: dict[Hashable, list[str]] = {}
    for node, facts in nodes.items():
        given = tuple((name, facts[name]) for name in names if name in facts)
        if given:
            found.setdefault(given, []).append(node)
    return tuple(map(tuple, found.values()))


def _split_key(members: Sequence[str]) -> Iterator[str]:
    """Yield nodes in node-set notation, as several keys if one would be too long."""
    text = fold(members)
    if len(text) <= _LONGEST or len(members) == 1:
        yield text
        return
    middle = len(members) // 2
    yield from (key for half in (members[:middle], members[middle:]) for key in _split_key(half))
