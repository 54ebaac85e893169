"""The whole reference of a fleet, as data."""

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Reference
from gitcfg.convert.reference.features import features
from gitcfg.convert.reference.groups import groups, nodesets, overrides
from gitcfg.convert.reference.parameters import parameters
from gitcfg.convert.reference.rules import rules
from gitcfg.convert.reference.subsystems import interests, subsystems
from gitcfg.convert.reference.uses import uses
from gitcfg.model.text import counted


def collect(fleet: Fleet, title: str, commit: str | None) -> Reference:
    """What there is to read of a fleet: a chapter for each kind of which there is something."""
    found = uses(fleet)
    concerns = interests(found)
    chapters = (
        features(found),
        groups(found),
        parameters(found, concerns),
        subsystems(found, concerns),
        nodesets(found),
        overrides(found),
        rules(found),
    )
    return Reference(title, commit, tuple(each for each in chapters if each.entries), _notes(fleet))


def _notes(fleet: Fleet) -> tuple[str, ...]:
    """What may be missing."""
    wrong = sum(finding.severity == "error" for finding in fleet.model.findings)
    if not wrong:
        return ()
    return (
        f"Not everything could be read: {counted(wrong, 'error')} in the files. `gitcfg check` tells where.",
    )
