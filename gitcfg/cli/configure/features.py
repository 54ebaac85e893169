"""Features added to what is configured, at the end or at a position, and taken out."""

from msgspec.structs import replace

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.names import named
from gitcfg.edit.configure import Step, listed_features
from gitcfg.edit.lists import name_of
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.scalars import parse_value, to_yaml
from gitcfg.edit.yaml.tree import Meaning
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe


def add(at: Conversation, text: str, place: int | None = None) -> bool:
    """Add a feature, or an instance of one; False: nothing was done. GitcfgError: it cannot be."""
    text = text or at.talk.ask("Which feature (Enter: none):")
    given = _item(at, text)
    if given is None:
        return False
    what = to_yaml(given.meaning) + ("" if place is None else f" at {place}")
    order = replace(at.target.order(at.now.fleet.model), at=place, add={"features": (given,)})
    if at.do(Step(f"add {what}", (order,))):
        at.talk.tell(f"added {safe(what)}", "green")
        return True
    at.talk.tell(f"{safe(to_yaml(given.meaning))} is there already; `i N NAME` moves it.")
    return False


def insert(at: Conversation, text: str) -> bool:
    """Add a feature at a position, or move it there."""
    number, _, name = text.partition(" ")
    if not number:
        number = at.talk.ask(f"Position, 0 is the highest (0-{len(listed_features(at.now.definition))}):")
    if not number.isdecimal():
        raise GitcfgError(f"{number or 'Nothing'} is no position.", "Say `i 0 NAME`: 0 is the highest.")
    most = len(listed_features(at.now.definition))
    if int(number) > most:
        raise GitcfgError(f"There is no position {number}: the list has {most}.", "`a NAME` adds at its end.")
    return add(at, name.strip(), int(number))


def _item(at: Conversation, text: str) -> Given | None:
    """What is to stand in the list: a name, or an instance as it would be written."""
    known = at.now.fleet.model.features.keys()
    if not text.startswith("{"):
        name = named(at.talk, "feature", text, known)
        return None if name is None else Given(name)
    meaning = parse_value(text, "the feature")
    name = named(at.talk, "feature", name_of(meaning), known)
    if name is None:
        return None
    return Given(meaning if name == name_of(meaning) else {**meaning, "feature": name})


def remove(at: Conversation, text: str) -> bool:
    """Take a feature out, by its name or position; False: nothing was done."""
    items = _items(at)
    inherited = _of_set(at)
    names = inherited | {name_of(item) for item in items}
    text = text or at.talk.ask("Which feature, by name or position (Enter: none):")
    if text.isdecimal():
        if int(text) >= len(items):
            raise GitcfgError(f"There is no position {text}: the list has {len(items)}.")
        return _out(at, items[int(text)])
    elsewhere = {name for kind in at.now.kinds for name in kind.features} - names
    name = named(at.talk, "feature here", text, names | elsewhere)
    if name is None:
        return False
    return _out(at, name) if name in names else _without(at, name)


def _out(at: Conversation, meaning: Meaning) -> bool:
    what = to_yaml(meaning)
    order = replace(at.target.order(at.now.fleet.model), remove={"features": (Given(meaning),)})
    done = at.do(Step(f"remove {what}", (order,)))
    at.talk.tell(f"removed {safe(what)}" if done else f"{safe(what)} is gone already.", "green")
    return done


def _without(at: Conversation, name: str) -> bool:
    """What groups and other features bring is not in the list: a node can do without it all the same."""
    if at.target.kind == "group":
        raise GitcfgError(
            f"{name} is not in this list: another feature or group brings it.", "Remove it there."
        )
    at.talk.tell(f"{safe(name)} is not in this list: a group or another feature brings it.")
    if not at.talk.agreed("Do without it here?", default=False):
        return False
    order = replace(at.target.order(at.now.fleet.model), add={"without": (Given(name),)})
    done = at.do(Step(f"without {name}", (order,)))
    at.talk.tell(f"without {safe(name)}", "green")
    return done


def _items(at: Conversation) -> list[Meaning]:
    """What stands in the list, as it is written."""
    found = at.now.definition
    said = at.work.draft.meaning(found.origin.file, "features") if found is not None else None
    if isinstance(said, dict):
        said = next(iter(said.values()), None)
    return said if isinstance(said, list) else []


def _of_set(at: Conversation) -> set[str]:
    """What a node's set lists: the node may do without."""
    if at.target.kind != "node":
        return set()
    nodeset = at.now.fleet.roster.sets.get(at.target.name)
    return {use.feature for use in listed_features(nodeset.definition)} if nodeset is not None else set()
