"""`gitcfg rules`: what rules are about, how much room they leave, and which are never in force."""

from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError

EPILOG = """Places that could take a feature as well are those where nothing forbids it; limits are not asked.

Examples:

  gitcfg rules

  gitcfg rules two-dhcp-per-subnet              one of them, with its groups

  gitcfg rules -o json"""

_NAME = typer.Argument(help="A rule; else all.", metavar="NAME")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    name: Annotated[str | None, _NAME] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> None:
    """List rules: what they are about, how much room they leave, and which are never in force."""
    from gitcfg.cli.ruling.told import print_rules
    from gitcfg.compile.rules.slots import ruled
    from gitcfg.solve.fleet.slack import tight

    session: Session = context.obj
    with session.fleet(None) as fleet:
        known = fleet.compiled.model.rules
        if name is not None and name not in known:
            from gitcfg.model.names import did_you_mean, shown

            raise GitcfgError(f"There is no rule {shown(name)}.", did_you_mean(name, known))
        asked = ruled(fleet.compiled)
        names = sorted(known) if name is None else [name]
        found = [tight(asked, known[each]) for each in names] if asked is not None else []
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record
        from gitcfg.cli.ruling.record import rules_to_json

        write_record(rules_to_json(found), output)
    else:
        print_rules(session, found, whole=name is not None)
