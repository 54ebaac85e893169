"""From a host's statements to what they say, as far as that is certain."""

from collections.abc import Container, Iterable, Iterator

from gitcfg.convert.condor.conditions import certain, mentioned
from gitcfg.convert.condor.host import Declared, Host, Kept, Setting, untangled
from gitcfg.convert.condor.knobs import Lookup, knobs
from gitcfg.convert.condor.lines import Line
from gitcfg.convert.condor.selves import after
from gitcfg.convert.condor.sources import Source, bad
from gitcfg.convert.condor.statements import Kind, Statement, statements
from gitcfg.convert.wallaby.notes import Note, Place
from gitcfg.model import GitcfgError
from gitcfg.model.names import NAME, shown
from gitcfg.parsers.child.macros import macros

MAX_ITEMS = 200_000
MAX_USES = 1_000
MAX_LEVELS = 16
_WORDS = frozenset(Kind) - {Kind.SETTING, Kind.LONG, Kind.COMPUTED, Kind.NOTE}
"""Names that gitcfg would not write, since HTCondor has them for words of its language."""
_NOTHING: frozenset[str] = frozenset()


class Words:
    """What HTCondor itself knows: its knobs, and its names in lower case (None: not asked)."""

    def __init__(self, lookup: Lookup, known: Container[str] | None) -> None:
        self.lookup = lookup
        self.known = known


def host(sources: Iterable[Source], words: Words, notes: list[Note]) -> Host:
    """What a host's files say. GitcfgError: HTCondor would not take them, or they are beyond all measure."""
    reader = Reader(words, notes)
    for source in sources:
        reader.feature = ""
        reader.walk(list(statements(source)), 0)
    return untangled(reader.items, reader.tangled, reader.features)


class Reader:
    """Walks statements; `values` are the settings so far as HTCondor would have them."""

    def __init__(self, words: Words, notes: list[Note]) -> None:
        self.words, self.notes = words, notes
        self.items: list[Setting | Kept] = []
        self.values: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.blind = False
        self.tangled: set[str] = set()
        self.features: dict[str, Declared] = {}
        self.feature = ""
        self.default = False
        self.uses = 0

    def walk(self, found: list[Statement], level: int) -> None:
        """Take statements in order; `level` is how deep in conditions and knobs they stand."""
        at = 0
        while at < len(found):
            statement = found[at]
            if level > MAX_LEVELS or len(self.items) > MAX_ITEMS:
                raise _bad(statement, "This goes deeper, or makes more settings, than an import follows.")
            if statement.kind is Kind.IF:
                end = _end(found, at)
                self.condition(found[at : end + 1], level)
                at = end
            else:
                self.take(statement, level)
            at += 1

    def take(self, statement: Statement, level: int) -> None:
        """One statement that is no condition."""
        place = Place(self.notes, "line", statement.line.place)
        match statement.kind:
            case Kind.SETTING:
                self.setting(statement)
            case Kind.NOTE:
                self.note(statement, place)
            case Kind.USE:
                self.use(statement, level, place)
            case Kind.LONG | Kind.COMPUTED:
                self.keep([statement], place, "It is kept as text: no line of NAME = VALUE can carry it.")
            case Kind.INCLUDE:
                place.dropped("", "`include` is not followed: name the file that it reads, if it is one.")
            case Kind.ERROR | Kind.WARNING:
                place.dropped("", f"`{statement.kind}` only says something while HTCondor reads it.")
            case _:
                raise _bad(statement, f"`{statement.kind}` stands here without an `if`.")

    def setting(self, statement: Statement) -> None:
        name, value, line = statement.name, statement.rest, statement.line
        key = name.lower()
        self.items.append(Setting(name, value, self.feature, self.default, line))
        self.default = False
        own = (macro for macro in macros(value) if macro.at_once and macro.body.lower() == key)
        if key in _WORDS or "\r" in value or any(macro.function != "$" for macro in own):
            self.tangled.add(key)
        self.values[key] = after(name, value, self.values.get(key), line)

    def note(self, statement: Statement, place: Place) -> None:
        """An annotation."""
        word, _, rest = statement.rest.partition(" ")
        names = tuple(name for name in (part.strip() for part in rest.split(",")) if name)
        if word == "default" and not names:
            self.default = True
        elif word == "feature" and len(names) <= 1 and all(map(NAME.fullmatch, names)):
            self.feature = "".join(names)
            if self.feature:
                self.features.setdefault(self.feature, Declared())
        elif word in ("includes", "depends") and self.feature and names and all(map(NAME.fullmatch, names)):
            known = self.features[self.feature]
            said = Declared((*known.includes, *names), known.depends)
            if word == "depends":
                said = Declared(known.includes, (*known.depends, *names))
            self.features[self.feature] = said
        else:
            place.dropped("", f"This says nothing to gitcfg: {shown(statement.rest)}")

    def keep(self, found: list[Statement], place: Place, reason: str) -> None:
        """Keep lines as they are."""
        place.changed("", reason)
        for statement in found:
            if statement.kind is Kind.INCLUDE:
                inner = Place(self.notes, "line", statement.line.place)
                inner.dropped("", "`include` is not followed: name the file that it reads, if it is one.")
        raw = "".join(statement.line.raw for statement in found if statement.kind is not Kind.INCLUDE)
        names = self.names(found, 0)
        self.items.append(Kept(raw, names, found[0].line))
        self.unsure |= names or _NOTHING
        self.blind = self.blind or names is None

    def names(self, found: list[Statement], level: int) -> frozenset[str] | None:
        """The names that statements read or set at once, whichever of them count; None: it may be any."""
        result: set[str] = set()
        for statement in found:
            if statement.kind is Kind.COMPUTED or "$" in statement.name or level > MAX_LEVELS:
                return None
            if statement.name:
                result.add(statement.name.lower())
            elif statement.kind in (Kind.IF, Kind.ELIF):
                result.update(mentioned(statement.rest))
            elif statement.kind is Kind.USE:
                for _, body in knobs(statement.rest, self.words.lookup):
                    within = _within(body, statement.line)
                    inner = None if within is None else self.names(within, level + 1)
                    if inner is None:
                        return None
                    result |= inner
        return frozenset(result)

    def use(self, statement: Statement, level: int, place: Place) -> None:
        """A knob is written out if all of it is certain, else its line stays."""
        self.uses += 1
        if self.uses > MAX_USES:
            raise _bad(statement, f"There are more than {MAX_USES} uses of knobs here.")
        found = list(knobs(statement.rest, self.words.lookup))
        trial, sure = self.copy(), True
        for _, body in found:
            inner = _within(body, statement.line)
            sure = sure and inner is not None
            trial.walk(inner or [], level + 1)
        if not sure or trial.notes or trial.tangled != self.tangled:
            self.keep([statement], place, "`use` is kept as text: what it stands for is not certain here.")
            return
        self.items += trial.items
        self.values, self.uses = trial.values, trial.uses
        if level == 0:
            called = ", ".join(name for name, _ in found)
            place.changed("", f"`use {shown(called)}` is written out, as the installed HTCondor has it.")

    def copy(self) -> "Reader":
        """A reader that goes on from here, apart from this one."""
        result = Reader(self.words, [])
        result.values, result.unsure, result.blind = dict(self.values), set(self.unsure), self.blind
        result.tangled, result.feature, result.uses = set(self.tangled), self.feature, self.uses
        return result

    def condition(self, found: list[Statement], level: int) -> None:
        """A whole `if`: the branch that certainly counts is taken, else all of it stays."""
        for test, branch in _branches(found):
            holds = True if test.kind is Kind.ELSE else self.holds(test.rest)
            if holds is None:
                place = Place(self.notes, "line", found[0].line.place)
                self.keep(found, place, "`if` is kept as text: whether it holds depends on the machine.")
                return
            if holds:
                self.walk(branch, level + 1)
                return

    def holds(self, text: str) -> bool | None:
        """Does a condition hold here?"""
        return None if self.blind else certain(text, self.values, self.unsure, self.words.known)


def _within(body: str | None, line: Line) -> list[Statement] | None:
    """A knob's statements, as if they stood where it is used; None: they are not certain."""
    if body is None:
        return None
    try:
        found = list(statements(Source(line.file, body)))
    except GitcfgError:
        return None
    lines = (Line(line.file, line.number, inner.line.text, inner.line.raw) for inner in found)
    return [Statement(one.kind, one.name, one.rest, at) for one, at in zip(found, lines, strict=True)]


def _end(found: list[Statement], start: int) -> int:
    depth = 0
    for at in range(start, len(found)):
        depth += {Kind.IF: 1, Kind.ENDIF: -1}.get(found[at].kind, 0)
        if depth == 0:
            return at
    raise _bad(found[start], "This `if` has no `endif`.")


def _branches(found: list[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Tests with what they guard, of a whole `if` from its first statement to its `endif`."""
    test, branch, depth = found[0], list[Statement](), 0
    for statement in found[1:]:
        if depth == 0 and statement.kind in (Kind.ELIF, Kind.ELSE, Kind.ENDIF):
            yield test, branch
            test, branch = statement, []
            continue
        depth += {Kind.IF: 1, Kind.ENDIF: -1}.get(statement.kind, 0)
        branch.append(statement)


def _bad(statement: Statement, reason: str) -> Exception:
    return bad(statement.line.file, statement.line.number, reason)
