"""How rules stand, for eyes."""

from collections.abc import Sequence

from rich.text import Text

from gitcfg.cli.ruling.rows import _describe_rule
from gitcfg.cli.session import Session
from gitcfg.cli.trails import aligned, placed
from gitcfg.model.rules import Rule
from gitcfg.model.text import safe
from gitcfg.solve.fleet.slack import Tight


def print_rules(session: Session, found: Sequence[Tight], *, whole: bool) -> None:
    """Write them; `whole`: with their descriptions and groups."""
    console = session.console()
    for one in found:
        console.print(_headline(one))
        if whole and one.rule.description:
            console.print(Text(f"  {safe(one.rule.description)}", "italic"))
        said = _describe_rule(one, whole=whole)
        for line in aligned([(Text(f"  {safe(label)}", "cyan"), Text(safe(text))) for label, text in said]):
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
    return rule.feature.name if rule.feature is not None else ", ".join((*rule.params, *rule.domains))
