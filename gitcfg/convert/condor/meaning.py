"""From a host's statements to what they say, as far as that is certain."""

import re
from collections.abc import Iterator

from gitcfg.compile.classad import macros
from gitcfg.convert.condor.annotations import Annotations
from gitcfg.convert.condor.branches import find_endif, split_branches
from gitcfg.convert.condor.conditions import evaluate_condition
from gitcfg.convert.condor.gathered import ReadState
from gitcfg.convert.condor.host import ReadFile
from gitcfg.convert.condor.knobs import Builtins, expand_knobs
from gitcfg.convert.condor.mentions import MAX_LEVELS, find_names, parse_knob
from gitcfg.convert.condor.sources import Folder, Source, import_error
from gitcfg.convert.condor.statements import Statement, StatementKind, parse_statements
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

    def __init__(self, host: str, words: Builtins, notes: list[Note]) -> None:
        self.words, self.notes = words, notes
        self.state, self.annotations = ReadState(), Annotations()
        self.folder: Folder | None = None
        self.read: list[ReadFile] = []
        self._open: list[ReadFile] = []
        self._files = self._uses = 0
        self._trying = False
        self._host = host

    def read_file(self, source: Source) -> None:
        """Take a whole file."""
        self.annotations.feature = ""
        self.read.append(self._count_file(source))
        self._open = [self.read[-1]]
        self.read_statements(list(parse_statements(source)), 0)

    def _count_file(self, source: Source) -> ReadFile:
        self._files += 1
        if self._files > MAX_FILES:
            raise import_error(
                source.name, 0, f"This would be read after {MAX_FILES} other files of this host."
            )
        return ReadFile(source, {})

    def read_statements(self, found: list[Statement], level: int) -> None:
        """Take statements in order; `level` is how deep in conditions and included files they stand."""
        at = 0
        while at < len(found):
            statement = found[at]
            if level > MAX_LEVELS or len(self.state.items) > MAX_ITEMS:
                raise _depth_error(statement)
            if statement.kind is StatementKind.IF:
                last = find_endif(found, at)
                self.read_condition(found[at : last + 1], level)
                at = last
            else:
                self.read_statement(statement, level)
            at += 1

    def read_statement(self, statement: Statement, level: int) -> None:
        """One statement that is no condition."""
        place = self.place(statement)
        match statement.kind:
            case StatementKind.SETTING:
                self.state.set(statement, self.annotations)
            case StatementKind.NOTE:
                if not self.annotations.apply(statement.rest):
                    place.dropped("", f"This says nothing to gitcfg: {shown(statement.rest)}")
            case StatementKind.USE:
                self.read_use(statement, level, place)
            case StatementKind.LONG | StatementKind.COMPUTED:
                self.keep([statement], "This setting", "no line of NAME = VALUE can carry it.")
            case StatementKind.INCLUDE:
                self.read_include(statement, level)
            case StatementKind.ERROR | StatementKind.WARNING:
                place.dropped("", f"`{statement.kind}` only says something while HTCondor reads it.")
            case _:
                raise _statement_error(statement, f"`{statement.kind}` stands here without an `if`.")

    def keep(self, found: list[Statement], what: str, why: str) -> None:
        """Keep lines as they are, with those of files that they include."""
        place, lines = self.place(found[0]), list(self._with_included(found, 0))
        touched = find_names(lines, self.words.lookup)
        if touched is None and not self.state.may_stand_first(None):
            place.changed("", f"{what} may set any name: it is kept as text, and so is all that follows it.")
        else:
            place.changed("", f"{what} is kept as text: {why}")
        self.state.keep(lines, touched)

    def read_use(self, statement: Statement, level: int, place: Place) -> None:
        """A knob's line stays where nothing that it touches is set before it; else it is written out.

        What a knob does to a setting is a setting of its own then, and no text.
        """
        self._uses += 1
        if self._uses > MAX_USES:
            raise _statement_error(statement, f"There are more than {MAX_USES} uses of knobs here.")
        called = f"`use {shown(statement.rest)}`"
        touched = find_names([statement], self.words.lookup)
        stays = self.state.blind or self.state.may_stand_first(touched)
        if (stays and not self._trying) or not self._expand_use(statement, level):
            self.keep([statement], called, "HTCondor knows what it stands for.")
        elif not self._trying:
            why = "it changes what is set before it"
            place.changed("", f"{called} is written out, as the installed HTCondor has it: {why}.")

    def _expand_use(self, statement: Statement, level: int) -> bool:
        """Take the lines that a knob stands for, if all of them are certain."""
        trial, sure = self.fork(), True
        for _, body in expand_knobs(statement.rest, self.words.lookup):
            inner = parse_knob(body, statement.line)
            sure = sure and inner is not None
            trial.read_statements(inner or [], level + 1)
        self._uses = trial._uses
        if not sure or trial.notes or trial.state.tangled != self.state.tangled:
            return False
        self.state.accept(trial.state)
        return True

    def fork(self) -> "Reader":
        """A reader that goes on from here, apart from this one, within a knob."""
        result = Reader(self._host, self.words, [])
        result.state, result.annotations = self.state.fork(), self.annotations.for_knob()
        result._uses, result._trying = self._uses, True
        return result

    def read_condition(self, found: list[Statement], level: int) -> None:
        """A whole `if`: the branch that certainly counts is taken, else all of it stays."""
        for test, branch in split_branches(found):
            holds = True if test.kind is StatementKind.ELSE else self._evaluate(test.rest)
            if holds is None:
                self.keep(found, "`if`", "whether it holds depends on the machine.")
                return
            if holds:
                self.read_statements(branch, level + 1)
                return

    def _evaluate(self, text: str) -> bool | None:
        """Does a condition hold here?"""
        now = self.state
        return None if now.blind else evaluate_condition(text, now.values, now.unsure, self.words.known)

    def read_include(self, statement: Statement, level: int) -> None:
        """Take what a file says that `include` names."""
        inner = self._included(statement)
        if inner is not None:
            self._open.append(inner)
            self.read_statements(list(parse_statements(inner.source)), level + 1)
            self._open.pop()

    def _with_included(self, found: list[Statement], level: int) -> Iterator[Statement]:
        """Statements, with those of files in the place of each `include` of one."""
        for statement in found:
            if level > MAX_LEVELS:
                raise _depth_error(statement)
            inner = self._included(statement) if statement.kind is StatementKind.INCLUDE else None
            if inner is not None:
                self._open.append(inner)
                yield from self._with_included(list(parse_statements(inner.source)), level + 1)
                self._open.pop()
            elif statement.kind is not StatementKind.INCLUDE:
                yield statement

    def _included(self, statement: Statement) -> ReadFile | None:
        """The file that `include` names, if it was saved; else a note says that it is not read."""
        place, named = self.place(statement), _FILE.fullmatch(statement.rest)
        if named is None:
            place.dropped("", "`include` runs a program here: nothing is run.")
            return None
        path = self.expand(named[1])
        found = self.folder.find(path) if self.folder is not None else None
        if found is None and self.folder is not None:
            found = self.folder.guess(path)
            if found is not None:
                reason = f"`include` names {shown(path)}: it is taken to be what was saved by this last name."
                Place(self.notes, "file", str(self.folder.path / found)).look("", reason)
        if self.folder is None or found is None or not self.folder.is_file(found):
            place.dropped("", f"`include` is not followed: {shown(path)} is not among the files given.")
            return None
        inner = self._count_file(self.folder.source(found))
        self._open[-1].included[statement.line.number] = inner
        return inner

    def value_of(self, name: str) -> str:
        """What a setting is by now, its macros expanded as far as they are certain; empty: nothing."""
        return self.expand(self.state.values.get(name.lower(), ""))

    def expand(self, text: str, level: int = 0) -> str:
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
        return self.expand(result, level + 1)

    def _known(self, name: str) -> str | None:
        if name in self.state.unsure:
            return None
        own = {
            "config_root": self.folder.config_root if self.folder is not None else None,
            "full_hostname": self._host,
            "hostname": self._host.partition(".")[0],
        }
        default = (self.words.known or {}).get(name)
        return self.state.values.get(name) or own.get(name) or (default.value if default else None)

    def place(self, statement: Statement) -> Place:
        """Where notes say that it stands."""
        return Place(self.notes, "line", statement.line.place)


def _depth_error(statement: Statement) -> Exception:
    return _statement_error(statement, "This goes deeper, or makes more settings, than an import follows.")


def _statement_error(statement: Statement, reason: str) -> Exception:
    return import_error(statement.line.file, statement.line.number, reason)
