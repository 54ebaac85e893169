"""`gitcfg hold` and `gitcfg override`: definitions for some nodes until the end of a day."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import edits as editing
from gitcfg.cli.declaration import Command, Group, OutputOption, WhereOption, command
from gitcfg.cli.edits import with_options
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.model.delivery import SOON
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.edit.orders import Term
    from gitcfg.explain.show import TermSummary
    from gitcfg.library import Fleet, Source


_HOLD_EPILOG = """\
What a hold is about runs that commit until its last day has passed; then a server lets go of it.

Examples:

  gitcfg hold add dimm exec042 --commit-id HEAD~3 --until 2027-01-15 --reason 'bad DIMM, ticket 4711'

  gitcfg hold add freeze @rack3 --commit-id v4 --until 2026-12-31 --reason 'a run of 5 weeks' --commit

  gitcfg hold add ssds --where '"ssd" in node.labels' --commit-id main --until 2026-12-31 --reason 'a test'"""
_OVERRIDE_EPILOG = """Values are YAML, as in the file. An override has the highest priority.

Examples:

  gitcfg override add dimm exec042 --set START=FALSE --until 2027-01-15 --reason 'bad DIMM, ticket 4711'

  gitcfg override add no-gpus @rack3 --without GpuNode --until 2026-12-31 --reason 'new drivers' --commit

  gitcfg override add try --where '"ssd" in node.labels' --feature Lab --until 2026-12-31 --reason 'a test'"""
_EPILOGS = {
    "list": """Examples:

  gitcfg {term} list

  gitcfg {term} list -o json

  gitcfg --today 2027-01-01 {term} list         the state on that day""",
    "lift": """Examples:

  gitcfg {term} lift dimm

  gitcfg {term} lift dimm freeze --commit -m 'Both are repaired'

  gitcfg {term} lift old --force                even if this adds errors""",
    "expire": """Nothing is removed on its last day, only after it.

Examples:

  gitcfg {term} expire

  gitcfg {term} expire --commit

  gitcfg --today 2027-01-01 {term} expire       those that will have ended by then""",
}
_HELP = {
    "hold": {
        "": "Keep nodes at a commit until a date.",
        "list": "List all holds, with the time left.",
        "lift": "Remove holds before their end.",
        "expire": "Remove the holds whose last day has passed.",
    },
    "override": {
        "": "Override features, parameters and files of some nodes until a date.",
        "list": "List all overrides, with the time left.",
        "lift": "Remove overrides before their end.",
        "expire": "Remove the overrides whose last day has passed. Until you do, they still apply.",
    },
}

_Name = Annotated[str, typer.Argument(help="The name of the new hold or override.", metavar="NEW")]
_Nodes = Annotated[
    list[str] | None, typer.Argument(help="Nodes: names, exec[001-100], @group.", metavar="NODES")
]
_UntilDay = Annotated[str, typer.Option(help="The last day on which it applies.", metavar="YYYY-MM-DD")]
_Reason = Annotated[str, typer.Option(help="The reason.", metavar="TEXT")]
_COMMIT = typer.Option("--commit-id", help="The commit that the nodes keep.", metavar="REV")
_OVERRIDE_OPTIONS = [
    option
    for option in editing.OPTIONS
    if option.key in ("features", "without", "params", "files")
    and option.part in (editing.Part.ADD, editing.Part.PUT)
]


@command(_HOLD_EPILOG, editing.EDIT)
def add_hold(
    context: typer.Context,
    name: _Name,
    nodes: _Nodes = None,
    *,
    revision: Annotated[str, _COMMIT],
    until: _UntilDay,
    reason: _Reason,
    where: WhereOption = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Keep nodes at a commit until the end of a day."""
    from gitcfg.edit.orders import Action, Order, TermEnd, begin_term, parse_last_day, parse_scope
    from gitcfg.edit.yaml.changes import Given

    session: Session = context.obj
    source = session.open()
    order = Order(Action.NEW, "hold", name, fields={"commit": Given(_full_commit(session, source, revision))})
    with source.worktree() as fleet:
        scope = parse_scope(fleet.model, nodes or (), where)
        selection = fleet.compiled.select(str(scope["where"].meaning)) if "where" in scope else None
        if selection is not None and selection.problem is None and not selection.names:
            text = "warning: No node matches the condition, so the hold has no effect yet."
            session.console(stderr=True).print(text, style="yellow")
    order = begin_term(order, scope, TermEnd(parse_last_day(until), reason), source.today)
    options = editing.make_options(force, commit, message, f"Add hold {name}: {reason}", output=output)
    return editing.carry_out_orders(session, [order], options)


def _full_commit(session: Session, source: "Source", revision: str) -> str:
    """Return the full id of a commit. Raise GitcfgError if it is not here, or is not a commit of gitcfg's."""
    from gitcfg.git.history import History
    from gitcfg.load.repository import settings_entry

    tree = source.repository.at(revision)
    settings_entry(tree)
    assert tree.commit is not None
    history = History(source.repository)
    if not history.includes(str(source.repository.commit("HEAD").id), tree.commit):
        text = "note: HEAD is not a descendant of that commit; servers have what a protected ref reaches."
        session.console(stderr=True).print(text)
    return tree.commit


@command(_OVERRIDE_EPILOG, editing.EDIT)
@with_options(_OVERRIDE_OPTIONS)
def add_override(
    context: typer.Context,
    name: _Name,
    nodes: _Nodes = None,
    *,
    until: _UntilDay,
    reason: _Reason,
    where: WhereOption = None,
    force: editing.Force = False,
    solve: editing.Solve = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
    **texts: editing.Texts,
) -> int:
    """Override features, parameters and files of some nodes until the end of a day."""
    from gitcfg.edit.orders import Action, Order, TermEnd, begin_term, parse_last_day, parse_scope

    session: Session = context.obj
    source = session.open()
    order = editing.fill_order(Order(Action.NEW, "override", name), None, texts)
    with source.worktree() as fleet:
        scope = parse_scope(fleet.model, nodes or (), where)
    order = begin_term(order, scope, TermEnd(parse_last_day(until), reason), source.today)
    options = editing.make_options(force, commit, message, f"Add override {name}: {reason}", solve, output)
    return editing.carry_out_orders(session, [order], options)


def list_command(term: str) -> Callable[..., None]:
    """Return the command that lists all holds, or all overrides."""

    def command(context: typer.Context, output: OutputOption = Output.TEXT) -> None:
        session: Session = context.obj
        source = session.open()
        with source.worktree() as fleet:
            found = list(_find_terms(source, fleet, term))
        if output is not Output.TEXT:
            from gitcfg.explain.show import terms_record

            write_record(terms_record(f"gitcfg.{term}s/1", f"{term}s", found), output)
            return
        console = session.console()
        for line in _format_terms(found):
            console.print(line)
        if not found:
            session.console(stderr=True).print(f"There are no {term}s.")

    return command


def _find_terms(source: "Source", fleet: "Fleet", term: str) -> "Iterator[TermSummary]":
    from gitcfg.explain.show import list_holds, list_overrides

    if term == "override":
        return list_overrides(fleet.compiled)

    def subject(commit: str) -> str | None:
        from gitcfg.git.history import History

        repository = source.repository
        if not repository.knows(commit):
            return None
        return History(repository).about(str(repository.commit(commit).id)).subject

    return list_holds(fleet.compiled, subject)


def _format_terms(found: "Iterable[TermSummary]") -> "Iterator[Text]":
    from rich.text import Text

    from gitcfg.cli.trails import aligned

    for one in found:
        style = "red" if one.days is None or one.days < 0 else "yellow" if one.days <= SOON.days else ""
        end = "its end is invalid" if one.days is None else _format_end(one)
        yield Text.assemble((safe(one.name), "bold"), "  ", (end, style))
        rows = [(Text(f"  {label}", "cyan"), Text(text)) for label, text in _describe_term(one) if text]
        yield from aligned(rows)


def _format_end(one: "TermSummary") -> str:
    """Format when a term ends, or has ended; an override that has ended still applies."""
    days = one.days or 0
    if days >= 0:
        left = f"{counted(days, 'day')} left" if days else "the last day"
        return f"until {one.until}, {left}"
    ended = f"{counted(-days, 'day')} ago"
    if "commit" in one.does:
        return f"ended on {one.until}, {ended}"
    return f"overdue since {one.until}, {ended}, and still applies"


def _describe_term(one: "TermSummary") -> Iterator[tuple[str, str]]:
    from gitcfg.nodeset import IN_JSON, abridged

    named = f": {safe(abridged(one.nodes, IN_JSON))}" if one.nodes else ""
    yield "nodes", f"{counted(len(one.nodes), 'node')}{named}"
    yield "where", safe(one.where or "")
    yield "reason", safe(" ".join(one.reason.split()))
    for label, value in one.does.items():
        if label == "commit":
            subject = one.does["subject"]
            yield label, f"{safe(value[:ABBREVIATED])} {safe(subject) if subject else '(not here)'}"
        elif label != "subject":
            yield label, safe(", ".join(value))


def lift_command(term: str) -> Callable[..., int]:
    """Return the command that removes terms by name."""

    def command(
        context: typer.Context,
        names: Annotated[list[str], typer.Argument(help="The names.", metavar=f"{term.upper()}...")],
        force: editing.Force = False,
        commit: editing.Commit = False,
        message: editing.Message = None,
        output: OutputOption = Output.TEXT,
    ) -> int:
        from gitcfg.edit.orders import Term

        subject = f"Lift {term} {', '.join(names)}"
        options = editing.make_options(force, commit, message, subject, output=output)
        return _lift(context.obj, Term(term), tuple(names), options)

    return command


def expire_command(term: str) -> Callable[..., int]:
    """Return the command that removes terms past their end."""

    def command(
        context: typer.Context,
        force: editing.Force = False,
        commit: editing.Commit = False,
        message: editing.Message = None,
        output: OutputOption = Output.TEXT,
    ) -> int:
        from gitcfg.edit.orders import Term, find_expired

        session: Session = context.obj
        with session.fleet(None) as fleet:
            names = find_expired(fleet.model, Term(term), session.open().today)
        if not names and output is Output.TEXT:
            session.console(stderr=True).print(f"No {term} has ended.")
            return 0
        options = editing.make_options(force, commit, message, f"Lift {term}s past their end", output=output)
        return _lift(session, Term(term), names, options)

    return command


def _lift(session: Session, term: "Term", names: tuple[str, ...], options: editing.EditOptions) -> int:
    """Remove holds or overrides; for overrides, show the configuration of nodes without them."""
    from gitcfg.cli import changes
    from gitcfg.comparison.change import changes_to_json
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.orders import Term, carry_out, lift_terms
    from gitcfg.library import Fleet, compare

    orders = lift_terms(term, names)
    if term is Term.HOLD:
        return editing.carry_out_orders(session, orders, options)
    source = session.open()
    with source.worktree() as old:
        draft = Draft(old.tree, source.cache)
        carry_out(draft, orders)
        with Fleet(draft.tree, None, source.today, source.cache) as new:
            found = compare(old, new)
            facts = {"changes": changes_to_json(found)}
            if options.output is Output.TEXT:
                changes.print_changes(session.console(), found, stat=True, files=False)
                changes.print_reach(session.console(stderr=True), found)
    return editing.carry_out_orders(session, orders, options, facts)


def _group(term: str, add: Command) -> Group:
    """Return the commands of holds, or those of overrides."""
    commands = {"add": add}
    listed = Items(f"gitcfg.{term}s/1", f"{term}s", term)
    for verb, make in (("list", list_command), ("lift", lift_command), ("expire", expire_command)):
        declare = command(_EPILOGS[verb].format(term=term), listed if verb == "list" else editing.EDIT)
        commands[verb] = declare(make(term))._replace(help=_HELP[term][verb])
    return Group(_HELP[term][""], commands)


hold = _group("hold", add_hold)
override = _group("override", add_override)
