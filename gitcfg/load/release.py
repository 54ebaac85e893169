"""`release:` of gitcfg.yaml: how fast agents take a new commit."""

import re
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.reading import Reading
from gitcfg.model import Ref, Release, Share
from gitcfg.model.delivery import EVERYONE
from gitcfg.model.names import shown
from gitcfg.model.text import seconds

_SHARE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?%")


def release(reading: Reading, doc: Document) -> Release | None:
    """How fast; None: all at once. What cannot be meant is GC102, and counts as left out."""
    said = doc.value.get("release")
    if said is None:
        return None
    plain = Release(doc.key("release"))
    first = said.get("first")
    return Release(
        plain.origin,
        _stages(reading, doc, said["stages"]) if "stages" in said else plain.stages,
        _settle(reading, doc, said["settle"]) if "settle" in said else plain.settle,
        said.get("max_failures", plain.max_failures),
        None if first is None else Ref(first, doc.at("release", "first")),
    )


def _stages(reading: Reading, doc: Document, said: list[Any]) -> tuple[Share, ...]:
    found = [_share(item) for item in said]
    for place, share in enumerate(found):
        at = doc.at("release", "stages", place)
        if share is None:
            message = f"{shown(str(said[place]))} is no size of a stage."
            reading.report("GC102", "stages", message, at, hint="Write how many nodes, or a share: 1, 10%.")
            return (EVERYONE,)
        before = found[place - 1] if place else None
        if before is not None and before.percent == share.percent and before.number >= share.number:
            message = f"The stage {said[place]} has no more nodes than {said[place - 1]} before it."
            reading.report("GC102", "stages", message, at, hint="Stages count from the first one on.")
    if not found or found[-1] != EVERYONE:
        message = "The last stage leaves nodes out."
        reading.report("GC102", "stages", message, doc.at("release", "stages"), hint="Let it be 100%.")
    return tuple(share for share in found if share is not None)


def _share(said: Any) -> Share | None:
    if isinstance(said, int):
        return Share(said) if said > 0 else None
    if not _SHARE.fullmatch(said):
        return None
    number = float(said[:-1])
    return Share(number, percent=True) if 0 < number <= 100 else None


def _settle(reading: Reading, doc: Document, said: str) -> float:
    found = seconds(said)
    if found is None:
        message = f"{shown(said)} is no length of time."
        at = doc.at("release", "settle")
        reading.report("GC102", "settle", message, at, hint="Write 10m, 90s, 2h or 1d.")
        return 0.0
    return found
