"""One YAML document as plain values beside the places they were written at."""

from typing import Any

import msgspec

from gitcfg.git.tree import Tree
from gitcfg.load import marks
from gitcfg.load.builder import Reader, Refused
from gitcfg.load.conflicts import conflicts, left_over, unresolved
from gitcfg.load.marks import Mark, Pair
from gitcfg.load.quick import quick
from gitcfg.model import Finding, Origin

MAX_BYTES = 1 << 20


class Document(msgspec.Struct):
    """A parsed file: its value, the node it was read from, and what was wrong with it.

    Nodes are libyaml's: they know their places, so that nothing is built for places nobody asks for.
    `top` holds those of the values of the outermost mapping, by key.
    """

    file: str
    value: Any
    node: Any
    findings: list[Finding]
    top: dict[str, Any] = {}
    _keys: dict[int, dict[str, Pair]] = {}

    @property
    def mark(self) -> Mark:
        """The places of all values."""
        return Mark(1, 1) if self.node is None else marks.marked(self.node, self.value)

    def get(self, *path: str) -> Any:
        """The value that the path leads to through mappings, an empty mapping where there is none."""
        value = self.value
        for step in path:
            value = value.get(step, {})
        return value

    def at(self, *path: str | int) -> Origin:
        """Where the value is that the path leads to, or the nearest to it that is there."""
        _, node = self._nearest(path)
        return Origin(self.file) if node is None else marks.place(self.file, node)

    def key(self, *path: str | int) -> Origin:
        """Where the key at the end of the path is written; an item of a list is its own key."""
        _, node = self._nearest(path[:-1])
        key, _ = self._pair(node, path[-1])
        return marks.place(self.file, key) if key is not None else self.at(*path)

    def missing(self, *path: str | int) -> bool:
        """Is the value a plain nothing, which GC106 has told already?"""
        value, node = self._nearest(path)
        return value is None and node is not None and node.value == ""

    def _nearest(self, path: tuple[str | int, ...]) -> tuple[Any, Any]:
        value, node = self.value, self.node
        for step in path:
            _, below = self._pair(node, step)
            if below is None:
                break
            value, node = value[step], below
        return value, node

    def _pair(self, node: Any, step: str | int) -> Pair:
        """The nodes of a key and its value; of an item, the value's alone."""
        kind = getattr(node, "id", "")
        if kind == "mapping" and isinstance(step, str):
            if id(node) not in self._keys:
                self._keys[id(node)] = marks.pairs(node)
            return self._keys[id(node)].get(step, (None, None))
        if kind == "sequence" and isinstance(step, int) and step < len(node.value):
            return None, node.value[step]
        return None, None


def read_again(tree: Tree, file: str) -> Document:
    """The document of a file, for places in it that no definition keeps: where something is wrong."""
    entry = tree.entry(file)
    return Document(file, None, None, []) if entry is None else parse(file, tree.read(entry))


def parse(file: str, data: bytes) -> Document:
    """Read one document; whatever is wrong with it is in its `findings`, never thrown."""
    if len(data) > MAX_BYTES:
        return too_large(file, len(data))
    document = Document(file, None, None, [])
    try:
        text = _decode(data)
        blocks = conflicts(text)
        if blocks:
            document.findings.append(unresolved(file, blocks))
            return document
        read = quick(text) or _read_carefully(file, text, document.findings)
        document.value, document.node = read
        if isinstance(document.value, dict):
            document.top = {key.value: node for key, node in document.node.value}
    except Refused as refused:
        message, line, column, hint = refused.finding
        document.findings.append(_finding(file, message, line, column, hint))
    return document


def _read_carefully(file: str, text: str, findings: list[Finding]) -> tuple[Any, Any]:
    """The value and its node. Refused: there is none, be it for what a merge has left."""
    try:
        return Reader(file, text, findings).read()
    except Refused:
        blocks = left_over(text)
        if not blocks:
            raise
        findings[:] = [unresolved(file, blocks)]
        return None, None


def too_large(file: str, size: int) -> Document:
    """The document of a file that is not even read."""
    hint = "Split it: at most 1 MiB a file."
    return Document(file, None, None, [_finding(file, f"The file has {size} bytes.", 1, 1, hint)])


def _finding(file: str, message: str, line: int, column: int, hint: str) -> Finding:
    return Finding("GC101", (file,), message, (Origin(file, line, column),), hint=hint)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise Refused("The file is not UTF-8 text.", line, column) from None
    if "\0" in text:
        place = text.index("\0")
        line = text.count("\n", 0, place) + 1
        raise Refused("The file holds a NUL character.", line, place - text.rfind("\n", 0, place))
    return text.removeprefix("\ufeff")
