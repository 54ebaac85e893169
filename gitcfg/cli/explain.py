"""`gitcfg explain`: why a node has what it has."""

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.explain.trail import Blamer, viewpoint
from gitcfg.explain.why import Answer, why_feature, why_file, why_group, why_record
from gitcfg.library import Fleet, Node
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown

EPILOG = """Examples:

  gitcfg explain exec001.example.com START --all    the steps that led to the value, and those overridden

  gitcfg explain exec001.example.com START --blame  ... with the commit that made each step so

  gitcfg explain exec001.example.com --feature GpuNode --file /etc/motd --at main -o json"""

_REV = typer.Option(help="A commit instead of the work tree.", metavar="REV")
_FEATURE = typer.Option(help="Why it has this feature, or has not.", metavar="NAME")
_FILE = typer.Option(help="Which layer decides about this file.", metavar="PATH")
_GROUP = typer.Option(help="Why it is in this group, or is not.", metavar="NAME")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="The node.")],
    params: Annotated[list[str] | None, typer.Argument(help="Parameters; without any, all of them.")] = None,
    feature: Annotated[list[str] | None, _FEATURE] = None,
    file: Annotated[list[str] | None, _FILE] = None,
    group: Annotated[list[str] | None, _GROUP] = None,
    at: Annotated[str | None, _REV] = None,
    all_: Annotated[bool, typer.Option("--all", help="What was overridden, too.")] = False,
    blame: Annotated[bool, typer.Option("--blame", help="Who made each step so.")] = False,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Show which layers a node's values come from, or why it has a feature, a file or a group."""
    session: Session = context.obj
    questions = [("feature", name) for name in feature or ()]
    questions += [("file", path) for path in file or ()]
    questions += [("group", name) for name in group or ()]
    if questions and params:
        what = "Parameters do not go together with --feature, --file and --group."
        raise GitcfgError(what, "Ask for them by themselves.")
    with session.fleet(at) as fleet:
        _exists(fleet, node)
        blamer = session.open().blamer(at) if blame else None
        if questions:
            write_answers(session, fleet, fleet[node], questions, blamer, output)
        else:
            from gitcfg.cli.trails import TrailOptions, write_trails

            alone = fleet.valued([node])
            for name in params or ():
                _known(alone, alone[node], name)
            write_trails(session, alone, alone[node], TrailOptions(tuple(params or ()), all_, blamer, output))
    return 0


def _exists(fleet: Fleet, name: str) -> None:
    if name not in fleet:
        raise GitcfgError(f"There is no node {shown(name)}.", did_you_mean(name, fleet))


def _known(fleet: Fleet, node: Node, name: str) -> None:
    if node.explain(name) or fleet.compiled.declarations.find(name):
        return
    known = {*fleet.compiled.model.parameters, *node.params}
    raise GitcfgError(f"There is no parameter {shown(name)}.", did_you_mean(name, known))


# Answers to why a node has a feature, a file or a group: found, and written.

Question = tuple[str, str]
"""What is asked about, and its name."""

_ASK: dict[str, Callable[..., Answer]] = {"feature": why_feature, "group": why_group}


def write_answers(
    session: Session,
    fleet: Fleet,
    node: Node,
    questions: Iterable[Question],
    blamer: Blamer | None,
    output: Output,
) -> None:
    """Write the answers to questions about a node."""
    answers = [_answer(fleet, node.name, *question) for question in questions]
    if output is not Output.TEXT:
        write_record(why_record(fleet.commit, node.name, answers, blamer), output)
        return
    from gitcfg.cli.reasons import Reasons

    console = session.console()
    reasons = Reasons(viewpoint(fleet.compiled, node.name), blamer)
    for found in answers:
        for line in reasons.of(found):
            console.print(line)


def _answer(fleet: Fleet, node: str, kind: str, name: str) -> Answer:
    compiled = fleet.compiled
    if kind == "file":
        return why_file(compiled, compiled[node], name, fleet.engine)
    return _ASK[kind](compiled, compiled[node], name)
