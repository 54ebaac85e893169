"""`gitcfg solve`: decide where rules place features and which values nodes get, and write allocations."""

from typing import Annotated

import typer
from msgspec.structs import replace

from gitcfg.cli import edits as editing
from gitcfg.cli.decisions import decision_to_json, print_decision
from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.records import Items
from gitcfg.cli.session import Output, Session
from gitcfg.edit.decision import Decision, decide_worktree

EPILOG = """Existing decisions change as little as possible. Exit code 1: no solution, or it would add errors.

Examples:

  gitcfg solve --dry-run                        what would be decided

  gitcfg solve && git add -A && git commit      the decision and its reasons

  gitcfg solve --dry-run -o json"""
_DRY_RUN = typer.Option("--dry-run", help="Show the decisions, and write nothing.")


@command(EPILOG, Items("gitcfg.solve/1", "changes", "decision"))
def solve(
    context: typer.Context,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Choose what rules leave open, and write the decisions to allocations/."""
    session: Session = context.obj
    found: list[Decision] = []

    def show(decision: Decision) -> None:
        found.append(decision)
        if output is Output.TEXT:
            print_decision(session, decision)

    if dry_run:
        source = session.open()
        with source.worktree() as fleet:
            show(decide_worktree(fleet.compiled.model, fleet.compiled.tree, source.today))
        done = editing.EditResult({}, refused=not found[0].holds)
    else:
        options = editing.make_options(force, commit, message, "Decide what rules leave open", solve=True)
        done = editing.try_edit(session, lambda draft: None, options, show)
    if output is Output.TEXT and not done.files:
        return done.code  # the printed decision says so
    done = replace(done, decision=None)  # the record has the decision itself
    return editing.write_result(session, done, output, decision_to_json(found[0]), "gitcfg.solve/1")
