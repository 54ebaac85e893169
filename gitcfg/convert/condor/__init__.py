"""HTCondor's configuration files as a repository in format 1, and what could not be carried over."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gitcfg.convert.condor.host import Host, all_read
from gitcfg.convert.condor.knobs import Words
from gitcfg.convert.condor.known import HTCondor
from gitcfg.convert.condor.machine import host
from gitcfg.convert.condor.proof import proved
from gitcfg.convert.condor.repository import Found, repository
from gitcfg.convert.condor.sources import (
    MAX_ALL,
    Folder,
    Given,
    Source,
    hosts_below,
    nothing_read,
    read_hosts,
)
from gitcfg.convert.notes import Note, ordered
from gitcfg.load import yaml
from gitcfg.model import GitcfgError

__all__ = [
    "Folder",
    "Found",
    "HTCondor",
    "Imported",
    "Note",
    "Source",
    "hosts_below",
    "import_condor",
    "read_hosts",
]

_LARGEST = 1 << 20  # of a repository's file


class Imported(msgspec.Struct, frozen=True):
    """A repository's files, what was found, and what to know.

    `alike` of the hosts are proved to read the same from it; `read` is how many files they have.
    """

    files: Mapping[str, str]
    found: tuple[Found, ...]
    notes: tuple[Note, ...]
    hosts: int
    alike: int
    read: int


def import_condor(
    given: Mapping[str, Sequence[Given]], condor: HTCondor, noted: Iterable[Note] = ()
) -> Imported:
    """Convert the files of hosts; what was noted before is in the result's notes.

    GitcfgError: a host has none, HTCondor would not take them, or they are beyond measure.
    """
    notes = list(noted)
    hosts = _hosts(given, condor, notes)
    contents, found = repository(hosts, condor.defaults, notes)
    files = {path: yaml.dump(contents[path]) for path in sorted(contents)}
    for path, text in files.items():
        if len(text.encode()) > _LARGEST:
            raise GitcfgError(
                f"{path} would have more than {_LARGEST >> 20} MiB.", "Give less of it at once."
            )
    alike = proved(files, {name: one.read for name, one in hosts.items()}, condor, notes)
    read = len({one.source.name for host in hosts.values() for one in all_read(host.read)})
    return Imported(files, found, ordered(list(dict.fromkeys(notes))), len(hosts), alike, read)


def _hosts(given: Mapping[str, Sequence[Given]], condor: HTCondor, notes: list[Note]) -> dict[str, Host]:
    words = Words(condor.knob, condor.defaults if condor.version else None)
    hosts, size = {}, 0
    for name in sorted(given):
        hosts[name] = host(name, given[name], words, notes)
        size += sum(len(one.source.text) for one in all_read(hosts[name].read))
        if size > MAX_ALL:
            raise GitcfgError(
                f"The files of all hosts have more than {MAX_ALL >> 20} MiB.", "Import fewer hosts."
            )
    empty = [name for name, one in hosts.items() if not one.read]
    if empty:
        raise nothing_read(empty, len(hosts))
    return hosts
