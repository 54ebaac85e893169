"""Steps of `gitcfg configure` about the features that the target lists."""

from msgspec.structs import replace

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.creation import create_feature
from gitcfg.cli.configure.questions import Question, ask, ask_yes_no, find_name
from gitcfg.edit.configure import Step, listed_features
from gitcfg.edit.lists import name_of
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import Meaning, parse_value, to_yaml
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

_REMOVED = Question(
    "Which feature, by name or position (Enter: none):",
    "A feature of the list, by its name or its number; `show` shows the list.",
)


def add_feature(at: Conversation, text: str, place: int | None = None) -> bool:
    """Add a feature, or an instance of one; return False if nothing was done.

    Raise GitcfgError if it is impossible.
    """
    given = _item(at, text)
    if given is None:
        return False
    what = to_yaml(given.meaning) + ("" if place is None else f" at {place}")
    order = replace(at.target.order(at.now.fleet.model), at=place, add={"features": (given,)})
    if at.do(Step(f"add {what}", (order,))):
        at.talk.tell(f"added {safe(what)}", "green")
        return True
    at.talk.tell(f"{safe(to_yaml(given.meaning))} is in the list already; `i N NAME` moves it.")
    return False


def insert_feature(at: Conversation, text: str) -> bool:
    """Add a feature at a position, or move it there."""
    number, _, name = text.partition(" ")
    if not number:
        number = ask(at, _ask_position(len(listed_features(at.now.definition))))
    if not number.isdecimal():
        raise GitcfgError(f"{number or 'Nothing'} is not a position.", "Write `i 0 NAME`: 0 is the highest.")
    most = len(listed_features(at.now.definition))
    if int(number) > most:
        raise GitcfgError(f"There is no position {number}: the list has {most}.", "`a NAME` adds at its end.")
    return add_feature(at, name.strip(), int(number))


def _ask_position(most: int) -> Question:
    return Question(
        f"Position, 0 is the highest (0-{most}):",
        "Where the feature is to be in the list. Features further up win over those below.",
    )


def _item(at: Conversation, text: str) -> Given | None:
    """Return the new item of the list: a name, or an instance in the form of the file."""
    known = at.now.fleet.model.features.keys()
    if not text.startswith("{"):
        name = find_name(at, "feature", text, known, create_feature)
        return None if name is None else Given(name)
    meaning = parse_value(text, "the feature")
    name = find_name(at, "feature", name_of(meaning), known, create_feature)
    if name is None:
        return None
    return Given(meaning if name == name_of(meaning) else {**meaning, "feature": name})


def remove_feature(at: Conversation, text: str) -> bool:
    """Remove a feature by its name or position; return False if nothing was done."""
    found = at.now.definition
    listed = at.work.draft.meaning(found.origin.file, "features") if found is not None else None
    if isinstance(listed, dict):
        listed = next(iter(listed.values()), None)
    items = listed if isinstance(listed, list) else []
    names = {name_of(item) for item in items}
    nodeset = at.now.fleet.roster.sets.get(at.target.name) if at.target.kind == "node" else None
    if nodeset is not None:  # a node may have `without` for a feature in the list of its set
        names |= {use.feature for use in listed_features(nodeset.definition)}
    text = text or ask(at, _REMOVED)
    if text.isdecimal():
        if int(text) >= len(items):
            raise GitcfgError(f"There is no position {text}: the list has {len(items)}.")
        return _take_out(at, items[int(text)])
    elsewhere = {name for one in at.now.classes for name in one.features} - names
    name = find_name(at, "feature here", text, names | elsewhere) if text else None
    if name is None:
        return False
    return _take_out(at, name) if name in names else _without(at, name)


def _take_out(at: Conversation, meaning: Meaning) -> bool:
    what = to_yaml(meaning)
    order = replace(at.target.order(at.now.fleet.model), remove={"features": (Given(meaning),)})
    done = at.do(Step(f"remove {what}", (order,)))
    at.talk.tell(f"removed {safe(what)}" if done else f"{safe(what)} is gone already.", "green")
    return done


def _without(at: Conversation, name: str) -> bool:
    """Remove a feature of a group or of another feature, which only a node can do."""
    if at.target.kind == "group":
        raise GitcfgError(
            f"{name} is not in this list: another feature or group includes it.", "Remove it there."
        )
    at.talk.tell(f"{safe(name)} is not in this list: a group or another feature includes it.")
    if not ask_yes_no(at, "Remove it here anyway?", default=False):
        return False
    order = replace(at.target.order(at.now.fleet.model), add={"without": (Given(name),)})
    done = at.do(Step(f"without {name}", (order,)))
    at.talk.tell(f"without {safe(name)}", "green")
    return done
