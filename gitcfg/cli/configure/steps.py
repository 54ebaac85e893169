"""The steps of `gitcfg configure`, what it shows of the target, and what follows a step.

Features are listed, and parameters bound, in the target's definition. After a step come values to drop or
give, new problems with advice, and the reach.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace
from rich.text import Text

from gitcfg.check.results import unlike
from gitcfg.cli import changes, findings
from gitcfg.cli.configure.dialogue import Conversation, TargetView, find_name
from gitcfg.cli.trails import as_text
from gitcfg.compile.nodes import Roster, define_node
from gitcfg.edit.configure import (
    Advice,
    AdvisedAction,
    Step,
    check_binding,
    find_advice,
    find_idle,
    listed_features,
)
from gitcfg.edit.draft import Draft
from gitcfg.edit.lists import name_of
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import Meaning, parse_value, to_yaml
from gitcfg.explain.trail import added_items
from gitcfg.model import Finding, GitcfgError, Model, Op, Undeclared, Use
from gitcfg.model.names import PARAMETER
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import abridged


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
    at.talk.tell(f"{safe(to_yaml(given.meaning))} is in the list already; `i N NAME` moves it.")
    return False


def insert_feature(at: Conversation, text: str) -> bool:
    """Add a feature at a position, or move it there."""
    number, _, name = text.partition(" ")
    if not number:
        number = at.talk.ask(f"Position, 0 is the highest (0-{len(listed_features(at.now.definition))}):")
    if not number.isdecimal():
        raise GitcfgError(f"{number or 'Nothing'} is not a position.", "Write `i 0 NAME`: 0 is the highest.")
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
    found = at.now.definition
    listed = at.work.draft.meaning(found.origin.file, "features") if found is not None else None
    if isinstance(listed, dict):
        listed = next(iter(listed.values()), None)
    items = listed if isinstance(listed, list) else []
    names = {name_of(item) for item in items}
    nodeset = at.now.fleet.roster.sets.get(at.target.name) if at.target.kind == "node" else None
    if nodeset is not None:  # the node may do without what its set lists
        names |= {use.feature for use in listed_features(nodeset.definition)}
    text = text or at.talk.ask("Which feature, by name or position (Enter: none):")
    if text.isdecimal():
        if int(text) >= len(items):
            raise GitcfgError(f"There is no position {text}: the list has {len(items)}.")
        return _take_out(at, items[int(text)])
    elsewhere = {name for one in at.now.classes for name in one.features} - names
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
    """A feature of a group or of another feature is not in the list, but a node can remove it."""
    if at.target.kind == "group":
        raise GitcfgError(
            f"{name} is not in this list: another feature or group includes it.", "Remove it there."
        )
    at.talk.tell(f"{safe(name)} is not in this list: a group or another feature includes it.")
    if not at.talk.agreed("Remove it here anyway?", default=False):
        return False
    order = replace(at.target.order(at.now.fleet.model), add={"without": (Given(name),)})
    done = at.do(Step(f"without {name}", (order,)))
    at.talk.tell(f"without {safe(name)}", "green")
    return done


# Parameters of what is configured: values asked for and held against what is declared, and taken away.

_NAMED = re.compile(rf"({PARAMETER.pattern})(?:=|\s+|$)(.*)", re.DOTALL)


def set_param(at: Conversation, text: str) -> bool:
    """Bind a parameter: `PARAM VALUE`, or asked for; False: nothing was done."""
    text = text or at.talk.ask("Which parameter (Enter: none):")
    if not text:
        return False
    found = _NAMED.fullmatch(text)
    if found is None:
        raise GitcfgError(f"{safe(text)} is not a parameter's name.", "Write `s PARAM VALUE`.")
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
        at.talk.tell(f"{safe(name)} is not declared.", "yellow")
        return name
    known = {name for name, found in declarations.parameters.items() if not found.pattern}
    return find_name(at.talk, "parameter", name, known)


def _bind(at: Conversation, name: str, text: str) -> bool:
    """Bind a parameter to what was typed; False: it does not fit, which was printed."""
    try:
        given = Given(parse_value(text, name), text)
        order = replace(at.target.order(at.now.fleet.model), put={"params": {name: given}})
        if not at.do(Step(f"set {name}", (order,))):
            at.talk.tell(f"{safe(name)} has this value already.")
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
    """Describe a parameter: what it is for, which values it takes, and its value now, if all nodes agree."""
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
    values = [one.some((name,)) for one in at.now.classes]
    if all(name in value and value == values[0] for value in values):
        yield Text(f"  now {as_text(values[0][name])}")


# What is there to change, and where it comes from.


def format_state(seen: TargetView, draft: Draft) -> Iterator[Text]:
    """Everything that can be changed here, and what is below it."""
    found, target = seen.definition, seen.target
    file = found.origin.file if found is not None else None
    yield Text(target.label, "bold") + Text(f"  {file or 'has no file of its own yet'}", "blue")
    for line in (found.description if found is not None else "").strip().splitlines():
        yield Text(f"  {safe(line)}", "italic")
    yield from _format_heading(seen)
    yield from _format_features(draft.meaning(file, "features") if file else None)
    if target.kind != "group":
        yield from _format_inherited(seen.fleet.model, seen)
    params = draft.meaning(file, "params") if file else None
    yield Text(f"parameters set here:{'' if isinstance(params, dict) and params else ' none'}", "cyan")
    for name, value in params.items() if isinstance(params, dict) else ():
        yield Text(f"  {safe(name)}: ", "bold") + Text(safe(to_yaml(value)))


def _format_heading(seen: TargetView) -> Iterator[Text]:
    """Whom it concerns, and whether others say what it is, too."""
    target, nodes = seen.target, seen.nodes
    if target.kind != "node":
        folded = safe(abridged(nodes)) if nodes else "none; it is checked as if it had one"
        yield Text(f"  {counted(len(nodes), 'node')}: ", "") + Text(folded, "magenta")
        return
    nodeset = Roster(seen.fleet.model).sets.get(target.name)
    if nodeset is not None:
        name = safe(nodeset.name)
        yield Text(f"  It is one of {counted(len(nodeset.members), 'node')} of the node set {name}.")
        yield Text(f"  Changes here apply to this node alone; `gitcfg configure nodeset/{name}`")
        yield Text("  changes all of them.")


def _format_features(found: Meaning | None) -> Iterator[Text]:
    """The definition's own list. Positions count in it."""
    word = ""
    if isinstance(found, dict):
        word, found = next(iter(found.items()), ("", None))
    items = found if isinstance(found, list) else []
    composed = f" ({word} to what its node set lists)" if word else ""
    yield Text(f"features{composed}, highest first:{'' if items else ' none'}", "cyan")
    for number, item in enumerate(items):
        yield Text(f"  {number}  ", "dim") + Text(safe(to_yaml(item)))


def _format_inherited(model: Model, seen: TargetView) -> Iterator[Text]:
    """What a node, or all of a set, has of its set and its groups, highest first."""
    roster, name = Roster(model), seen.target.name
    alone = seen.target.kind == "node"
    found = roster.definition(name) if alone else define_node(None, model.nodesets[name])
    if alone and found.nodeset is not None:
        yield _inherited(f"node set {found.nodeset.name}", added_items(found.nodeset.definition.features))
    if not found.groups:
        yield Text("only in the default group", "dim")
    for ref in found.groups:
        if ref.name in model.groups:
            yield _inherited(f"group {ref.name}", model.groups[ref.name].features)
    default = model.settings.default_group
    if default in model.groups:
        yield _inherited(f"group {default}, like all nodes", model.groups[default].features)


def _inherited(layer: str, uses: Iterable[Use]) -> Text:
    names = (use.feature if use.instance is None else f"{use.feature} as {use.instance}" for use in uses)
    return Text(f"from {safe(layer)}: ", "dim") + Text(safe(", ".join(names)) or "no feature")


# What follows a step: values that are idle now, values that are wanted, problems, and the reach.


def follow_up(at: Conversation, before: TargetView) -> None:
    """Ask about what a step has brought about, until nothing is left to ask, and tell what it means."""
    _ = before.findings  # first, because what comes after is found from what was there
    _drop_idle(at, before)
    told: set[Finding] = set()
    while new := [one for one in unlike(at.now.findings, before.findings) if one not in told]:
        # Values that are missing come last, when all features are there.
        finding = min(new, key=lambda one: (one.code == "GC305", not one.is_error))
        told.add(finding)
        if finding.code == "GC305":
            count = f" On {counted(len(finding.nodes), 'node')}: " if finding.nodes else ""
            nodes = f"{count}{abridged(finding.nodes)}." if finding.nodes else ""
            at.talk.tell(safe(finding.message + nodes), "yellow")
            ask_value(at, finding.subjects[0])
        else:
            at.talk.tell(findings.finding_text(at.now.fleet.tree, finding), "")
            _advise(at, finding)
    gone = unlike(before.findings, at.now.findings)
    if gone:
        at.talk.tell(f"{counted(len(gone), 'problem')} from before: solved.", "green")
    print_reach(at)


def _drop_idle(at: Conversation, before: TargetView) -> None:
    """Offer to drop values that only a feature needed which has gone."""
    found = at.now.definition
    if found is None:
        return
    declarations = at.now.compiled.declarations
    for each in find_idle(found.params, at.target.label, before.classes, at.now.classes, declarations):
        at.talk.tell(f"{safe(each.param)} was set here only for {safe(', '.join(each.features))}.")
        if at.talk.agreed(f"Drop {safe(each.param)}?", default=True):
            drop_param(at, each.param)


def _advise(at: Conversation, finding: Finding) -> None:
    """Offer what may help."""
    found = find_advice(finding, at.now.definition, at.now.compiled.layers.reaches)
    if len(found) == 1:
        asks = found[0].action is AdvisedAction.SET  # it asks for the value anyway
        if asks or at.talk.agreed(_question(found[0]), default=finding.is_error):
            _follow_advice(at, found[0])
    elif found:
        choices = {str(number): _question(each).rstrip("?") for number, each in enumerate(found, 1)}
        if answer := at.talk.choose({**choices, "": "leave it for now"}):
            _follow_advice(at, found[int(answer) - 1])


def _question(found: Advice) -> str:
    name = safe(found.name)
    match found.action:
        case AdvisedAction.ADD:
            return f"Add {name} here as well?"
        case AdvisedAction.REMOVE:
            return f"Remove {name}{f', which includes {safe(found.included)}' if found.included else ''}?"
        case AdvisedAction.SET:
            return f"Set {name} here?"
        case AdvisedAction.UNSET:
            return f"Unset {name} here?"


def _follow_advice(at: Conversation, found: Advice) -> None:
    """Do what was offered; what follows from it is looked at in turn."""
    before = at.now
    try:
        match found.action:
            case AdvisedAction.ADD:
                add_feature(at, found.name)
            case AdvisedAction.REMOVE if remove_feature(at, found.name):
                _drop_idle(at, before)
            case AdvisedAction.SET:
                ask_value(at, found.name)
            case AdvisedAction.UNSET:
                drop_param(at, found.name)
    except GitcfgError as error:
        at.talk.warn(error)


def print_reach(at: Conversation, *, whole: bool = False) -> None:
    """Print how far everything that was done reaches, in one line; `whole`: with the changes of nodes."""
    if not at.now.nodes and not at.base.nodes:
        at.talk.tell("No node changes: no node uses this yet.")
        return
    found = at.now.since(at.base)
    if whole:
        changes.print_stat(at.talk.console, found)
    at.talk.console.print("" if whole else "so far: ", style="dim", end="")
    changes.print_reach(at.talk.console, found)


def find_new_problems(at: Conversation) -> tuple[Finding, ...]:
    """Return what was not wrong when the conversation began."""
    return unlike(at.now.findings, at.base.findings)
