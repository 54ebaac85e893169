"""All that is said of a fleet and of what changes from one to another, in a form that can be compared."""

import msgspec

from gitcfg.check.results import Checked
from gitcfg.library import Fleet, Source, compare
from gitcfg.model import GitcfgError
from gitcfg.render.files import format_json, format_plain

Said = tuple[object, ...]


def said(fleet: Fleet) -> Said:
    """Findings, sizes, and what every node gets: `repr` tells 1 from 1.0 and from true."""
    nodes = [
        (name, node.features, node.groups, repr(dict(node.params)), node.digest, *_digests(fleet, name))
        for name, node in fleet.items()
    ]
    names = tuple(fleet)
    texts = [*format_json(fleet.compiled, names), *format_plain(fleet.compiled, names)]
    return (*checked(fleet.checked), nodes, texts)


def checked(found: Checked) -> Said:
    """What a check gave."""
    return [repr(finding) for finding in found.findings], *msgspec.structs.astuple(found)[1:]


def _digests(fleet: Fleet, name: str) -> list[tuple[str, str]]:
    return [(path, file.digest) for path, file in fleet[name].rendered.items()]


def said_at(source: Source, revision: str) -> Said:
    """The same of a commit, or why it cannot be said."""
    try:
        with source.at(revision) as fleet:
            return said(fleet)
    except GitcfgError as error:
        return error.message, error.hints


def changes(old: Fleet, new: Fleet) -> list[str]:
    """What changes from one fleet to another."""
    return [repr(change) for change in compare(old, new)]


def changes_at(source: Source, old: str, new: str) -> list[str]:
    """The same of two commits, or why it cannot be said."""
    try:
        with source.at(old) as before, source.at(new) as after:
            return changes(before, after)
    except GitcfgError as error:
        return [error.message, *error.hints]
