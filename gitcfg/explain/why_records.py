"""Why a node has a feature, a file or a group, as programs read it."""

from collections.abc import Iterable

from gitcfg.explain.blamed import Blamer, with_blame
from gitcfg.explain.layers import Mention
from gitcfg.explain.places import Place
from gitcfg.explain.records import Record, decision_record, origin_record
from gitcfg.explain.why_feature import FeatureAnswer, Removal
from gitcfg.explain.why_file import Brought, FileAnswer
from gitcfg.explain.why_group import GroupAnswer
from gitcfg.explain.why_rule import Passing, Reason
from gitcfg.model import FileEntry
from gitcfg.model.nodeset import fold

Answer = FeatureAnswer | FileAnswer | GroupAnswer


def why_record(
    commit: str | None, node: str, answers: Iterable[Answer], blamer: Blamer | None = None
) -> Record:
    """`gitcfg.why/1`: for each thing asked whether the node has it, and why; who made it so, if asked."""
    writer = _Writer(blamer)
    return {
        "schema": "gitcfg.why/1",
        "commit": commit,
        "node": node,
        "answers": [writer.answer(answer) for answer in answers],
    }


class _Writer:
    """Answers as records, with the commits to blame if there is a blamer."""

    def __init__(self, blamer: Blamer | None) -> None:
        self.blamer = blamer

    def answer(self, answer: Answer) -> Record:
        if isinstance(answer, FeatureAnswer):
            return self._feature(answer)
        return self._file(answer) if isinstance(answer, FileAnswer) else self._group(answer)

    def _feature(self, answer: FeatureAnswer) -> Record:
        return {
            "kind": "feature",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "instances": list(answer.instances),
            "places": [self._place(place) for place in answer.places],
            "taken": [
                {**self._place(taken.place), "without": self._removals(taken.removals)}
                for taken in answer.taken
            ],
            "barred": answer.barred,
            "elsewhere": list(answer.elsewhere),
            **({"rules": [_passing(found) for found in answer.rules]} if answer.rules else {}),
        }

    def _place(self, place: Place) -> Record:
        mentions = zip(place.layers, place.origins, strict=True)
        layers = [self._mention(Mention(layer, origin)) for layer, origin in mentions]
        record = {"layers": layers, "instances": list(place.instances)}
        return {**record, "decided": decision_record(place.decided)} if place.decided else record

    def _mention(self, mention: Mention, blamed: bool = True) -> Record:
        record = {"layer": mention.layer, "origin": origin_record(mention.origin)}
        return with_blame(record, self.blamer if blamed else None, mention.layer, mention.origin)

    def _removals(self, removals: Iterable[Removal]) -> list[Record]:
        return [{"feature": removal.feature, **self._mention(removal.by)} for removal in removals]

    def _file(self, answer: FileAnswer) -> Record:
        deciding = answer.deciding
        return {
            "kind": "file",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "params": answer.params,
            "entries": [
                {**self._brought(brought), "overridden": brought is not deciding}
                for brought in answer.entries
            ],
            "taken": [
                {**self._brought(taken), "without": self._removals(taken.removals)} for taken in answer.taken
            ],
            "elsewhere": list(answer.elsewhere),
        }

    def _brought(self, brought: Brought) -> Record:
        origin = brought.entry.origin
        record = {"path": list(brought.path), "origin": origin_record(origin), **entry_record(brought.entry)}
        return with_blame(record, self.blamer, brought.path[0], origin)

    def _group(self, answer: GroupAnswer) -> Record:
        return {
            "kind": "group",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "default": answer.default,
            "groups": list(answer.groups),
            "by": self._mention(answer.by) if answer.by else None,
            "listed": self._mention(answer.listed) if answer.listed else None,
            "dropped": self._mention(answer.dropped, not answer.replaced) if answer.dropped else None,
        }


def _passing(found: Passing) -> Record:
    """A rule that passes the node by."""
    record: Record = {
        "rule": found.rule,
        "feature": found.feature,
        "reason": str(found.reason),
        "origin": origin_record(found.at.origin),
    }
    if found.reason in (Reason.WHERE, Reason.FAILED):
        record["where"] = found.at.name
    if found.saw:
        record["saw"] = [{"instances": list(saw.instances), "terms": saw.terms} for saw in found.saw]
    if found.problem:
        record["problem"] = found.problem
    if found.slots:
        record["placed"] = {"slots": fold(found.slots), "count": len(found.slots)}
    return record


def entry_record(entry: FileEntry) -> Record:
    """What an entry says of its file: nothing but that it is taken away, or all of it."""
    if entry.removed:
        return {"removed": True}
    return {
        "removed": False,
        "format": entry.format,
        "template": entry.template.name if entry.template else None,
        "source": entry.source.name if entry.source else None,
        "text": entry.text,
        "mode": entry.mode,
        "owner": entry.owner,
        "group": entry.group,
    }
