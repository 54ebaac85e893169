"""`gitcfg import condor`: a repository from what machines with HTCondor have in /etc/condor."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.convert.condor.htcondor import HTCondor
    from gitcfg.convert.condor.repository import CondorImport
    from gitcfg.convert.notes import Note

EPILOG = """The last word is the folder of the repository. FILEs, and folders of them, are what every host
reads first; if no host is named, they are one host's. In a folder the files are read that HTCondor would
read, in its order: condor_config, LOCAL_CONFIG_DIR, LOCAL_CONFIG_FILE. Nothing is run, and nothing outside
the folders is read.

Examples:

  gitcfg import condor --node exec01 /etc/condor pool

  gitcfg import condor --hosts saved pool       saved/exec01/condor_config, saved/exec01/config.d, ...

  gitcfg import condor --defaults pool          declare all that HTCondor knows"""
_HOST = typer.Option(help="A host and a file or folder of its own; may be repeated.", metavar="NODE=FILE")
_HOSTS = typer.Option(help="A folder that holds one folder, or one file, for each host.", metavar="DIR")
_NODE = typer.Option(help="What the node is called if FILEs are those of one host.", metavar="NODE")
_DEFAULTS = typer.Option("--defaults", help="Declare every parameter that the installed HTCondor knows.")
ALL_PLACES = typer.Option("--all-places", help="List every place of every note, not only the first ones.")
_FILES = typer.Argument(help="Files, and at last the repository's folder.", metavar="[FILE]... DIR")


def condor(
    context: typer.Context,
    files: Annotated[list[Path] | None, _FILES] = None,
    host: Annotated[list[str] | None, _HOST] = None,
    hosts: Annotated[Path | None, _HOSTS] = None,
    node: Annotated[str, _NODE] = "host",
    defaults: Annotated[bool, _DEFAULTS] = False,
    all_places: Annotated[bool, ALL_PLACES] = False,
) -> int:
    """Turn HTCondor's configuration files into a repository: common features, and each host's rest.

    Exits 1 if HTCondor does not read the same.
    """
    from gitcfg.convert.condor.htcondor import HTCondor
    from gitcfg.convert.condor.repository import import_condor
    from gitcfg.convert.condor.sources import read_hosts
    from gitcfg.edit.create import create_repository

    session: Session = context.obj
    *first, folder = files or [Path()]
    with HTCondor() as installed:
        console = session.console(stderr=True)
        if defaults:
            _declare(session, installed.begin(), first or host or hosts, folder)
            return 0
        notes: list[Note] = []
        given = read_hosts(first, _hosts(first, host or [], hosts, node, notes))
        imported = import_condor(given, installed.begin(), notes)
        made = create_repository(folder, imported.files, "Import HTCondor configuration")
        _tell(imported, installed, console, all_places)
        differs = bool(installed.version) and imported.alike < imported.hosts
    from gitcfg.cli.hook_install import hooked

    hooked(console, made.folder)
    console.print(f"A repository of {made.files} files is in {made.folder}.")
    console.print(f"Next: cd {made.folder} && gitcfg check")
    return int(differs)


def _hosts(
    first: list[Path], host: list[str], hosts: Path | None, node: str, notes: list["Note"]
) -> dict[str, list[Path]]:
    """Each host's own files, in order."""
    from gitcfg.convert.condor.sources import find_hosts
    from gitcfg.model import GitcfgError

    found = find_hosts(hosts, notes) if hosts is not None else {}
    for said in host:
        name, equal, file = said.partition("=")
        if not equal or not file:
            raise GitcfgError(f"--host {said} names no file.", "Write --host NODE=FILE.")
        found.setdefault(name, []).append(Path(file))
    if not found and not first:
        raise GitcfgError(
            "There is nothing to import.", "Name files, or hosts with --host NODE=FILE, and then DIR."
        )
    return found or {node: []}


def _tell(imported: "CondorImport", installed: "HTCondor", console: "Console", all_places: bool) -> None:
    """What is to be known, what was found, and the proof."""
    from gitcfg.cli.notes import show
    from gitcfg.model.nodeset import abridged
    from gitcfg.model.text import counted, safe

    show(console, imported.notes, all_places)
    features = [found for found in imported.found if found.feature]
    console.print(f"Found {counted(len(features), 'feature')} for {counted(imported.hosts, 'host')}:")
    for found in imported.found:
        who = abridged(found.hosts)
        where = f"{found.feature} ({who})" if found.feature else f"{who} alone"
        what = f": {', '.join(found.params)}" if found.params else ""
        console.print(safe(f"  {where}, {counted(len(found.params), 'setting')}{what}"))
    if installed.version:
        known = f"HTCondor {installed.version} reads the same from the repository"
        files = counted(imported.read, "file")
        console.print(f"{known} for {imported.alike} of {counted(imported.hosts, 'host')} ({files}).")


def _declare(session: Session, installed: "HTCondor", others: object, folder: Path) -> None:
    """Declare what HTCondor knows, in a new repository or in one that is there."""
    from gitcfg.cli.declared import declared
    from gitcfg.model import GitcfgError
    from gitcfg.model.text import counted, install_hint

    if others:
        raise GitcfgError("--defaults takes a folder, and no files or hosts.", "Import those by themselves.")
    if not installed.version:
        raise GitcfgError("HTCondor's bindings are not installed.", install_hint("htcondor"))
    names, files = declared(session, installed, folder)
    where = counted(files, "new file")
    console = session.console(stderr=True)
    console.print(f"{counted(names, 'parameter')} of HTCondor {installed.version} declared in {where}.")
