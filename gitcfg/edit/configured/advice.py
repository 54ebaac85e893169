"""What one may do in a definition about something that is wrong."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from gitcfg.edit.configured.target import listed_features
from gitcfg.model import Finding, Group, Node
from gitcfg.model.graph import Reach


class AdvisedAction(StrEnum):
    """What may help."""

    ADD = "add"
    REMOVE = "remove"
    SET = "set"
    UNSET = "unset"


class Advice(msgspec.Struct, frozen=True):
    """Something that may help; `brings`: of two features that conflict, the one that it includes."""

    deed: AdvisedAction
    name: str
    brings: str = ""


def find_advice(finding: Finding, found: Node | Group | None, reaches: Reach) -> tuple[Advice, ...]:
    """What may be done in a definition about a finding; `reaches` says what includes what."""
    match finding.code:
        case "GC301":
            return (Advice(AdvisedAction.ADD, finding.subjects[0]),)
        case "GC302":
            return tuple(_leaving(finding, found, reaches))
        case "GC303":
            return (Advice(AdvisedAction.SET, finding.subjects[0]),)
        case "GC304":
            bound = found.params if found is not None else {}
            return tuple(Advice(AdvisedAction.UNSET, name) for name in finding.subjects if name in bound)
        case _:
            return ()


def _leaving(finding: Finding, found: Node | Group | None, reaches: Reach) -> Iterator[Advice]:
    """Features in the definition's own list that are one of two, or include one."""
    for name in dict.fromkeys(use.feature for use in listed_features(found)):
        if name in finding.subjects:
            yield Advice(AdvisedAction.REMOVE, name)
        else:
            brought = next((each for each in finding.subjects if reaches.leads(name, each)), None)
            if brought is not None:
                yield Advice(AdvisedAction.REMOVE, name, brought)
