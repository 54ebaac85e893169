"""`gitcfg explain`: why a node has what it has."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown

if TYPE_CHECKING:
    from gitcfg.explain.trail import Blamer
    from gitcfg.library import Fleet, Node

EPILOG = """Examples:

  gitcfg explain exec001.example.com START --all    the steps that led to the value, and those overridden

  gitcfg explain exec001.example.com START --blame  ... with the commit that made each step so

  gitcfg explain exec001.example.com --feature GpuNode --file /etc/motd --at main -o json"""

_FEATURE = typer.Option(help="Why it has this feature, or has not.", metavar="NAME")
_FILE = typer.Option(help="Which layer decides about this file.", metavar="PATH")
_GROUP = typer.Option(help="Why it is in this group, or is not.", metavar="NAME")


@command(
    EPILOG,
    Items("gitcfg.trail/1", "params", "param"),
    Items("gitcfg.why/1", "answers", "answer"),
)
def explain(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="The node.")],
    params: Annotated[list[str] | None, typer.Argument(help="Parameters; without any, all of them.")] = None,
    feature: Annotated[list[str] | None, _FEATURE] = None,
    file: Annotated[list[str] | None, _FILE] = None,
    group: Annotated[list[str] | None, _GROUP] = None,
    at: AtOption = None,
    all_: Annotated[bool, typer.Option("--all", help="What was overridden, too.")] = False,
    blame: Annotated[bool, typer.Option("--blame", help="Who made each step so.")] = False,
    output: OutputOption = Output.TEXT,
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
        _require_node(fleet, node)
        blamer = session.open().blamer(at) if blame else None
        if questions:
            _write_answers(session, fleet, fleet[node], questions, blamer, output)
        else:
            from gitcfg.cli.trails import TrailOptions, write_trails

            alone = fleet.valued([node])
            for name in params or ():
                _require_parameter(alone, alone[node], name)
            write_trails(session, alone, alone[node], TrailOptions(tuple(params or ()), all_, blamer, output))
    return 0


def _require_node(fleet: "Fleet", name: str) -> None:
    if name not in fleet:
        raise GitcfgError(f"There is no node {shown(name)}.", did_you_mean(name, fleet))


def _require_parameter(fleet: "Fleet", node: "Node", name: str) -> None:
    if node.explain(name) or fleet.compiled.declarations.find(name):
        return
    known = {*fleet.compiled.model.parameters, *node.params}
    raise GitcfgError(f"There is no parameter {shown(name)}.", did_you_mean(name, known))


def _write_answers(
    session: Session,
    fleet: "Fleet",
    node: "Node",
    questions: Iterable[tuple[str, str]],
    blamer: "Blamer | None",
    output: Output,
) -> None:
    """Write why a node has features, files or groups: a question is one of these words and a name."""
    from gitcfg.explain.trail import view_from
    from gitcfg.explain.why import Answer, why_feature, why_file, why_group, why_record

    compiled, answers = fleet.compiled, list[Answer]()
    for kind, name in questions:
        if kind == "file":
            answers.append(why_file(compiled, compiled[node.name], name, fleet.engine))
        elif kind == "group":
            answers.append(why_group(compiled, compiled[node.name], name))
        else:
            answers.append(why_feature(compiled, compiled[node.name], name))
    if output is not Output.TEXT:
        write_record(why_record(fleet.commit, node.name, answers, blamer), output)
        return
    from gitcfg.cli.reasons import Reasons

    console = session.console()
    reasons = Reasons(view_from(compiled, node.name), blamer)
    for found in answers:
        for line in reasons.of(found):
            console.print(line)
