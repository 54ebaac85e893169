"""`gitcfg may`: who may change what."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session, write
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.gate.permits.judge import Answer

_WHAT = "KIND/NAME (feature, param, ..., as in rules), a path on nodes, or a file of the repository."
EPILOG = """Examples:

  gitcfg may ann@example.org feature/ExecuteNode      may she change it, and by which rule?

  gitcfg may bob /etc/motd --at main                  a file on nodes, as the server would judge it

  gitcfg may ci@example.org groups/default.yaml       all that a file of the repository contains"""


@command(EPILOG, Items("gitcfg.may/1", "answers", "permit"))
def may(
    context: typer.Context,
    who: Annotated[str, typer.Argument(help="The name of the signer, or of the person who pushes.")],
    what: Annotated[str, typer.Argument(help=_WHAT)],
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show whether a person may change something, and which rule decides. Exits 1 if not."""
    from gitcfg.gate.permits.judge import answers_to_json, describe_unknown, find_answers

    session: Session = context.obj
    with session.fleet(at) as fleet:
        found = find_answers(fleet.tree, who, what)
        commit = fleet.commit
        doubts = [describe_unknown(fleet.model, answer.thing) for answer in found]
    for doubt in filter(None, doubts):
        session.console(stderr=True).print(f"note: {safe(doubt)}")
    if output is Output.TEXT:
        write("".join(f"{safe(_format_answer(who, answer))}\n" for answer in found))
    else:
        write_record(answers_to_json(commit, who, found), output)
    return int(not all(answer.may for answer in found))


def _format_answer(who: str, answer: "Answer") -> str:
    from gitcfg.gate.permits.judge import describe_rules, describe_thing

    why = "no rule forbids it"
    if answer.rules:
        why = describe_rules(answer.rules, answer.thing)
    return f"{who} {'may' if answer.may else 'may not'} change {describe_thing(*answer.thing)}: {why}."
