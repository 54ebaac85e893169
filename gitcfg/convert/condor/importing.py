"""HTCondor's configuration files as a repository in format 1, and what could not be carried over."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gitcfg.convert.condor.host import Host, walk_files
from gitcfg.convert.condor.knobs import Builtins
from gitcfg.convert.condor.known import HTCondor
from gitcfg.convert.condor.machine import read_host
from gitcfg.convert.condor.proof import verify_hosts
from gitcfg.convert.condor.repository import FeatureSummary, build_repository
from gitcfg.convert.condor.sources import (
    MAX_ALL,
    Input,
    no_files_error,
)
from gitcfg.convert.notes import Note, sort_notes
from gitcfg.load import yaml
from gitcfg.model import GitcfgError

_LARGEST = 1 << 20  # of a repository's file


class CondorImport(msgspec.Struct, frozen=True):
    """A repository's files, what was found, and what to know.

    `alike` of the hosts are proved to read the same from it; `read` is how many files they have.
    """

    files: Mapping[str, str]
    found: tuple[FeatureSummary, ...]
    notes: tuple[Note, ...]
    hosts: int
    alike: int
    read: int


def import_condor(
    given: Mapping[str, Sequence[Input]], condor: HTCondor, noted: Iterable[Note] = ()
) -> CondorImport:
    """Convert the files of hosts; what was noted before is in the result's notes.

    GitcfgError: a host has none, HTCondor would not take them, or they are beyond measure.
    """
    notes = list(noted)
    hosts = _read_hosts(given, condor, notes)
    contents, found = build_repository(hosts, condor.defaults, notes)
    files = {path: yaml.dump(contents[path]) for path in sorted(contents)}
    for path, text in files.items():
        if len(text.encode()) > _LARGEST:
            raise GitcfgError(
                f"{path} would have more than {_LARGEST >> 20} MiB.", "Give less of it at once."
            )
    alike = verify_hosts(files, {name: one.read for name, one in hosts.items()}, condor, notes)
    read = len({one.source.name for host in hosts.values() for one in walk_files(host.read)})
    return CondorImport(files, found, sort_notes(list(dict.fromkeys(notes))), len(hosts), alike, read)


def _read_hosts(given: Mapping[str, Sequence[Input]], condor: HTCondor, notes: list[Note]) -> dict[str, Host]:
    words = Builtins(condor.knob, condor.defaults if condor.version else None)
    hosts, size = {}, 0
    for name in sorted(given):
        hosts[name] = read_host(name, given[name], words, notes)
        size += sum(len(one.source.text) for one in walk_files(hosts[name].read))
        if size > MAX_ALL:
            raise GitcfgError(
                f"The files of all hosts have more than {MAX_ALL >> 20} MiB.", "Import fewer hosts."
            )
    empty = [name for name, one in hosts.items() if not one.read]
    if empty:
        raise no_files_error(empty, len(hosts))
    return hosts
