"""The way back: old files, and the subsystems that took the new ones take the old ones again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .finish import finish
from .found import Found
from .journal import Journal
from .outcome import FAILED, REVERTED, Outcome, outcome_to_json
from .owing import keep_owed, still_owes, taken_back
from .place import Place
from .plan import done
from .problems import Obstacle
from .restoring import restore, still_to_restore
from .store import STAGED, Store


def roll_back(store: Store, place: Place, found: Found, failure: Outcome) -> Outcome:
    """Undo what the journal tells; `failure` is why. May be done again after dying anywhere in it.

    Its lines in the journal may be missing (the disk is full): without them the same is done once more.
    """
    journal = Journal(store)
    _note(journal, {"undo": outcome_to_json(failure)})
    if found.plan is None:
        return _end(store, place, found, failure._replace(result=REVERTED))
    if found.back is None:
        problem = _files_back(store, place, found)
        if problem:
            return _stuck(store, found, failure, problem)
        _note(journal, {"back": found.back})
    for number in found.begun:
        if number not in found.undone:
            found.undone[number] = taken_back(store, place, found, number)
            _note(journal, {"undid": [number, *found.undone[number]]})
    outcome = _judged(found, failure)
    try:
        keep_owed(store, found)
    except OSError as error:
        said = f"What is still owed cannot be kept on the disk: {error.strerror}. Every run tries again."
        return outcome._replace(result=FAILED, output=f"{outcome.output}\n{said}")
    return _end(store, place, found, outcome)


def _files_back(store: Store, place: Place, found: Found) -> str:
    """What kept files from going back, or nothing. The staged files go first: they give room."""
    assert found.plan is not None
    place.listener.told("put back", "begun")
    try:
        with suppress(OSError):
            store.remove(STAGED)
        found.back = restore(store, place, found.plan, found.key)
    except (OSError, Obstacle) as error:
        place.listener.told("put back", "failed")
        return str(error)
    place.listener.told("put back", "done")
    return ""


def _stuck(store: Store, found: Found, failure: Outcome, problem: str) -> Outcome:
    """The journal stays: the next run tries again."""
    assert found.plan is not None
    paths = ", ".join(still_to_restore(store, found.plan)) or "none"
    said = f"Going back failed: {problem}. Not as before: {paths}. Every run tries again."
    return failure._replace(result=FAILED, output=f"{failure.output}\n{said}", **_activated(found))


def _judged(found: Found, failure: Outcome) -> Outcome:
    assert found.plan is not None
    told = [(found.plan.steps[number], well, text) for number, (well, text) in sorted(found.undone.items())]
    bad = [text or f"{step.title} is owed." for step, well, text in told if not well and step.undo.required]
    rest = [text for step, well, text in told if text and text not in bad]
    said = [failure.output, *rest]
    kept = (*found.aside, *(found.back or ()))
    if kept:
        said.append("What somebody else wrote meanwhile is kept.")
    if bad:
        said += ["All files are as before, but not every subsystem took them:", *bad]
    loose = [step for step, well, _ in told if not well and not step.undo.required and step.undo.owes]
    if loose:
        titles = ", ".join(f"{one.kind} {one.name}" for step in loose for one in step.undo.owes)
        said.append(f"Owed since then, and tried again by the next installation: {titles}.")
    output = "\n".join(part for part in said if part)
    return failure._replace(result=FAILED if bad else REVERTED, output=output, kept=kept, **_activated(found))


def _activated(found: Found) -> dict[str, Any]:
    """What was begun, as an outcome has it."""
    assert found.plan is not None
    return done(tuple(found.plan.steps[number] for number in found.begun))


def _end(store: Store, place: Place, found: Found, outcome: Outcome) -> Outcome:
    """What is not as it was is not `reverted`, also if nothing was begun."""
    if still_owes(store, found):
        outcome = outcome._replace(result=FAILED)
    _note(Journal(store), {"end": outcome_to_json(outcome)})
    return finish(store, place, found, outcome)


def _note(journal: Journal, line: Mapping[str, Any]) -> None:
    with suppress(OSError):
        journal.add(line)
