"""HTCondor configuration for tests: hosts as texts, and what an import makes of them."""

import re
from collections.abc import Mapping
from typing import Any

from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.repository import CondorImport, import_condor
from gitcfg.convert.condor.sources import Source
from gitcfg.library import in_memory
from gitcfg.load.document import parse

BEFORE = "/etc/condor/config.d/40-imported.config"
AFTER = "/etc/condor/config.d/60-imported.config"
SETTINGS = "/etc/condor/config.d/50-gitcfg.config"


def imported(condor: HTCondor, **hosts: str) -> CondorImport:
    """An import of hosts with one file each, all of one name."""
    return import_condor({name: (Source("site.config", text),) for name, text in hosts.items()}, condor)


def content(found: CondorImport, path: str) -> Any:
    """One of the repository's files as a plain value."""
    return parse(path, found.files[path].encode()).value


def rendered(found: CondorImport, node: str) -> dict[str, str]:
    """What a node gets."""
    with in_memory(found.files) as fleet:
        return dict(fleet[node].files)


def settings(found: CondorImport, node: str) -> dict[str, str]:
    """What a node gets as NAME = VALUE lines."""
    lines = rendered(found, node)[SETTINGS].splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def said(found: CondorImport) -> list[str]:
    """The notes but for what is said of the machine that tests run on, in short."""
    return [
        f"{note.weight} {note.kind} {note.name} {note.field}".strip()
        for note in found.notes
        if note.kind != "host"
    ]


def alike(before: Mapping[str, str] | str, after: Mapping[str, str] | str) -> bool:
    """Are these the same raw values, but for blanks, commas between a list's items, and TRUE for true?"""
    assert isinstance(before, Mapping), before
    assert isinstance(after, Mapping), after
    return _plain(before) == _plain(after)


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    return {name: re.sub(r"[\s,]+", " ", value).strip().lower() for name, value in values.items()}
