"""Answers to why a node has a feature, a file or a group: found, and written."""

from collections.abc import Callable, Iterable

from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.explain.trail import Blamer, view_from
from gitcfg.explain.why import Answer, why_feature, why_file, why_group, why_record
from gitcfg.library import Fleet, Node

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
    reasons = Reasons(view_from(fleet.compiled, node.name), blamer)
    for found in answers:
        for line in reasons.of(found):
            console.print(line)


def _answer(fleet: Fleet, node: str, kind: str, name: str) -> Answer:
    compiled = fleet.compiled
    if kind == "file":
        return why_file(compiled, compiled[node], name, fleet.engine)
    return _ASK[kind](compiled, compiled[node], name)
