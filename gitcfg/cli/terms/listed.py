"""`list` of holds and overrides: for whom, until when, why, and what they do there."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.model.delivery import SOON
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.explain.show import Standing
    from gitcfg.library import Fleet, Source

_LIST_EPILOG = """Examples:

  gitcfg {term} list

  gitcfg {term} list -o json

  gitcfg --today 2027-01-01 {term} list         how it will stand then"""


def list_command(term: str) -> Callable[..., None]:
    """The command that tells all of them."""

    def command(
        context: typer.Context,
        output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    ) -> None:
        session: Session = context.obj
        source = session.open()
        with source.worktree() as fleet:
            found = list(_find_terms(source, fleet, term))
        if output is not Output.TEXT:
            from gitcfg.cli.records import write_record
            from gitcfg.explain.show import standing_record

            write_record(standing_record(f"gitcfg.{term}s/1", f"{term}s", found), output)
            return
        console = session.console()
        for line in _format_terms(found):
            console.print(line)
        if not found:
            session.console(stderr=True).print(f"There is no {term}.")

    return command


def _find_terms(source: "Source", fleet: "Fleet", term: str) -> "Iterator[Standing]":
    from gitcfg.explain.show import holds, overrides

    if term == "override":
        return overrides(fleet.compiled)

    def subject(commit: str) -> str | None:
        from gitcfg.git.history import History

        repository = source.repository
        if not repository.knows(commit):
            return None
        return History(repository).about(str(repository.commit(commit).id)).subject

    return holds(fleet.compiled, subject)


def _format_terms(found: "Iterable[Standing]") -> "Iterator[Text]":
    from rich.text import Text

    from gitcfg.cli.trails import aligned

    for one in found:
        style = "red" if one.days is None or one.days < 0 else "yellow" if one.days <= SOON.days else ""
        end = "its end cannot be read" if one.days is None else _format_end(one)
        yield Text.assemble((safe(one.name), "bold"), "  ", (end, style))
        rows = [(Text(f"  {label}", "cyan"), Text(said)) for label, said in _describe_term(one) if said]
        yield from aligned(rows)


def _format_end(one: "Standing") -> str:
    """When it ends, or has ended; an override that has still applies."""
    days = one.days or 0
    if days >= 0:
        left = f"{counted(days, 'day')} left" if days else "the last day"
        return f"until {one.until}, {left}"
    ended = f"{counted(-days, 'day')} ago"
    if "commit" in one.does:
        return f"ended on {one.until}, {ended}"
    return f"overdue since {one.until}, {ended}, and still applies"


def _describe_term(one: "Standing") -> Iterator[tuple[str, str]]:
    from gitcfg.model.nodeset import IN_JSON, abridged

    named = f": {safe(abridged(one.nodes, IN_JSON))}" if one.nodes else ""
    yield "nodes", f"{counted(len(one.nodes), 'node')}{named}"
    yield "where", safe(one.where or "")
    yield "reason", safe(" ".join(one.reason.split()))
    for label, said in one.does.items():
        if label == "commit":
            subject = one.does["subject"]
            yield label, f"{safe(said[:ABBREVIATED])} {safe(subject) if subject else '(not here)'}"
        elif label != "subject":
            yield label, _listed(said)


def _listed(said: Any) -> str:
    return safe(", ".join(said))
