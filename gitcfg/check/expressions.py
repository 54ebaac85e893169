"""GC307: ClassAd expressions in files for HTCondor.

A daemon that cannot read an expression logs `Invalid expression` and ignores it, and HTCondor's tools do not
report it. gitcfg always checks what it can read itself. It uses HTCondor's own parser where there is one,
after replacing the macros that a node and HTCondor define.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial

from gitcfg.check.files import selected_params
from gitcfg.check.findings import Tally, of
from gitcfg.check.structure import files
from gitcfg.check.target_parsers import Judge, Question, Verdicts
from gitcfg.compile.classad import Expansion, Fault, find_fault
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, PENDING, Step
from gitcfg.compile.partial import Cell
from gitcfg.compile.surface import Surface, Surfaces, Suspects
from gitcfg.compile.values import join_list
from gitcfg.model import FileEntry, Finding, Op, Severity
from gitcfg.model.names import shown
from gitcfg.model.secrets import is_secret

_FORMAT = "condor"
_UNKNOWN = "$ENV(UNKNOWN)"
"""A macro whose value is not known here."""

_WRITTEN = frozenset({Op.SET, Op.DEFAULT, Op.NULL, Op.AND, Op.OR})

_Refused = Mapping[str, Verdicts]


class Expressions:
    """The values of type `expression` that nodes get in files of the format condor."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, judge: Judge | None) -> None:
        self._fleet = fleet
        self._surfaces = surfaces
        self._params = surfaces.params
        kind = fleet.declarations.kind
        here = any(entry.format == _FORMAT for entry in files(fleet.model))
        self._names = frozenset(name for name in self._params.names if here and kind(name) == "expression")
        self._typed = self._params.among(self._names)
        asks = judge is not None and self._names and "classad" in judge.formats and not judge.lacks("classad")
        self._judge = judge if asks else None
        self._fault = cache(find_fault)
        self._taken: dict[int, tuple[FileEntry, int]] = {}
        self._tally = Tally()
        self._noted: dict[int, int] = {}  # by layer, the parameters noted for the parser
        self._last: tuple[NodeClass, Expansion] | None = None
        self._joined: dict[int, Cell] = {}  # composed of several layers: kept, so that the id is not reused
        self._asked: dict[str, None] = {}
        suspected = partial(_is_suspect, self._fault, self._judge is not None)
        self._suspects = Suspects(surfaces, suspected, self._names) if self._names else None

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        suspects = self._suspects.of(node_class, surface) if self._suspects is not None else []
        if not (suspects or self._judge or self._typed & surface.pending):
            return
        mask = self._mask(node_class, surface)
        cells = {
            name: self._surfaces.cell(node_class, name) for name in suspects if self._params.bit(name) & mask
        }
        for name, cell in cells.items():
            self._tally.add(name, cell, node_class.names, partial(self._wrong, name, cell))
        for name in self._params.of(surface.pending & mask):
            yield from self._of_facts(node_class, name)
        if self._judge is not None and mask:
            self._collect(node_class, surface, mask)
            for name, cell in cells.items():
                self._note(name, cell, node_class, macros=True)
            for name in self._params.of(surface.pending & mask):  # facts differ by node
                texts = self._texts(node_class, name, self._surfaces.cell(node_class, name))
                self._asked.update((_form(text), None) for text in texts)

    def end(self) -> Iterable[Finding]:
        return self._tally.findings()

    def refused(self) -> Iterator[Finding]:
        """Yield what HTCondor's parser rejects of all that was seen, asking about each distinct text once."""
        refused = self._ask(self._asked)
        if not refused:
            return
        kinds = self._fleet.judged
        found = [
            (node_class, name, cell)
            for node_class in kinds
            for name, cell in self._refused_in(node_class, refused)
        ]
        operands = (
            text for node_class, name, cell in found for text in self._operands(node_class, name, cell)
        )
        refused = {**refused, **self._ask(operands)}
        for node_class, name, cell in found:
            yield from self._blamed(node_class, name, cell, refused)

    # Checks that gitcfg makes itself.

    def _wrong(self, name: str, cell: Cell) -> Iterator[Finding]:
        steps = list(cell.counting())
        faults = [(step, self._fault(text)) for step in steps for text in _text_of(step)]
        found = [(step, fault) for step, fault in faults if fault is not None]
        for step, fault in found:
            yield _finding(name, fault, [step])
        whole = self._fault(cell.value) if isinstance(cell.value, str) else None
        if not found and whole is not None:
            yield _finding(name, whole, _blank(steps) or steps[::-1])

    def _of_facts(self, node_class: NodeClass, name: str) -> Iterator[Finding]:
        cell = self._surfaces.cell(node_class, name)
        value = node_class.value(name, cell)
        fault = self._fault(value) if isinstance(value, str) else None
        if cell.value is PENDING and fault is not None:
            yield _finding(name, fault, cell.steps[::-1], node_class.names)

    # Checks by HTCondor's parser.

    def _collect(self, node_class: NodeClass, surface: Surface, mask: int) -> None:
        """Note what the parser must check.

        Cells without macros are noted once for all classes with the layer.
        """
        for part, top in zip(node_class.parts, surface.tops, strict=True):
            cells, shown_here = part.cells, top & mask
            if shown_here:
                noted = self._noted.get(id(cells), 0)
                if shown_here & ~noted:
                    self._noted[id(cells)] = noted | shown_here
                    for name in self._params.of(shown_here & ~noted):
                        self._note(name, cells[name], node_class)
        for name, cell in surface.joins.items():
            if id(cell) not in self._joined and name in self._names and self._params.bit(name) & mask:
                self._joined[id(cell)] = cell
                self._note(name, cell, node_class)

    def _note(self, name: str, cell: Cell, node_class: NodeClass, macros: bool = False) -> None:
        texts = list(_texts(cell))
        if any("$" in text for text in texts) != macros or any(map(self._surely_wrong, texts)):
            return
        self._asked.update((_form(text), None) for text in self._texts(node_class, name, cell))

    def _surely_wrong(self, text: str) -> bool:
        fault = self._fault(text)
        return fault is not None and fault.sure

    def _texts(self, node_class: NodeClass, name: str, cell: Cell) -> Iterator[str]:
        """Yield the whole value with its macros replaced; if some are not known, also its operands."""
        value = node_class.value(name, cell)
        if not isinstance(value, str):
            return
        whole = self._expansion(node_class).of(value, name.lower()) if "$" in value else value
        if whole.strip():
            yield whole
        if "$" in whole and len(cell.steps) > 1:
            yield from self._operands(node_class, name, cell)

    def _operands(self, node_class: NodeClass, name: str, cell: Cell) -> Iterator[str]:
        expansion = self._expansion(node_class)
        for step in cell.counting(node_class.facts(name, cell.steps)):
            yield from (expansion.of(text, name.lower()) for text in _text_of(step) if text.strip())

    def _ask(self, texts: Iterable[str]) -> _Refused:
        """Return the parser's verdicts on texts, by their forms."""
        if self._judge is None:
            return {}
        asked = list(dict.fromkeys(map(_form, texts)))
        found = self._judge.judge(Question("classad", text) for text in asked)
        return {text: verdicts for text, verdicts in zip(asked, found, strict=True) if verdicts}

    def _refused_in(self, node_class: NodeClass, refused: _Refused) -> Iterator[tuple[str, Cell]]:
        mask = self._mask(node_class, self._surfaces.of(node_class))
        for name in self._params.of(mask):
            cell = self._surfaces.cell(node_class, name)
            sound = not any(map(self._surely_wrong, _texts(cell)))
            if sound and any(_form(text) in refused for text in self._texts(node_class, name, cell)):
                yield name, cell

    def _blamed(self, node_class: NodeClass, name: str, cell: Cell, refused: _Refused) -> Iterator[Finding]:
        """Yield findings for the operands that are rejected alone; if none are, for the empty ones or all."""
        expansion = self._expansion(node_class)
        steps = list(cell.counting(node_class.facts(name, cell.steps)))
        alone = [(step, text, expansion.of(text, name.lower())) for step in steps for text in _text_of(step)]
        guilty = [(step, text, whole) for step, text, whole in alone if _form(whole) in refused]
        if not guilty:
            value = str(node_class.value(name, cell))
            whole = expansion.of(value, name.lower())
            blamed = _blank(steps) or steps[::-1]
            yield _verdict(name, value, whole, blamed, refused[_form(whole)], node_class.names)
        for step, text, whole in guilty:
            if not self._follows(node_class, expansion.used(text, name.lower()), refused):
                yield _verdict(name, text, whole, [step], refused[_form(whole)], node_class.names)

    def _follows(self, node_class: NodeClass, used: Iterable[str], refused: _Refused) -> bool:
        """Return whether a macro in it is wrong itself: then that is reported where the macro is set."""
        for name in self._names.intersection(map(self._by_lower.get, used)):
            cell = node_class.cell(name)
            if cell is not None and any(map(self._surely_wrong, _texts(cell))):
                return True
            if cell is not None and any(
                _form(text) in refused for text in self._texts(node_class, name, cell)
            ):
                return True
        return False

    # What nodes get.

    def _mask(self, node_class: NodeClass, surface: Surface) -> int:
        """Return the expressions that a class gets in files for HTCondor, as bits."""
        bound = self._typed & surface.bound
        return bound & self._takes(node_class) if bound else 0

    def _takes(self, node_class: NodeClass) -> int:
        taken = 0
        for entry in node_class.files.values():
            if entry.format == _FORMAT:
                known = self._taken.get(id(entry))
                if known is None:
                    known = self._taken[id(entry)] = (
                        entry,
                        selected_params(self._fleet, self._params, entry),
                    )
                taken |= known[1]
        return taken

    @cached_property
    def _by_lower(self) -> Mapping[str, str]:
        return {name.lower(): name for name in self._params.names}

    def _expansion(self, node_class: NodeClass) -> Expansion:
        """Return the expansion of macros with the values that a class gets in these files.

        The last is cached.
        """
        if self._last is None or self._last[0] is not node_class:
            self._last = (node_class, Expansion(self._finder(node_class)))
        return self._last[1]

    def _finder(self, node_class: NodeClass) -> Callable[[str], str | None]:
        taken = self._takes(node_class)

        def find(lower: str) -> str | None:
            name = self._by_lower.get(lower)
            if name is None or not self._params.bit(name) & taken:
                return None
            if not any(name in part.cells for part in node_class.parts):
                return None
            value = node_class.value(name, self._surfaces.cell(node_class, name))
            if value is NOTHING or value is None:
                return None
            if is_secret(value):
                return _UNKNOWN
            parameter = self._fleet.declarations.find(name)
            separator = parameter.separator if parameter else None
            return join_list(value, separator) if isinstance(value, list) else str(value)

        return find


def _is_suspect(fault: Callable[[str], Fault | None], asking: bool, name: str, cell: Cell) -> bool:
    """Return whether a cell has a fault, or macros, whose values differ between classes."""
    return any(fault(text) or (asking and "$" in text) for text in _texts(cell))


def _form(text: str) -> str:
    """Return a text with its numbers replaced by 1: it is an expression exactly if the text is one.

    Texts with macros, whose names have digits, and with backslashes, after which digits are a character, are
    unchanged. So are digits after a zero, since a leading zero gives a number another meaning.
    """
    return text if "$" in text or "\\" in text else _NUMBER.sub("1", text)


_NUMBER = re.compile(r"(?<![0-9])[1-9][0-9]*")


def _text_of(step: Step) -> tuple[str, ...]:
    """Return the operand if it is text of the expression, not the name of a fact or a secret."""
    return (step.given,) if step.op in _WRITTEN and isinstance(step.given, str) else ()


def _texts(cell: Cell) -> Iterator[str]:
    """Yield the operands of a cell, and its value if that is another text."""
    for step in cell.steps:
        yield from _text_of(step)
    if len(cell.steps) > 1 and isinstance(cell.value, str):
        yield cell.value


def _blank(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if any(not text.strip() for text in _text_of(step))]


def _finding(name: str, fault: Fault, steps: Iterable[Step], nodes: Iterable[str] = ()) -> Finding:
    grave = None if fault.sure else Severity.WARNING
    message = f"{name} is not a ClassAd expression: {fault.reason}."
    return of("GC307", name, message, [step.origin for step in steps], nodes, fault.hint, grave)


def _verdict(
    name: str, text: str, whole: str, steps: Iterable[Step], verdicts: Verdicts, nodes: Iterable[str]
) -> Finding:
    """Return the finding for a rejected text, in gitcfg's own words if it knows the fault."""
    fault = find_fault(text) or find_fault(whole)
    reason = f"is not a ClassAd expression: {fault.reason}" if fault else verdicts[0].reason
    hint = f"With its macros put in it reads: {shown(whole, 200)}" if "$" in text else ""
    grave = None if verdicts[0].grave else Severity.WARNING
    return of("GC307", name, f"{name} {reason}.", [step.origin for step in steps], nodes, hint, grave)
