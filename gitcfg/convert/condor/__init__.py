"""HTCondor's configuration files as a repository in format 1, and what could not be carried over."""

from collections.abc import Mapping, Sequence

import msgspec

from gitcfg.convert.condor.host import Host
from gitcfg.convert.condor.knobs import Words
from gitcfg.convert.condor.known import HTCondor
from gitcfg.convert.condor.meaning import host
from gitcfg.convert.condor.proof import proved
from gitcfg.convert.condor.repository import Found, repository
from gitcfg.convert.condor.sources import Source, hosts_below, read_hosts
from gitcfg.convert.notes import Note, ordered
from gitcfg.load import yaml
from gitcfg.model import GitcfgError

__all__ = ["Found", "HTCondor", "Imported", "Note", "Source", "hosts_below", "import_condor", "read_hosts"]

_LARGEST = 1 << 20  # of a repository's file


class Imported(msgspec.Struct, frozen=True):
    """A repository's files, what was found, what to know, and how many hosts are proved to read alike."""

    files: Mapping[str, str]
    found: tuple[Found, ...]
    notes: tuple[Note, ...]
    hosts: int
    alike: int


def import_condor(given: Mapping[str, Sequence[Source]], condor: HTCondor) -> Imported:
    """Convert the files of hosts. GitcfgError: HTCondor would not take them, or they are beyond measure."""
    notes: list[Note] = []
    words = Words(condor.knob, condor.defaults if condor.version else None)
    hosts: dict[str, Host] = {name: host(given[name], words, notes) for name in sorted(given)}
    contents, found = repository(hosts, condor.defaults, notes)
    files = {path: yaml.dump(contents[path]) for path in sorted(contents)}
    for path, text in files.items():
        if len(text.encode()) > _LARGEST:
            raise GitcfgError(
                f"{path} would have more than {_LARGEST >> 20} MiB.", "Give less of it at once."
            )
    alike = proved(files, given, condor, notes)
    return Imported(files, found, ordered(list(dict.fromkeys(notes))), len(hosts), alike)
