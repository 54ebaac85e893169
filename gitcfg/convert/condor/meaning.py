"""From a host's statements to what they say, as far as that is certain."""

from collections.abc import Iterable

from gitcfg.convert.condor.annotations import Annotations
from gitcfg.convert.condor.branches import branches, end
from gitcfg.convert.condor.conditions import certain
from gitcfg.convert.condor.gathered import Gathered
from gitcfg.convert.condor.host import Host, untangled
from gitcfg.convert.condor.knobs import Words, knobs
from gitcfg.convert.condor.mentions import MAX_LEVELS, names, within
from gitcfg.convert.condor.sources import Source, bad
from gitcfg.convert.condor.statements import Kind, Statement, statements
from gitcfg.convert.notes import Note, Place
from gitcfg.model.names import shown

MAX_ITEMS = 200_000
MAX_USES = 1_000
_NOT_FOLLOWED = "`include` is not followed: name the file that it reads, if it is one."


def host(sources: Iterable[Source], words: Words, notes: list[Note]) -> Host:
    """What a host's files say. GitcfgError: HTCondor would not take them, or they are beyond all measure."""
    reader = Reader(words, notes, Gathered(), Annotations())
    for source in sources:
        reader.said.feature = ""
        reader.walk(list(statements(source)), 0)
    return untangled(reader.gathered.items, reader.gathered.tangled, reader.said.features)


class Reader:
    """Walks statements, and gathers what they say."""

    def __init__(self, words: Words, notes: list[Note], gathered: Gathered, said: Annotations) -> None:
        self.words, self.notes, self.gathered, self.said = words, notes, gathered, said
        self.uses = 0

    def walk(self, found: list[Statement], level: int) -> None:
        """Take statements in order; `level` is how deep in conditions and knobs they stand."""
        at = 0
        while at < len(found):
            statement = found[at]
            if level > MAX_LEVELS or len(self.gathered.items) > MAX_ITEMS:
                raise _bad(statement, "This goes deeper, or makes more settings, than an import follows.")
            if statement.kind is Kind.IF:
                last = end(found, at)
                self.condition(found[at : last + 1], level)
                at = last
            else:
                self.take(statement, level)
            at += 1

    def take(self, statement: Statement, level: int) -> None:
        """One statement that is no condition."""
        place = self.place(statement)
        match statement.kind:
            case Kind.SETTING:
                self.gathered.set(statement, self.said)
            case Kind.NOTE:
                if not self.said.take(statement.rest):
                    place.dropped("", f"This says nothing to gitcfg: {shown(statement.rest)}")
            case Kind.USE:
                self.use(statement, level, place)
            case Kind.LONG | Kind.COMPUTED:
                self.keep([statement], place, "It is kept as text: no line of NAME = VALUE can carry it.")
            case Kind.INCLUDE:
                place.dropped("", _NOT_FOLLOWED)
            case Kind.ERROR | Kind.WARNING:
                place.dropped("", f"`{statement.kind}` only says something while HTCondor reads it.")
            case _:
                raise _bad(statement, f"`{statement.kind}` stands here without an `if`.")

    def keep(self, found: list[Statement], place: Place, reason: str) -> None:
        """Keep lines as they are."""
        place.changed("", reason)
        for statement in found:
            if statement.kind is Kind.INCLUDE:
                self.place(statement).dropped("", _NOT_FOLLOWED)
        self.gathered.keep(found, names(found, self.words.lookup))

    def use(self, statement: Statement, level: int, place: Place) -> None:
        """A knob is written out if all of it is certain, else its line stays."""
        self.uses += 1
        if self.uses > MAX_USES:
            raise _bad(statement, f"There are more than {MAX_USES} uses of knobs here.")
        found = list(knobs(statement.rest, self.words.lookup))
        trial, sure = self.trial(), True
        for _, body in found:
            inner = within(body, statement.line)
            sure = sure and inner is not None
            trial.walk(inner or [], level + 1)
        if not sure or trial.notes or trial.gathered.tangled != self.gathered.tangled:
            self.keep([statement], place, "`use` is kept as text: what it stands for is not certain here.")
            return
        self.gathered.accept(trial.gathered)
        self.uses = trial.uses
        if level == 0:
            called = ", ".join(name for name, _ in found)
            place.changed("", f"`use {shown(called)}` is written out, as the installed HTCondor has it.")

    def trial(self) -> "Reader":
        """A reader that goes on from here, apart from this one."""
        result = Reader(self.words, [], self.gathered.trial(), self.said.within())
        result.uses = self.uses
        return result

    def condition(self, found: list[Statement], level: int) -> None:
        """A whole `if`: the branch that certainly counts is taken, else all of it stays."""
        for test, branch in branches(found):
            holds = True if test.kind is Kind.ELSE else self.holds(test.rest)
            if holds is None:
                reason = "`if` is kept as text: whether it holds depends on the machine."
                self.keep(found, self.place(found[0]), reason)
                return
            if holds:
                self.walk(branch, level + 1)
                return

    def holds(self, text: str) -> bool | None:
        """Does a condition hold here?"""
        now = self.gathered
        return None if now.blind else certain(text, now.values, now.unsure, self.words.known)

    def place(self, statement: Statement) -> Place:
        """Where notes say that it stands."""
        return Place(self.notes, "line", statement.line.place)


def _bad(statement: Statement, reason: str) -> Exception:
    return bad(statement.line.file, statement.line.number, reason)
