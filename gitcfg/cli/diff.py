"""`gitcfg diff`: the changes on nodes, and the actions due there."""

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli.declaration import FoldedOption, WhereOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session, write
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Source

EPILOG = """Examples:

  gitcfg diff                         your uncommitted changes, compared with the last commit

  gitcfg diff main~3 main @Workers    between two commits, on a group's nodes

  gitcfg diff main --merge topic --files -o markdown"""


class Form(StrEnum):
    """The form of the output."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    MARKDOWN = "markdown"


@command(EPILOG, Items("gitcfg.diff/1", "changes", "change"))
def diff(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Revisions (A..B and A...B as in git; default: HEAD and the work tree), then nodes.",
            metavar="REV|NODES",
            show_default=False,
        ),
    ] = None,
    where: WhereOption = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Compare with the index, not the work tree.")
    ] = False,
    merge: Annotated[str, typer.Option(help="Show what merging REV would change.", metavar="REV")] = "",
    stat: Annotated[bool, typer.Option("--stat", help="Show only a line for each change.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Show rendered files as unified diffs.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 if nodes change.")] = False,
    output: Annotated[Form, typer.Option("-o", "--output", help="Output format.")] = Form.TEXT,
    folded: FoldedOption = False,
) -> int:
    """Show what changes on nodes, and which subsystems restart; equal changes are shown once."""
    from gitcfg.gate.changes import (
        describe_key_changes,
        describe_secret_changes,
        find_secret_changes,
        secret_change_to_json,
    )
    from gitcfg.library import compare

    session: Session = context.obj
    source = session.open()
    found = parse_words(source, words or ())
    old, new = open_fleets(source, found, staged, merge)
    with old, new:
        refuse_ambiguous(found, (old, new))
        names = select_on_either((old, new), found.nodes, where)
        changes = compare(old, new, names)
        secrets = find_secret_changes(old, new) if names is None else ()
        keys = describe_key_changes(old, new) if names is None else ()
        besides = (*describe_secret_changes(secrets), *keys)
        if output is Form.MARKDOWN:
            from gitcfg.cli.changes import markdown_lines

            for line in markdown_lines(changes, files, besides):
                write(f"{line}\n")
        elif output is not Form.TEXT:
            from gitcfg.comparison.change import diff_record

            outside = secrets if output is not Form.JSONL else ()  # lines are about nodes
            records = map(secret_change_to_json, outside)
            write_record(diff_record(old.commit, new.commit, changes, folded, records), Output(output))
        else:
            from gitcfg.cli.changes import print_changes, print_marked, print_reach

            print_changes(session.console(), changes, stat, files)
            console = session.console(stderr=True)
            print_marked(console, besides)
            print_reach(console, changes)
    return int(exit_code and bool(changes))


Fleets = tuple["Fleet", "Fleet"]


class DiffWords(msgspec.Struct, frozen=True):
    """The words of a command line: up to two revisions, then nodes.

    `common`: compare from the revisions' common ancestor.
    """

    revisions: tuple[str, ...]
    nodes: tuple[str, ...]
    common: bool = False


def parse_words(source: "Source", words: Sequence[str]) -> DiffWords:
    """Separate revisions from nodes. `A..B` and `A...B` are as in git; a missing end is HEAD."""
    knows = source.repository.knows
    if words and ".." in words[0]:
        dots = "..." if "..." in words[0] else ".."
        ends = tuple(end or "HEAD" for end in words[0].split(dots, 1))
        if all(map(knows, ends)):
            return DiffWords(ends, tuple(words[1:]), common=dots == "...")
    count = next((place for place, word in enumerate(words[:2]) if not knows(word)), len(words[:2]))
    return DiffWords(tuple(words[:count]), tuple(words[count:]))


def open_fleets(source: "Source", found: DiffWords, staged: bool, merge: str) -> Fleets:
    """Return the old and the new fleet; without revisions HEAD, and the work tree."""
    if staged and merge:
        raise GitcfgError("--staged and --merge cannot be used together.", "Use one of them.")
    if (staged or merge) and len(found.revisions) > 1:
        raise GitcfgError("--staged and --merge take one revision at most.")
    old = found.revisions[0] if found.revisions else "HEAD"
    if merge:
        return source.at(old), source.merged(old, merge)
    if staged:
        return source.at(old), source.index(os.environ.get("GIT_INDEX_FILE"))
    if len(found.revisions) < 2:
        return source.at(old), source.worktree()
    if found.common:
        old = source.repository.merge_base(*found.revisions)
    return source.at(old), source.at(found.revisions[1])


def refuse_ambiguous(found: DiffWords, both: Fleets) -> None:
    """Raise GitcfgError if a word that was used as a revision is a node's name, too."""
    for word in found.revisions:
        if any(word in fleet for fleet in both):
            hint = f"Write refs/heads/{word} for a branch, or --where 'node.name == \"{word}\"'."
            raise GitcfgError(f"{shown(word)} is both a revision and a node.", hint)


def select_on_either(both: Fleets, words: Sequence[str], where: str | None) -> tuple[str, ...] | None:
    """Return the nodes that words and a condition select on either side; None without any of these.

    Raise GitcfgError if a word is not a node on either side: a single name may have been meant as a revision.
    """
    from gitcfg.cli.nodes import UnknownNode, choose_nodes

    if not words and where is None:
        return None
    found: set[str] = set()
    for word in words or ("",):
        errors = []
        for fleet in both:
            try:
                found.update(choose_nodes(fleet, (word,) if word else (), where))
            except GitcfgError as error:
                errors.append(error)
        if len(errors) == len(both):
            last = errors[-1]
            if not isinstance(last, UnknownNode):
                raise last
            raise GitcfgError(f"{shown(word)} is neither a revision nor a node.", *last.hints)
    return tuple(sorted(found))
