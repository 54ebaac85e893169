"""From a host's statements to what they say, as far as that is certain."""

import re
from collections.abc import Iterator

from gitcfg.compile.classad import macros
from gitcfg.convert.condor.annotations import Annotations
from gitcfg.convert.condor.branches import branches, end
from gitcfg.convert.condor.conditions import certain
from gitcfg.convert.condor.gathered import Gathered
from gitcfg.convert.condor.host import Read
from gitcfg.convert.condor.knobs import Words, knobs
from gitcfg.convert.condor.mentions import MAX_LEVELS, names, within
from gitcfg.convert.condor.sources import Folder, Source, bad
from gitcfg.convert.condor.statements import Kind, Statement, statements
from gitcfg.convert.notes import Note, Place
from gitcfg.model.names import shown

MAX_ITEMS = 200_000
MAX_FILES = 10_000
MAX_USES = 1_000
_LONGEST_PATH = 4096
_MOST_EXPANDED = 10  # macros in macros
_FILE = re.compile(r"(?:ifexist)?\s*:\s*(.*[^|\s])", re.IGNORECASE | re.ASCII)


class Reader:
    """Walks the statements of a host's files, and gathers what they say.

    `folder` is the one that is read now: what `include` names is looked for there.
    """

    def __init__(self, host: str, words: Words, notes: list[Note]) -> None:
        self.words, self.notes = words, notes
        self.gathered, self.said = Gathered(), Annotations()
        self.folder: Folder | None = None
        self.read: list[Read] = []
        self._open: list[Read] = []
        self._files = self._uses = 0
        self._trying = False
        self._host = host

    def file(self, source: Source) -> None:
        """Take a whole file."""
        self.said.feature = ""
        self.read.append(self._opened(source))
        self._open = [self.read[-1]]
        self.walk(list(statements(source)), 0)

    def _opened(self, source: Source) -> Read:
        self._files += 1
        if self._files > MAX_FILES:
            raise bad(source.name, 0, f"This would be read after {MAX_FILES} other files of this host.")
        return Read(source, {})

    def walk(self, found: list[Statement], level: int) -> None:
        """Take statements in order; `level` is how deep in conditions and included files they stand."""
        at = 0
        while at < len(found):
            statement = found[at]
            if level > MAX_LEVELS or len(self.gathered.items) > MAX_ITEMS:
                raise _too_deep(statement)
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
                self.keep([statement], "This setting", "no line of NAME = VALUE can carry it.")
            case Kind.INCLUDE:
                self.include(statement, level)
            case Kind.ERROR | Kind.WARNING:
                place.dropped("", f"`{statement.kind}` only says something while HTCondor reads it.")
            case _:
                raise _bad(statement, f"`{statement.kind}` stands here without an `if`.")

    def keep(self, found: list[Statement], what: str, why: str) -> None:
        """Keep lines as they are, with those of files that they include."""
        place, lines = self.place(found[0]), list(self._with_included(found, 0))
        touched = names(lines, self.words.lookup)
        if touched is None and not self.gathered.may_stand_first(None):
            place.changed("", f"{what} may set any name: it is kept as text, and so is all that follows it.")
        else:
            place.changed("", f"{what} is kept as text: {why}")
        self.gathered.keep(lines, touched)

    def use(self, statement: Statement, level: int, place: Place) -> None:
        """A knob's line stays where nothing that it touches is set before it; else it is written out.

        What a knob does to a setting is a setting of its own then, and no text.
        """
        self._uses += 1
        if self._uses > MAX_USES:
            raise _bad(statement, f"There are more than {MAX_USES} uses of knobs here.")
        called = f"`use {shown(statement.rest)}`"
        touched = names([statement], self.words.lookup)
        stays = self.gathered.blind or self.gathered.may_stand_first(touched)
        if (stays and not self._trying) or not self._written_out(statement, level):
            self.keep([statement], called, "HTCondor knows what it stands for.")
        elif not self._trying:
            why = "it changes what is set before it"
            place.changed("", f"{called} is written out, as the installed HTCondor has it: {why}.")

    def _written_out(self, statement: Statement, level: int) -> bool:
        """Take the lines that a knob stands for, if all of them are certain."""
        trial, sure = self.trial(), True
        for _, body in knobs(statement.rest, self.words.lookup):
            inner = within(body, statement.line)
            sure = sure and inner is not None
            trial.walk(inner or [], level + 1)
        self._uses = trial._uses
        if not sure or trial.notes or trial.gathered.tangled != self.gathered.tangled:
            return False
        self.gathered.accept(trial.gathered)
        return True

    def trial(self) -> "Reader":
        """A reader that goes on from here, apart from this one, within a knob."""
        result = Reader(self._host, self.words, [])
        result.gathered, result.said = self.gathered.trial(), self.said.within()
        result._uses, result._trying = self._uses, True
        return result

    def condition(self, found: list[Statement], level: int) -> None:
        """A whole `if`: the branch that certainly counts is taken, else all of it stays."""
        for test, branch in branches(found):
            holds = True if test.kind is Kind.ELSE else self.holds(test.rest)
            if holds is None:
                self.keep(found, "`if`", "whether it holds depends on the machine.")
                return
            if holds:
                self.walk(branch, level + 1)
                return

    def holds(self, text: str) -> bool | None:
        """Does a condition hold here?"""
        now = self.gathered
        return None if now.blind else certain(text, now.values, now.unsure, self.words.known)

    def include(self, statement: Statement, level: int) -> None:
        """Take what a file says that `include` names."""
        inner = self._included(statement)
        if inner is not None:
            self._open.append(inner)
            self.walk(list(statements(inner.source)), level + 1)
            self._open.pop()

    def _with_included(self, found: list[Statement], level: int) -> Iterator[Statement]:
        """Statements, with those of files in the place of each `include` of one."""
        for statement in found:
            if level > MAX_LEVELS:
                raise _too_deep(statement)
            inner = self._included(statement) if statement.kind is Kind.INCLUDE else None
            if inner is not None:
                self._open.append(inner)
                yield from self._with_included(list(statements(inner.source)), level + 1)
                self._open.pop()
            elif statement.kind is not Kind.INCLUDE:
                yield statement

    def _included(self, statement: Statement) -> Read | None:
        """The file that `include` names, if it was saved; else a note says that it is not read."""
        place, named = self.place(statement), _FILE.fullmatch(statement.rest)
        if named is None:
            place.dropped("", "`include` runs a program here: nothing is run.")
            return None
        path = self.expanded(named[1])
        found = self.folder.find(path) if self.folder is not None else None
        if found is None and self.folder is not None:
            found = self.folder.guess(path)
            if found is not None:
                reason = f"`include` names {shown(path)}: it is taken to be what was saved by this last name."
                Place(self.notes, "file", str(self.folder.path / found)).look("", reason)
        if self.folder is None or found is None or not self.folder.is_file(found):
            place.dropped("", f"`include` is not followed: {shown(path)} is not among the files given.")
            return None
        inner = self._opened(self.folder.source(found))
        self._open[-1].included[statement.line.number] = inner
        return inner

    def value(self, name: str) -> str:
        """What a setting is by now, its macros expanded as far as they are certain; empty: nothing."""
        return self.expanded(self.gathered.values.get(name.lower(), ""))

    def expanded(self, text: str, level: int = 0) -> str:
        """A text with what its macros certainly are by now; others stay as they are."""
        parts, at = [], 0
        for macro in macros(text) if level < _MOST_EXPANDED else ():
            value = self._known(macro.body.lower()) if macro.function == "$" else None
            if value is None or len(value) > _LONGEST_PATH:
                value = macro.default or None
            parts += [text[at : macro.start], text[macro.start : macro.end] if value is None else value]
            at = macro.end
        result = "".join([*parts, text[at:]])
        if result == text or len(result) > _LONGEST_PATH:
            return text
        return self.expanded(result, level + 1)

    def _known(self, name: str) -> str | None:
        if name in self.gathered.unsure:
            return None
        own = {
            "config_root": self.folder.config_root if self.folder is not None else None,
            "full_hostname": self._host,
            "hostname": self._host.partition(".")[0],
        }
        default = (self.words.known or {}).get(name)
        return self.gathered.values.get(name) or own.get(name) or (default.value if default else None)

    def place(self, statement: Statement) -> Place:
        """Where notes say that it stands."""
        return Place(self.notes, "line", statement.line.place)


def _too_deep(statement: Statement) -> Exception:
    return _bad(statement, "This goes deeper, or makes more settings, than an import follows.")


def _bad(statement: Statement, reason: str) -> Exception:
    return bad(statement.line.file, statement.line.number, reason)
