"""The whole reference of a fleet, as data."""

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Reference
from gitcfg.convert.reference.features import feature_chapter
from gitcfg.convert.reference.groups import group_chapter, nodeset_chapter, override_chapter
from gitcfg.convert.reference.parameters import parameter_chapter
from gitcfg.convert.reference.rules import rule_chapter
from gitcfg.convert.reference.subsystems import find_interests, subsystem_chapter
from gitcfg.convert.reference.uses import find_usage
from gitcfg.model.text import counted


def collect_reference(fleet: Fleet, title: str, commit: str | None) -> Reference:
    """What there is to read of a fleet: a chapter for each kind of which there is something."""
    found = find_usage(fleet)
    concerns = find_interests(found)
    chapters = (
        feature_chapter(found),
        group_chapter(found),
        parameter_chapter(found, concerns),
        subsystem_chapter(found, concerns),
        nodeset_chapter(found),
        override_chapter(found),
        rule_chapter(found),
    )
    return Reference(title, commit, tuple(each for each in chapters if each.entries), _find_notes(fleet))


def _find_notes(fleet: Fleet) -> tuple[str, ...]:
    """What may be missing."""
    wrong = sum(finding.severity == "error" for finding in fleet.model.findings)
    if not wrong:
        return ()
    return (
        f"Not everything could be read: {counted(wrong, 'error')} in the files. `gitcfg check` tells where.",
    )
