"""What `gitcfg configure` changes: features that are included, and parameters that are bound."""

import re
from collections.abc import Iterator

from msgspec.structs import replace
from rich.text import Text

from gitcfg.cli.configure.dialogue import Conversation, find_name
from gitcfg.cli.trails import as_text
from gitcfg.edit.configure import Step, check_binding, listed_features
from gitcfg.edit.lists import name_of
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import Meaning, parse_value, to_yaml
from gitcfg.model import Finding, GitcfgError, Op, Undeclared
from gitcfg.model.names import PARAMETER
from gitcfg.model.text import safe


def add_feature(at: Conversation, text: str, place: int | None = None) -> bool:
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


def insert_feature(at: Conversation, text: str) -> bool:
    """Add a feature at a position, or move it there."""
    number, _, name = text.partition(" ")
    if not number:
        number = at.talk.ask(f"Position, 0 is the highest (0-{len(listed_features(at.now.definition))}):")
    if not number.isdecimal():
        raise GitcfgError(f"{number or 'Nothing'} is no position.", "Say `i 0 NAME`: 0 is the highest.")
    most = len(listed_features(at.now.definition))
    if int(number) > most:
        raise GitcfgError(f"There is no position {number}: the list has {most}.", "`a NAME` adds at its end.")
    return add_feature(at, name.strip(), int(number))


def _item(at: Conversation, text: str) -> Given | None:
    """What is to stand in the list: a name, or an instance as it would be written."""
    known = at.now.fleet.model.features.keys()
    if not text.startswith("{"):
        name = find_name(at.talk, "feature", text, known)
        return None if name is None else Given(name)
    meaning = parse_value(text, "the feature")
    name = find_name(at.talk, "feature", name_of(meaning), known)
    if name is None:
        return None
    return Given(meaning if name == name_of(meaning) else {**meaning, "feature": name})


def remove_feature(at: Conversation, text: str) -> bool:
    """Take a feature out, by its name or position; False: nothing was done."""
    items = _items(at)
    inherited = _of_set(at)
    names = inherited | {name_of(item) for item in items}
    text = text or at.talk.ask("Which feature, by name or position (Enter: none):")
    if text.isdecimal():
        if int(text) >= len(items):
            raise GitcfgError(f"There is no position {text}: the list has {len(items)}.")
        return _take_out(at, items[int(text)])
    elsewhere = {name for kind in at.now.kinds for name in kind.features} - names
    name = find_name(at.talk, "feature here", text, names | elsewhere)
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


# Parameters of what is configured: values asked for and held against what is declared, and taken away.

_NAMED = re.compile(rf"({PARAMETER.pattern})(?:=|\s+|$)(.*)", re.DOTALL)


def set_param(at: Conversation, text: str) -> bool:
    """Bind a parameter: `PARAM VALUE`, or asked for; False: nothing was done."""
    text = text or at.talk.ask("Which parameter (Enter: none):")
    if not text:
        return False
    found = _NAMED.fullmatch(text)
    if found is None:
        raise GitcfgError(f"{safe(text)} is no parameter's name.", "Say `s PARAM VALUE`.")
    name = _declared(at, found[1])
    if name is None:
        return False
    if found[2] and _bind(at, name, found[2].strip()):
        return True
    return ask_value(at, name)


def ask_value(at: Conversation, name: str) -> bool:
    """Tell what a parameter is, and ask for its value until it fits; False: it is left as it is."""
    at.talk.lines(_describe_param(at, name))
    while text := at.talk.ask(f"{safe(name)} (Enter: leave it) ="):
        if _bind(at, name, text):
            return True
    at.talk.tell(f"{safe(name)} is left as it is.")
    return False


def unset_param(at: Conversation, text: str) -> bool:
    """Take a binding away; False: nothing was done."""
    found = at.now.definition
    bound = found.params.keys() if found is not None else ()
    if not bound:
        raise GitcfgError("No parameter is set here.")
    text = text or at.talk.ask("Which parameter (Enter: none):")
    name = find_name(at.talk, "parameter set here", text, bound)
    return name is not None and drop_param(at, name)


def drop_param(at: Conversation, name: str) -> bool:
    """Take the binding of a parameter away."""
    order = replace(at.target.order(at.now.fleet.model), take={"params": (name,)})
    at.do(Step(f"unset {name}", (order,)))
    at.talk.tell(f"unset {safe(name)}", "green")
    return True


def _declared(at: Conversation, name: str) -> str | None:
    """The parameter that is meant; None: it is left."""
    declarations = at.now.compiled.declarations
    if declarations.find(name) is not None:
        return name
    if at.now.fleet.model.settings.undeclared is not Undeclared.ERROR:
        at.talk.tell(f"Nothing declares {safe(name)}.", "yellow")
        return name
    known = {name for name, found in declarations.parameters.items() if not found.pattern}
    return find_name(at.talk, "parameter", name, known)


def _bind(at: Conversation, name: str, text: str) -> bool:
    """Bind a parameter to what was typed; False: it does not fit, which was told."""
    try:
        given = Given(parse_value(text, name), text)
        order = replace(at.target.order(at.now.fleet.model), put={"params": {name: given}})
        if not at.do(Step(f"set {name}", (order,))):
            at.talk.tell(f"{safe(name)} says that already.")
            return True
    except GitcfgError as error:
        at.talk.warn(error)
        return False
    wrong = tuple(_find_faults(at, name))
    for finding in wrong:
        at.talk.tell(safe(finding.message), "red")
    if wrong:
        at.back()
        return False
    at.talk.tell(f"set {safe(name)}", "green")
    return True


def _find_faults(at: Conversation, name: str) -> Iterator[Finding]:
    """What is wrong with the value that was bound just now."""
    found = at.now.definition
    if found is None or name not in found.params:
        return
    yield from check_binding(at.now.compiled, found, name)
    bound = found.params[name]
    if bound.op is Op.NULL or (bound.op is Op.SET and bound.given in ("", [], {})):
        yield from (each for each in at.now.findings if each.code == "GC305" and name in each.subjects)


def _describe_param(at: Conversation, name: str) -> Iterator[Text]:
    """What a parameter is: what it is for, and which values it takes."""
    declarations = at.now.compiled.declarations
    parameter = declarations.find(name)
    description = parameter.description.strip() if parameter is not None else ""
    yield Text(safe(name), "bold") + Text(f": {safe(' '.join(description.split()))}" if description else "")
    if parameter is None:
        return
    kind = f"{parameter.type}, " if parameter.type else ""
    if parameter.must_change:
        default = "no default: it must be given a value"
    elif parameter.default is None:
        default = "no default"
    else:
        default = f"default {as_text(parameter.default.given)}"
    yield Text(f"  {kind}{default}")
    if parameter.schema is not None:
        yield Text(f"  schema {as_text(parameter.schema)}")
    yield from _describe_value(at, name)


def _describe_value(at: Conversation, name: str) -> Iterator[Text]:
    """What it is on the nodes now, if they agree."""
    values = [kind.some((name,)) for kind in at.now.kinds]
    if all(name in value and value == values[0] for value in values):
        yield Text(f"  now {as_text(values[0][name])}")
