"""`gitcfg rules`: the subjects of rules, their remaining choices, and rules that never apply."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer
from rich.text import Text

from gitcfg.cel import plain_key
from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned, as_text, place_text
from gitcfg.explain.trail import nodes_record, origin_record
from gitcfg.model import GitcfgError
from gitcfg.model.rules import Count, Rule, RuleKind
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged
from gitcfg.solve.fleet.slack import Group, RuleSlack

EPILOG = """"could take it" counts the nodes on which nothing forbids the feature, regardless of limits.

Examples:

  gitcfg rules

  gitcfg rules two-dhcp-per-subnet              one of them, with its groups

  gitcfg rules -o json"""
_NAME = typer.Argument(help="A rule; default: all.", metavar="NAME")


@command(EPILOG, Items("gitcfg.rules/1", "rules", "rule"))
def rules(
    context: typer.Context, name: Annotated[str | None, _NAME] = None, output: OutputOption = Output.TEXT
) -> None:
    """List rules: their subjects, how many choices they leave, and which rules never apply."""
    from gitcfg.compile.rules.slots import view_rules
    from gitcfg.solve.fleet.slack import measure_slack

    session: Session = context.obj
    with session.fleet(None) as fleet:
        known = fleet.compiled.model.rules
        if name is not None and name not in known:
            from gitcfg.model.names import did_you_mean, shown

            raise GitcfgError(f"There is no rule {shown(name)}.", did_you_mean(name, known))
        view = view_rules(fleet.compiled)
        names = sorted(known) if name is None else [name]
        found = [measure_slack(view, known[each]) for each in names] if view is not None else []
    if output is not Output.TEXT:
        write_record({"schema": "gitcfg.rules/1", "rules": [_rule_to_json(one) for one in found]}, output)
    else:
        print_rules(session, found, whole=name is not None)


def _rule_to_json(one: RuleSlack) -> Record:
    rule = one.rule
    return {
        "name": rule.name,
        "kind": rule.kind.value,
        "description": rule.description,
        "feature": rule.feature.name if rule.feature is not None else None,
        "over": rule.over.name if rule.over is not None else None,
        "in_force": one.in_force,
        **nodes_record(one.nodes, folded=False),
        "slots": one.slots,
        "least": rule.count.least if rule.count is not None else None,
        "most": rule.count.most if rule.count is not None else None,
        "groups": [
            {
                "key": plain_key(group.key),
                "slots": list(group.slots),
                "placed": list(group.placed),
                "able": list(group.able),
            }
            for group in one.groups
        ],
        "domains": [
            {"param": room.param, "values": room.values, "size": room.size, "free": room.size - room.used}
            for room in one.rooms
        ],
        "failed": list(one.failed),
        "origin": origin_record(rule.origin),
    }


def print_rules(session: Session, found: Sequence[RuleSlack], *, whole: bool) -> None:
    """Print rules; `whole`: with their descriptions and groups."""
    console = session.console()
    for one in found:
        rule = one.rule
        about = rule.feature.name if rule.feature is not None else ", ".join((*rule.params, *rule.domains))
        what = f"{rule.kind.value} {safe(about)}".rstrip()
        never = "" if one.in_force else "  never applies"
        head = Text.assemble((safe(rule.name), "bold"), f"  {what}  ", place_text(rule.origin))
        console.print(head + Text(never, "yellow"))
        if whole and rule.description:
            console.print(Text(f"  {safe(rule.description)}", "italic"))
        rows = _describe_rule(one, whole=whole)
        for line in aligned([(Text(f"  {safe(label)}", "cyan"), Text(safe(text))) for label, text in rows]):
            console.print(line)
    if not found:
        session.console(stderr=True).print("There are no rules.")


def _describe_rule(one: RuleSlack, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield labels and texts for the lines below a rule's headline; `whole`: with its groups."""
    rule = one.rule
    if rule.permit is not None:
        for what, refs in {"by": rule.permit.by, **rule.permit.things()}.items():
            if refs:
                yield what, ", ".join(ref.name for ref in refs)
        if not rule.permit.inherit:
            yield "inherit", "no"
    yield from _describe_scope(one)
    if rule.count is not None:
        yield from _describe_count(one, rule.count)
    for room in one.rooms:
        yield room.param, f"{counted(room.size, 'value')}, {room.size - room.used} free: {room.values}"
    if one.failed:
        yield "condition fails", f"on {abridged(one.failed, IN_JSON)}"
    if whole and rule.per is not None:
        for group in one.groups:
            yield f"  {as_text(plain_key(group.key))}", _format_members(rule, group)


def _describe_scope(one: RuleSlack) -> Iterator[tuple[str, str]]:
    """Yield the subjects of a rule, and the invariant for them."""
    rule = one.rule
    if one.nodes:
        yield "for", f"{counted(len(one.nodes), 'node')}: {abridged(one.nodes, IN_JSON)}"
    if rule.over is not None:
        yield "instances", f"{one.slots} of {rule.over.name}"
    if rule.require is not None:
        yield "must hold", " ".join(rule.require.name.split())
    if rule.message:
        yield "else", rule.message
    if rule.per is not None:
        yield "groups", str(len(one.groups))


def _describe_count(one: RuleSlack, count: Count) -> Iterator[tuple[str, str]]:
    each = " a group" if one.rule.per is not None else ""
    placing = one.rule.kind is RuleKind.INSTALL
    yield "wanted" if placing else "allowed", f"{count}{each}"
    yield "installed", _format_slots(one, (slot for group in one.groups for slot in group.placed))
    if placing:
        able = (slot for group in one.groups for slot in group.able)
        yield "could take it", _format_slots(one, able, " more")
        if each and (short := sum(len(group.placed) < count.least for group in one.groups)):
            yield "too few in", counted(short, "group")
    elif each and count.most is not None:
        full = sum(len(group.placed) >= count.most for group in one.groups)
        yield "full", f"{full} of {counted(len(one.groups), 'group')}"


def _format_slots(one: RuleSlack, slots: Iterable[str], more: str = "") -> str:
    """Return the number of slots and, without groups, their names."""
    found = tuple(slots)
    where = f": {abridged(dict.fromkeys(found), IN_JSON)}" if found and one.rule.per is None else ""
    return f"{len(found)}{more}{where}"


def _format_members(rule: Rule, group: Group) -> str:
    if rule.count is None:
        return abridged(group.slots, IN_JSON)
    there = abridged(dict.fromkeys(group.placed), IN_JSON) or "nowhere"
    if rule.kind is RuleKind.LIMIT:
        return f"{there}, of {abridged(group.slots, IN_JSON)}"
    return f"{there}; could be on {abridged(group.able, IN_JSON)}" if group.able else f"{there}; nowhere else"
