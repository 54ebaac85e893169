"""Reading of a host: its settings that are certain on every machine, and the lines that stay text."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import PurePath, PurePosixPath

from gitcfg.compile.classad import find_macros
from gitcfg.convert.base import Note, Place
from gitcfg.convert.condor.host import (
    Annotations,
    Host,
    KeptLines,
    ReadFile,
    Setting,
    apply_value,
    arrange,
    find_own_macros,
    walk_files,
)
from gitcfg.convert.condor.htcondor import Builtins, Lookup, expand_knobs
from gitcfg.convert.condor.sources import (
    EXCLUDED,
    LOCAL,
    LOCAL_FOLDER,
    MAIN,
    Exclusion,
    Folder,
    Input,
    Source,
    import_error,
)
from gitcfg.convert.condor.syntax import (
    Line,
    Statement,
    StatementKind,
    find_endif,
    parse_statements,
    split_branches,
)
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

MAX_LEVELS = 16
"""The depth to which an import follows conditions, included files and knobs."""
MAX_ITEMS = 200_000
MAX_FILES = 10_000
MAX_USES = 1_000
_LONGEST_PATH = 4096
_MOST_EXPANDED = 10  # macros in macros
_FILE = re.compile(r"(?:ifexist)?\s*:\s*(.*[^|\s])", re.IGNORECASE | re.ASCII)
_DEFINED = re.compile(r"defined\s+([A-Za-z_][A-Za-z0-9_.]*)", re.IGNORECASE | re.ASCII)
_MACRO = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.]*)\)")
_NAMED = re.compile(r"\$\w*\(([A-Za-z_][A-Za-z0-9_.]*)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_BOOLEANS = {"true": True, "false": False}
_KEYWORDS = frozenset(StatementKind) - {
    StatementKind.SETTING,
    StatementKind.LONG,
    StatementKind.COMPUTED,
    StatementKind.NOTE,
}
"""Names that gitcfg does not write, because they are keywords of HTCondor's language."""


class ReadState:
    """The settings and kept lines of a host so far.

    `values` are the settings as HTCondor would have them; kept lines may have changed those that are
    `unsure`, and all of them if `blind`. Names in `tangled` have to stay text. Names in
    `touched` were set, or may have been, by a line that does not go before all settings.
    """

    def __init__(self) -> None:
        self.items: list[Setting | KeptLines] = []
        self.touched: set[str] = set()
        self.values: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.blind = False
        self.tangled: set[str] = set()

    def set(self, statement: Statement, annotations: Annotations) -> None:
        """Add a setting with its annotations."""
        name, value, line = statement.name, statement.rest, statement.line
        key = name.lower()
        self.items.append(
            Setting(name, value, annotations.feature, annotations.default, line, statement.about)
        )
        self.touched.add(key)
        annotations.default = False
        own = (macro for macro in find_macros(value) if macro.at_once and macro.body.lower() == key)
        if key in _KEYWORDS or "\r" in value or any(macro.function != "$" for macro in own):
            self.tangled.add(key)
        if not find_own_macros(name, value):
            self.unsure.discard(key)
        self.values[key] = apply_value(name, value, self.values.get(key), line)

    def keep(self, found: list[Statement], names: Set[str] | None) -> None:
        """Add lines that stay text and touch some names (None: possibly any)."""
        raw = "".join(one.line.raw if one.kind is StatementKind.LONG else one.line.tidy for one in found)
        self.items.append(KeptLines(raw, None if names is None else frozenset(names), found[0].line))
        if not self.may_stand_first(names):
            self.touched |= names or set()
        self.unsure |= names or set()
        self.blind = self.blind or names is None

    def may_stand_first(self, names: Set[str] | None) -> bool:
        """Return whether lines that touch these names (None: any) can go before all settings."""
        return not self.touched if names is None else self.touched.isdisjoint(names)

    def fork(self) -> "ReadState":
        """Return a copy without items, for reading ahead."""
        result = ReadState()
        result.values, result.unsure, result.blind = dict(self.values), set(self.unsure), self.blind
        result.tangled, result.touched = set(self.tangled), set(self.touched)
        return result

    def accept(self, trial: "ReadState") -> None:
        """Adopt the state of a fork that kept no lines."""
        self.items += trial.items
        self.values, self.unsure, self.touched = trial.values, trial.unsure, trial.touched


class Reader:
    """Reads the statements of a host's files.

    `folder` is the one that is read now: files that `include` names are looked up there.
    """

    def __init__(self, host: str, builtins: Builtins, notes: list[Note]) -> None:
        self.builtins, self.notes = builtins, notes
        self.state, self.annotations = ReadState(), Annotations()
        self.folder: Folder | None = None
        self.read: list[ReadFile] = []
        self._open: list[ReadFile] = []
        self._files = self._uses = 0
        self._trying = False
        self._host = host

    def read_file(self, source: Source) -> None:
        """Read a whole file."""
        self.annotations.feature = ""
        self.read.append(self._count_file(source))
        self._open = [self.read[-1]]
        self.read_statements(list(parse_statements(source)), 0)

    def _count_file(self, source: Source) -> ReadFile:
        self._files += 1
        if self._files > MAX_FILES:
            raise import_error(source.name, 0, f"This host has more than {MAX_FILES} files to read.")
        return ReadFile(source, {})

    def read_statements(self, found: list[Statement], level: int) -> None:
        """Read statements in order; `level` is their depth in conditions and included files."""
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
        """Read a statement that is not part of an `if`."""
        place = self.place(statement)
        match statement.kind:
            case StatementKind.SETTING:
                self.state.set(statement, self.annotations)
            case StatementKind.NOTE:
                if not self.annotations.apply(statement.rest):
                    place.dropped("", f"gitcfg does not know this annotation: {shown(statement.rest)}")
            case StatementKind.USE:
                self.read_use(statement, level, place)
            case StatementKind.LONG | StatementKind.COMPUTED:
                self.keep([statement], "This setting", "a line NAME = VALUE cannot express it.")
            case StatementKind.INCLUDE:
                self.read_include(statement, level)
            case StatementKind.ERROR | StatementKind.WARNING:
                place.dropped("", f"`{statement.kind}` only prints a message when HTCondor reads it.")
            case _:
                raise _statement_error(statement, f"`{statement.kind}` has no `if` before it.")

    def keep(self, found: list[Statement], what: str, why: str) -> None:
        """Keep lines as text, and note what they are and why."""
        place, lines = self.place(found[0]), list(self._with_included(found, 0))
        touched = find_names(lines, self.builtins.lookup)
        if touched is None and not self.state.may_stand_first(None):
            place.changed("", f"{what} may set any name: it and all lines after it are kept as text.")
        else:
            place.changed("", f"{what} is kept as text: {why}")
        self.state.keep(lines, touched)

    def read_use(self, statement: Statement, level: int, place: Place) -> None:
        """Keep the use of a knob as text if nothing that it touches is set before it; otherwise expand it.

        After expansion, the knob's settings are settings of the host.
        """
        self._uses += 1
        if self._uses > MAX_USES:
            raise _statement_error(statement, f"This host has more than {MAX_USES} uses of knobs.")
        what = f"`use {shown(statement.rest)}`"
        touched = find_names([statement], self.builtins.lookup)
        stays = self.state.blind or self.state.may_stand_first(touched)
        if (stays and not self._trying) or not self._expand_use(statement, level):
            self.keep([statement], what, "HTCondor expands it.")
        elif not self._trying:
            why = "it changes earlier settings"
            place.changed("", f"{what} is expanded as in the installed HTCondor: {why}.")

    def _expand_use(self, statement: Statement, level: int) -> bool:
        """Read the lines of a knob, if all of them are certain. Return whether they are."""
        trial, certain = self.fork(), True
        for _, body in expand_knobs(statement.rest, self.builtins.lookup):
            inner = parse_knob(body, statement.line)
            certain = certain and inner is not None
            trial.read_statements(inner or [], level + 1)
        self._uses = trial._uses
        if not certain or trial.notes or trial.state.tangled != self.state.tangled:
            return False
        self.state.accept(trial.state)
        return True

    def fork(self) -> "Reader":
        """Return a reader that continues from here within a knob, without changing this one."""
        result = Reader(self._host, self.builtins, [])
        result.state, result.annotations = self.state.fork(), self.annotations.for_knob()
        result._uses, result._trying = self._uses, True
        return result

    def read_condition(self, found: list[Statement], level: int) -> None:
        """Read the branch of a whole `if` that certainly applies; if none does, keep all of it."""
        for test, branch in split_branches(found):
            holds: bool | None = True
            if test.kind is not StatementKind.ELSE:
                holds = None if self.state.blind else self._evaluate(test.rest)
            if holds is None:
                self.keep(found, "`if`", "its condition depends on the machine.")
                return
            if holds:
                self.read_statements(branch, level + 1)
                return

    def _evaluate(self, text: str) -> bool | None:
        return evaluate_condition(text, self.state.values, self.state.unsure, self.builtins.known)

    def read_include(self, statement: Statement, level: int) -> None:
        """Read the file that `include` names."""
        inner = self._included(statement)
        if inner is not None:
            self._open.append(inner)
            self.read_statements(list(parse_statements(inner.source)), level + 1)
            self._open.pop()

    def _with_included(self, found: list[Statement], level: int) -> Iterator[Statement]:
        """Yield statements, with those of included files in the place of each `include`."""
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
        """Return the file that `include` names; if it was not saved, note that it is not read."""
        place, named = self.place(statement), _FILE.fullmatch(statement.rest)
        if named is None:
            place.dropped("", "`include` with a program is not followed: the import runs no programs.")
            return None
        path = self.expand(named[1])
        found = self.folder.find(path) if self.folder is not None else None
        if found is None and self.folder is not None:
            found = self.folder.guess(path)
            if found is not None:
                reason = f"`include` refers to {shown(path)}: the saved file of the same base name is used."
                Place(self.notes, "file", str(self.folder.path / found)).look("", reason)
        if self.folder is None or found is None or not self.folder.is_file(found):
            place.dropped("", f"`include` is not followed: {shown(path)} is not one of the given files.")
            return None
        inner = self._count_file(self.folder.source(found))
        self._open[-1].included[statement.line.number] = inner
        return inner

    def value_of(self, name: str) -> str:
        """Return the value of a setting so far (empty: none), with those macros expanded that are certain."""
        return self.expand(self.state.values.get(name.lower(), ""))

    def expand(self, text: str, level: int = 0) -> str:
        """Expand the macros of a text whose values are certain so far."""
        parts, at = [], 0
        for macro in find_macros(text) if level < _MOST_EXPANDED else ():
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
        default = (self.builtins.known or {}).get(name)
        return self.state.values.get(name) or own.get(name) or (default.value if default else None)

    def place(self, statement: Statement) -> Place:
        """Return the place of a statement in notes."""
        return Place(self.notes, "line", statement.line.place)


def _depth_error(statement: Statement) -> Exception:
    return _statement_error(statement, "This is nested too deeply or makes too many settings.")


def _statement_error(statement: Statement, reason: str) -> Exception:
    return import_error(statement.line.file, statement.line.number, reason)


def evaluate_condition(
    text: str, values: Mapping[str, str], unsure: Container[str], known: Container[str] | None
) -> bool | None:
    """Return whether a condition is true; None if that depends on the machine or is not known here.

    `values` are the settings so far, `known` the names that HTCondor has built in, all in lower case.
    """
    plain = text.lstrip("! \t")
    holds = _evaluate_plain(plain, values, unsure, known)
    is_denied = text[: len(text) - len(plain)].count("!") % 2 == 1
    return None if holds is None else holds is not is_denied


def _evaluate_plain(
    text: str, values: Mapping[str, str], unsure: Container[str], known: Container[str] | None
) -> bool | None:
    defined, macro = _DEFINED.fullmatch(text), _MACRO.fullmatch(text)
    if defined is not None:
        return _evaluate_defined(defined[1].lower(), values, unsure, known)
    if macro is not None and macro[1].lower() not in unsure:
        return _evaluate_literal(values.get(macro[1].lower(), ""))
    return _evaluate_literal(text)


def _evaluate_defined(
    name: str, values: Mapping[str, str], unsure: Container[str], known: Container[str] | None
) -> bool | None:
    if name in unsure:
        return None
    if name in values:
        return True if values[name] and "$" not in values[name] else None
    return False if known is not None and name not in known else None


def _evaluate_literal(text: str) -> bool | None:
    if _NUMBER.fullmatch(text):
        return int(text) != 0
    return _BOOLEANS.get(text.lower())


def find_names(found: Iterable[Statement], lookup: Lookup, level: int = 0) -> frozenset[str] | None:
    """Return the names in lower case that statements read or set at once; None if they may be any."""
    result: set[str] = set()
    for statement in found:
        inner = None if level > MAX_LEVELS else _names_of_statement(statement, lookup, level)
        if inner is None:
            return None
        result |= inner
    return frozenset(result)


def _names_of_statement(statement: Statement, lookup: Lookup, level: int) -> frozenset[str] | None:
    if statement.kind in (StatementKind.COMPUTED, StatementKind.INCLUDE) or "$" in statement.name:
        return None
    if statement.name:
        return frozenset((statement.name.lower(),))
    if statement.kind in (StatementKind.IF, StatementKind.ELIF):
        found = (*_DEFINED.finditer(statement.rest), *_NAMED.finditer(statement.rest))
        return frozenset(one[1].lower() for one in found)
    return _names_of_knobs(statement, lookup, level) if statement.kind is StatementKind.USE else frozenset()


def _names_of_knobs(statement: Statement, lookup: Lookup, level: int) -> frozenset[str] | None:
    result: set[str] = set()
    for _, body in expand_knobs(statement.rest, lookup):
        inside = parse_knob(body, statement.line)
        inner = None if inside is None else find_names(inside, lookup, level + 1)
        if inner is None:
            return None
        result |= inner
    return frozenset(result)


def parse_knob(body: str | None, line: Line) -> list[Statement] | None:
    """Return the statements of a knob at the line of its use; None if they are not certain."""
    if body is None:
        return None
    try:
        found = list(parse_statements(Source(line.file, body)))
    except GitcfgError:
        return None
    lines = (Line(line.file, line.number, inner.line.text, inner.line.raw) for inner in found)
    return [Statement(one.kind, one.name, one.rest, at) for one, at in zip(found, lines, strict=True)]


# The files of a host in the order in which HTCondor reads them, and notes on all others.

_FOLDERS, _FILES = "LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE"
_EXCLUDED = f"{_FOLDERS}_EXCLUDE_REGEXP"


def read_host(name: str, given: Iterable[Input], builtins: Builtins, notes: list[Note]) -> Host:
    """Read a host. Raise GitcfgError if HTCondor would not accept its files, or they are too large."""
    reader = Reader(name, builtins, notes)
    machines = []
    for one in given:
        if isinstance(one, Source):
            reader.read_file(one)
            continue
        reader.folder = one
        machines.append(_Machine(one, reader))
        machines[-1].read()
        reader.folder = None
    read = tuple(reader.read)
    files = [one.source.name for one in walk_files(read)]
    _note_missing(name, reader, machines)
    for machine in machines:
        machine.note_unread(files)
    return arrange(reader.state.items, reader.state.tangled, reader.annotations.features, read)


def _note_missing(name: str, reader: Reader, machines: Sequence["_Machine"]) -> None:
    """Note the files in LOCAL_CONFIG_DIR and LOCAL_CONFIG_FILE that are not among the given ones.

    Files that were given one by one are recognized by their own names and those of their folders.
    """
    found = {path for machine in machines for path in machine.found}
    folders = [machine.folder.path for machine in machines]
    files = [PurePath(one.source.name) for one in reader.read]
    alone = [file for file in files if not any(map(file.is_relative_to, folders))]
    known = {part for file in alone for part in file.parts[-2:]}
    for option in (_FOLDERS, _FILES):
        value = reader.value_of(option)
        for path in _split_paths(value) if not value.endswith("|") else ():
            if path not in found and PurePosixPath(path).name not in known:
                reason = f"{option} refers to it, but it is not one of the given files: it is not read."
                Place(reader.notes, "host", name).dropped(shown(path), reason)


class _Machine:
    """A folder that is read as HTCondor reads the machine from which it was saved.

    `found` are the machine's paths that are in the folder.
    """

    def __init__(self, folder: Folder, reader: Reader) -> None:
        self.folder, self.reader = folder, reader
        self.found: set[str] = set()
        self._excluded: list[str] = []

    def read(self) -> None:
        """Read the main file, then the files in LOCAL_CONFIG_DIR and LOCAL_CONFIG_FILE.

        Without a main file, read those in the main file of HTCondor's packages.
        """
        main = self.folder.main
        if main is not None:
            self.reader.read_file(self.folder.source(main))
        elif not self.folder.is_flat:
            reason = (
                f"{MAIN} does not exist: {LOCAL_FOLDER} and then {LOCAL} are read, which are its defaults."
            )
            Place(self.reader.notes, "folder", str(self.folder.path)).look("", reason)
        folders = self._read_folders(None)
        self._read_files()
        self._read_folders(folders)

    def _read_folders(self, known: str | None) -> str:
        """Read the folders in LOCAL_CONFIG_DIR, unless its value is as known; return the value."""
        value = self.reader.value_of(_FOLDERS)
        if value == known:
            return value
        places = self._locate(_FOLDERS, _split_paths(value))
        if self.folder.main is None and known is None and not places:
            default = "." if self.folder.is_flat else self.folder.find_packaged(LOCAL_FOLDER)
            places = [default] if default is not None else []
        exclusion = Exclusion(self.reader.value_of(_EXCLUDED) or EXCLUDED)
        for place in places:
            for file in self.folder.list_files(place):
                if exclusion.covers(PurePosixPath(file).name):
                    self._excluded.append(file)
                else:
                    self.reader.read_file(self.folder.source(file))
        return value

    def _read_files(self) -> None:
        """Read the files in LOCAL_CONFIG_FILE; each may change that."""
        read: list[str] = []
        value = self.reader.value_of(_FILES)
        if value.endswith("|"):
            reason = f"{_FILES} with a program is not followed: the import runs no programs."
            Place(self.reader.notes, "folder", str(self.folder.path)).dropped(_FILES, reason)
            return
        paths = _split_paths(value)
        while paths:
            read.append(paths[0])
            for place in self._locate(_FILES, paths[:1]):
                self._read_local(place)
            now = self.reader.value_of(_FILES) or value  # an empty value changes nothing any more
            paths = paths[1:] if now == value else _split_paths(now)
            paths = [path for path in paths if path not in read]
            value = now
        default = self.folder.find_packaged(LOCAL)
        if self.folder.main is None and not self.found.intersection(read) and default is not None:
            self._read_local(default)

    def _read_local(self, place: str) -> None:
        if not self.folder.is_file(place):
            return
        source = self.folder.source(place)
        reason = "HTCondor reads it after the files of gitcfg: remove it from hosts with these files."
        Place(self.reader.notes, "file", source.name).look("", reason)
        self.reader.read_file(source)

    def _locate(self, option: str, paths: Sequence[str]) -> list[str]:
        """Return the places of the machine's paths, as far as they are in the folder."""
        places = {path: self.folder.find(path) for path in paths}
        taken = {place for place in places.values() if place is not None}
        for path, place in places.items():
            guess = self.folder.guess(path) if place is None else None
            if guess is not None and guess not in taken:
                places[path] = guess
                reason = f"{option} refers to {shown(path)}: the saved file of the same base name is used."
                Place(self.reader.notes, "file", str(self.folder.path / guess)).look("", reason)
        self.found.update(path for path, place in places.items() if place is not None)
        return [place for place in places.values() if place is not None]

    def note_unread(self, files: Sequence[str]) -> None:
        """Note each file that was not read."""
        above = self.folder.path
        inside = [PurePath(file) for file in files]
        read = [path.relative_to(above).as_posix() for path in inside if path.is_relative_to(above)]
        for place in self.folder.find_unread(read):
            reason = "It is not read: no file that HTCondor reads refers to it."
            if place in self._excluded:
                reason = f"It is not read: HTCondor skips such names ({_EXCLUDED})."
            Place(self.reader.notes, "file", shown(str(above / place), 200)).dropped("", reason)


def _split_paths(paths: str) -> list[str]:
    return [path for path in re.split(r"[,\s]+", paths) if path]
