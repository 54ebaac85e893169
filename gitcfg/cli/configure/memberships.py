"""Steps of `gitcfg configure` about memberships: of a node in groups, and of nodes in a group."""

from msgspec.structs import replace

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.creation import create_group
from gitcfg.cli.configure.questions import Question, ask, find_name, unquote
from gitcfg.cli.nodes import expand_names, find_node
from gitcfg.compile.nodes import define_node
from gitcfg.edit.configure import Step
from gitcfg.edit.yaml.changes import Given
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe
from gitcfg.nodeset import fold

_NODES = Question(
    "Which nodes (Enter: none):",
    "Names of nodes, in node set notation: `web[01-20]`, or `web01,web07`. `show nodes` lists those here.",
)


def join(at: Conversation, text: str) -> bool:
    """Join a group, or let nodes join the group; return False if nothing was done."""
    if at.target.kind == "group":
        return _change_nodes(at, text, joins=True)
    _refuse_default(at, unquote(text))
    known = at.now.fleet.model.groups.keys() - {at.now.fleet.model.settings.default_group}
    number, _, rest = text.partition(" ")
    placed = number.isdecimal() and rest and text not in known
    name = find_name(at, "group", rest.strip() if placed else text, known, create_group)
    if name is None:
        return False
    _refuse_default(at, name)
    place = int(number) if placed else None
    if place is not None and place > len(_list_groups(at)):
        most = len(_list_groups(at))
        raise GitcfgError(f"There is no position {place}: the list has {most}.", "`j GROUP` adds at its end.")
    order = replace(at.target.order(at.now.fleet.model), at=place, add={"groups": (Given(name),)})
    words = f"join {name}" + ("" if place is None else f" at {place}")
    if at.do(Step(words, (order,))):
        at.talk.tell(f"joined {safe(name)}" + ("" if place is None else f" at {place}"), "green")
        return True
    at.talk.tell(f"The {safe(at.target.label)} is in {safe(name)} already.")
    return False


def leave_group(at: Conversation, text: str) -> bool:
    """Leave a group, or let nodes leave the group; return False if nothing was done."""
    if at.target.kind == "group":
        return _change_nodes(at, text, joins=False)
    _refuse_default(at, unquote(text))
    groups = _list_groups(at)
    if not groups:
        raise GitcfgError(f"The {at.target.label} is only in the default group, which has all nodes.")
    name = find_name(at, "group here", text, groups)
    if name is None:
        return False
    order = replace(at.target.order(at.now.fleet.model), remove={"groups": (Given(name),)})
    done = at.do(Step(f"leave {name}", (order,)))
    at.talk.tell(f"left {safe(name)}", "green")
    return done


def _list_groups(at: Conversation) -> tuple[str, ...]:
    """Return the groups that the node, or its set, lists; highest first."""
    fleet, target = at.now.fleet, at.target
    if target.kind == "node":
        found = fleet.roster.definition(target.name)
    else:
        found = define_node(None, fleet.model.nodesets[target.name])
    return tuple(ref.name for ref in found.groups)


def _change_nodes(at: Conversation, text: str, joins: bool) -> bool:
    """Let nodes join or leave the group: their own files, or their set's, list it."""
    _refuse_default(at, at.target.name)
    text = unquote(text) or ask(at, _NODES)
    if not text:
        return False
    known = at.now.fleet.roster.names()
    names = [find_node(known, name) for name in expand_names(at.now.fleet.model.settings.max_nodes, [text])]
    if not joins and (others := sorted(set(names) - set(at.now.nodes))):
        raise GitcfgError(f"{fold(others)} is not in the {at.target.label}.", "`show nodes` lists its nodes.")
    folded = fold(names)
    given = {"nodes": (Given(folded),)}
    order = replace(at.target.order(at.now.fleet.model), **{"add" if joins else "remove": given})
    if at.do(Step(f"{'join' if joins else 'leave'} {folded}", (order,))):
        at.talk.tell(f"{safe(folded)} {'joined' if joins else 'left'} the group", "green")
        return True
    at.talk.tell(f"{safe(folded)} is in the group already.")
    return False


def _refuse_default(at: Conversation, group: str) -> None:
    if group == at.now.fleet.model.settings.default_group:
        raise GitcfgError(f"All nodes are in the group {safe(group)}: they cannot join or leave it.")
