"""`gitcfg import`: a repository from the configuration of another program."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from gitcfg.cli.declaration import Group, OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.convert.base import Note
from gitcfg.model import GitcfgError
from gitcfg.model.names import SETTINGS, glob, is_glob
from gitcfg.model.text import counted, install_hint, safe

if TYPE_CHECKING:
    from gitcfg.convert.condor.htcondor import HTCondor
    from gitcfg.convert.condor.repository import CondorImport
    from gitcfg.edit.transaction import CreatedRepository
    from gitcfg.library import Source


_WALLABY_EPILOG = """Examples:

  gitcfg import wallaby dump.yaml pool         a repository in the folder pool

  wallaby dump | gitcfg import wallaby - pool

  gitcfg import wallaby dump.yaml pool && cd pool && gitcfg check"""
_CONDOR_EPILOG = """\
The last argument is the folder of the new repository. FILEs (files or folders) are what every host
reads first; if you name no host, they belong to one host. In a folder, the import reads the files that
HTCondor would read, in its order: condor_config, LOCAL_CONFIG_DIR, LOCAL_CONFIG_FILE. It runs no program,
and reads nothing outside the folders.

Examples:

  gitcfg import condor --node exec01 /etc/condor pool

  gitcfg import condor --hosts saved pool       saved/exec01/condor_config, saved/exec01/config.d, ...

  gitcfg import condor --defaults pool          declare all parameters of HTCondor"""
ALL_PLACES = typer.Option("--all-places", help="List every place of every note, not only the first ones.")
_HOST = typer.Option(help="A host and its own file or folder; can be repeated.", metavar="NODE=FILE")
_HOSTS = typer.Option(help="A folder that holds one folder, or one file, for each host.", metavar="DIR")
_NODE = typer.Option(help="Name of the node if FILEs belong to one host.", metavar="NODE")
_DEFAULTS = typer.Option("--defaults", help="Declare every parameter that the installed HTCondor knows.")
_FILES = typer.Argument(help="Files, then the folder of the repository.", metavar="[FILE]... DIR")
_COLOR = {"dropped": "bold red", "changed": "bold yellow", "look": "bold cyan"}
_SHOWN_PLACES = 5  # places of a note that are shown by default
_MORE = 2  # additional places that are shown: to print their number takes as much space


IMPORT = Items("gitcfg.import/1", "notes", "note")


@command(_WALLABY_EPILOG, IMPORT)
def wallaby(
    context: typer.Context,
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="What `wallaby dump` wrote; - is stdin.")],
    folder: Annotated[
        Path, typer.Argument(help="Folder of the repository; created if missing.", metavar="DIR")
    ] = Path(),
    all_places: Annotated[bool, ALL_PLACES] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Convert a Wallaby dump to a repository, and list what cannot be converted exactly."""
    from gitcfg.convert.wallaby.repository import import_wallaby
    from gitcfg.edit.transaction import create_repository

    session: Session = context.obj
    imported = import_wallaby(file.read())
    made = create_repository(folder, imported.files, "Import a Wallaby dump")
    if output is Output.TEXT:
        print_notes(session.console(stderr=True), imported.notes, all_places)
    _finish(session, made, imported.notes, output)


def _finish(
    session: Session,
    made: "CreatedRepository",
    notes: Iterable[Note],
    output: Output,
    facts: Record | None = None,
) -> None:
    """Have the hook check every commit of a new repository, and write the result.

    `facts` are further fields of the record.
    """
    from gitcfg.cli.hook import install_in_new_repository

    console = session.console(stderr=True)
    hook = install_in_new_repository(console, made.folder)
    if output is not Output.TEXT:
        write_record(_import_to_json(made, hook, notes, facts or {}), output)
        return
    console.print(f"Created a repository of {len(made.files)} files in {made.folder}.")
    console.print(f"Next: cd {made.folder} && gitcfg check")


def _import_to_json(made: "CreatedRepository", hook: bool, notes: Iterable[Note], facts: Record) -> Record:
    """Return `gitcfg.import/1`."""
    return {
        "schema": IMPORT.schema,
        "folder": str(made.folder),
        "created": len(made.files),
        "commit": made.commit,
        "hook": hook,
        **facts,
        "notes": [
            {
                "weight": note.weight.value,
                "kind": note.kind,
                "name": note.name,
                "field": note.field,
                "reason": note.reason,
            }
            for note in notes
        ],
    }


@command(_CONDOR_EPILOG, IMPORT)
def condor(
    context: typer.Context,
    files: Annotated[list[Path] | None, _FILES] = None,
    host: Annotated[list[str] | None, _HOST] = None,
    hosts: Annotated[Path | None, _HOSTS] = None,
    node: Annotated[str, _NODE] = "host",
    defaults: Annotated[bool, _DEFAULTS] = False,
    all_places: Annotated[bool, ALL_PLACES] = False,
    output: OutputOption = Output.TEXT,
) -> int:
    """Convert HTCondor's configuration files to a repository: common features, and the rest of each host.

    Exits 1 if HTCondor reads other values from the repository.
    """
    from gitcfg.convert.condor.htcondor import HTCondor
    from gitcfg.convert.condor.repository import import_condor
    from gitcfg.convert.condor.sources import read_hosts
    from gitcfg.edit.transaction import create_repository

    session: Session = context.obj
    *first, folder = files or [Path()]
    with HTCondor() as installed:
        if defaults:
            _declare(session, installed.begin(), first or host or hosts, folder, output)
            return 0
        notes: list[Note] = []
        given = read_hosts(first, _hosts(first, host or [], hosts, node, notes))
        imported = import_condor(given, installed.begin(), notes)
        made = create_repository(folder, imported.files, "Import HTCondor configuration")
        if output is Output.TEXT:
            _print_imported(imported, installed, session.console(stderr=True), all_places)
        differs = bool(installed.version) and imported.alike < imported.hosts
    facts = {"hosts": imported.hosts, "alike": imported.alike if installed.version else None}
    _finish(session, made, imported.notes, output, facts)
    return int(differs)


def _hosts(
    first: list[Path], host: list[str], hosts: Path | None, node: str, notes: list["Note"]
) -> dict[str, list[Path]]:
    """Return each host's own files, in order."""
    from gitcfg.convert.condor.sources import find_hosts

    found = find_hosts(hosts, notes) if hosts is not None else {}
    for text in host:
        name, equal, file = text.partition("=")
        if not equal or not file:
            raise GitcfgError(f"--host {text} names no file.", "Write --host NODE=FILE.")
        found.setdefault(name, []).append(Path(file))
    if not found and not first:
        raise GitcfgError(
            "There is nothing to import.", "Name files, or hosts with --host NODE=FILE, and then DIR."
        )
    return found or {node: []}


def _print_imported(
    imported: "CondorImport", installed: "HTCondor", console: "Console", all_places: bool
) -> None:
    """Print the notes, the numbers of what was imported, and whether HTCondor reads the same values."""
    from gitcfg.nodeset import abridged

    print_notes(console, imported.notes, all_places)
    features = [found for found in imported.found if found.feature]
    console.print(f"Found {counted(len(features), 'feature')} for {counted(imported.hosts, 'host')}:")
    for found in imported.found:
        who = abridged(found.hosts)
        where = f"{found.feature} ({who})" if found.feature else f"{who} alone"
        what = f": {', '.join(found.params)}" if found.params else ""
        console.print(safe(f"  {where}, {counted(len(found.params), 'setting')}{what}"))
    if installed.version:
        known = f"HTCondor {installed.version} reads the same values from the repository"
        files = counted(imported.read, "file")
        console.print(f"{known} for {imported.alike} of {counted(imported.hosts, 'host')} ({files}).")


def print_notes(console: Console, notes: Iterable[Note], all_places: bool) -> None:
    """Print the notes by weight and reason, each with the first of its places, or with all of them."""
    places: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        where = " ".join(filter(None, (note.kind, note.name, note.field)))
        places.setdefault((str(note.weight), note.reason), []).append(where)
    cut = False
    for (weight, reason), found in places.items():
        line = Text(f"{weight}: ", _COLOR[weight])
        console.print(line + Text(f"{safe(reason)} ({counted(len(found), 'place')})", "default"))
        some = found if all_places or len(found) <= _SHOWN_PLACES + _MORE else found[:_SHOWN_PLACES]
        more = f", and {len(found) - len(some)} more" if len(some) < len(found) else ""
        cut = cut or bool(more)
        console.print(Text(f"  {safe(', '.join(some))}{more}", "dim"))
    if cut:
        console.print("hint: --all-places lists every place.", style="cyan")


def _declare(session: Session, installed: "HTCondor", others: object, folder: Path, output: Output) -> None:
    """Declare HTCondor's parameters, in a new repository or in an existing one."""
    if others:
        raise GitcfgError("--defaults needs a folder, without files or hosts.", "Import those separately.")
    if not installed.version:
        raise GitcfgError("HTCondor's bindings are not installed.", install_hint("htcondor"))
    names, made = declare_defaults(session, installed, folder)
    if output is not Output.TEXT:
        write_record(_import_to_json(made, False, (), {"declared": names}), output)
        return
    where = counted(len(made.files), "new file")
    console = session.console(stderr=True)
    console.print(f"{counted(names, 'parameter')} of HTCondor {installed.version} declared in {where}.")


def declare_defaults(
    session: Session, installed: "HTCondor", folder: Path
) -> "tuple[int, CreatedRepository]":
    """Declare the names that have no declaration; return their number, and the new files."""
    from gitcfg.bundled import read_pack
    from gitcfg.convert.condor.parameters import default_files
    from gitcfg.edit.transaction import create_repository

    if (folder / SETTINGS).exists():
        return _add_declarations(session, installed, folder)
    files = default_files(installed.defaults.values(), lambda name: False, ())
    pack = read_pack("empty")
    begun = {path: pack[path].decode() for path in (SETTINGS, "groups/default.yaml")}
    made = create_repository(folder, {**begun, **files}, "Declare what HTCondor knows")
    return len(installed.defaults), replace(made, files=tuple(files))


def _add_declarations(
    session: Session, installed: "HTCondor", folder: Path
) -> "tuple[int, CreatedRepository]":
    from gitcfg.cli.edits import exclusive_edit, write_files
    from gitcfg.convert.condor.parameters import default_files
    from gitcfg.edit.transaction import CreatedRepository, FileChange, finish_if_interrupted
    from gitcfg.library import open

    source = open(folder)
    with exclusive_edit(session, source.repository) as place:
        known = _is_declared(source)
        there = {path.relative_to(folder).as_posix() for path in folder.glob("parameters/**/*.yaml")}
        files = default_files(installed.defaults.values(), known, there)
        written = {path: FileChange(None, text.encode()) for path, text in files.items()}
        if written:
            with finish_if_interrupted(source.repository.root, place):
                write_files(source.repository, place, written, None)
    names = sum(not known(one.name) for one in installed.defaults.values())
    return names, CreatedRepository(folder, tuple(files), None)


def _is_declared(source: "Source") -> Callable[[str], bool]:
    """Return a function that returns whether a name is declared, by itself or by a pattern."""
    with source.worktree() as fleet:
        names: Iterable[str] = tuple(fleet.model.parameters)
    patterns = [glob(name) for name in names if is_glob(name)]
    found = {name.casefold() for name in names}
    return lambda name: name.casefold() in found or any(pattern.matches(name) for pattern in patterns)


import_ = Group(
    "Create a repository from another program's configuration.", {"wallaby": wallaby, "condor": condor}
)
