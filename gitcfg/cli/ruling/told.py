"""How rules stand, for eyes."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gitcfg.cel import plain_key
from gitcfg.cli.plain import counted, safe
from gitcfg.cli.session import Session
from gitcfg.cli.trails import aligned, as_text, placed
from gitcfg.model.rules import Count, Rule, RuleKind
from gitcfg.nodeset import fold
from gitcfg.solve.fleet.tight import Group, Tight


def show(session: Session, found: Sequence[Tight], *, whole: bool) -> None:
    """Write them; `whole`: with their groups."""
    console = session.console()
    for one in found:
        console.print(_headline(one))
        rows = [*_rows(one), *(_groups(one) if whole else ())]
        for line in aligned([(Text(f"  {safe(label)}", "cyan"), Text(said)) for label, said in rows]):
            console.print(line)
    if not found:
        session.console(stderr=True).print("There is no rule.")


def _headline(one: Tight) -> Text:
    never = "" if one.in_force else "  never in force"
    what = f"{one.rule.kind.value} {safe(_about(one.rule))}".rstrip()
    return Text.assemble(
        (safe(one.rule.name), "bold"), f"  {what}  ", placed(one.rule.origin), (never, "yellow")
    )


def _about(rule: Rule) -> str:
    if rule.feature is not None:
        return rule.feature.name
    return ", ".join((*rule.params, *rule.domains)) or rule.message


def _rows(one: Tight) -> Iterator[tuple[str, str]]:
    if one.nodes:
        yield "nodes", f"{counted(len(one.nodes), 'node')}: {safe(fold(one.nodes))}"
    if one.rule.over is not None:
        yield "instances", f"{one.slots} of {safe(one.rule.over.name)}"
    if one.rule.per is not None:
        yield "groups", str(len(one.groups))
    if one.rule.count is not None:
        yield "wanted", f"{_wanted(one.rule.count)}{' a group' if one.rule.per is not None else ''}"
        if one.rule.kind is RuleKind.INSTALL:
            yield "placed", str(sum(len(group.placed) for group in one.groups))
            yield "could take it", f"{sum(len(group.able) for group in one.groups)} more"
    for room in one.rooms:
        yield (
            f"{room.param}",
            f"{counted(room.size, 'value')}, {room.size - room.used} free: {safe(room.values)}",
        )
    if one.failed:
        yield "cannot be asked", f"on {safe(fold(one.failed))}"


def _wanted(count: Count) -> str:
    if count.most is None:
        return f"at least {count.least}"
    return str(count.least) if count.least == count.most else f"{count.least} to {count.most}"


def _groups(one: Tight) -> Iterator[tuple[str, str]]:
    for group in one.groups if one.rule.per is not None else ():
        yield f"  {_key(group)}", _members(one.rule, group)


def _key(group: Group) -> str:
    return as_text(plain_key(group.key))


def _members(rule: Rule, group: Group) -> str:
    if rule.kind is not RuleKind.INSTALL:
        return safe(fold(group.slots))
    there = safe(fold(group.placed)) or "nowhere"
    return f"{there}; could be on {safe(fold(group.able))}" if group.able else f"{there}; nowhere else"
