"""Edits of definitions: the options of commands that edit, the orders from them, and their execution."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import abridged

if TYPE_CHECKING:
    from gitcfg.edit.decision import Decision
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.orders import Order
    from gitcfg.edit.rename import Leftover
    from gitcfg.edit.transaction import FileChange
    from gitcfg.edit.yaml.changes import Given
    from gitcfg.git.commit import PathChange
    from gitcfg.git.repository import Repository
    from gitcfg.git.tree import Tree
    from gitcfg.library import Source

Texts = list[str] | None
_MOST_FILES = 50
"""The most written files that are printed with a line each."""


class Editable(StrEnum):
    """The kinds of definitions that can be edited."""

    FEATURE = "feature"
    GROUP = "group"
    NODE = "node"
    NODESET = "nodeset"
    OVERRIDE = "override"
    HOLD = "hold"
    SECRET = "secret"
    SUBSYSTEM = "subsystem"
    PARAMETER = "parameter"
    RULE = "rule"
    ALLOCATION = "allocation"


class Part(StrEnum):
    """The parts of an order that options fill."""

    ADD = "add"
    REMOVE = "remove"
    PUT = "put"
    TAKE = "take"
    FIELDS = "fields"
    DROP = "drop"


class Option(msgspec.Struct, frozen=True):
    """An option that may be repeated, and what it fills: a part of an order, under a key."""

    part: Part
    key: str
    name: str
    help: str
    metavar: str

    @property
    def variable(self) -> str:
        """The name of the argument that typer passes."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def parameter(self) -> Parameter:
        """The parameter for a command's signature."""
        type_ = Annotated[Texts, typer.Option(self.name, help=self.help, metavar=self.metavar)]
        return Parameter(self.variable, Parameter.KEYWORD_ONLY, default=None, annotation=type_)


OPTIONS = (
    Option(Part.ADD, "include", "--include", "Include this feature.", "FEATURE"),
    Option(Part.REMOVE, "include", "--no-include", "Do not include this feature.", "FEATURE"),
    Option(Part.ADD, "depends", "--depends", "Depend on this feature or parameter.", "FEATURE|PARAM"),
    Option(Part.REMOVE, "depends", "--no-depends", "Do not depend on it.", "FEATURE|PARAM"),
    Option(Part.ADD, "conflicts", "--conflict", "Conflict with this feature or parameter.", "FEATURE|PARAM"),
    Option(Part.REMOVE, "conflicts", "--no-conflict", "Do not conflict with it.", "FEATURE|PARAM"),
    Option(Part.ADD, "after", "--after", "Become active after this feature.", "FEATURE"),
    Option(Part.REMOVE, "after", "--no-after", "Do not wait for this feature.", "FEATURE"),
    Option(Part.ADD, "features", "--feature", "Install this feature.", "FEATURE"),
    Option(Part.REMOVE, "features", "--no-feature", "Do not install this feature.", "FEATURE"),
    Option(Part.ADD, "without", "--without", "Remove this feature from the node.", "FEATURE"),
    Option(Part.REMOVE, "without", "--no-without", "No longer remove this feature.", "FEATURE"),
    Option(Part.ADD, "groups", "--group", "Join this group.", "GROUP"),
    Option(Part.REMOVE, "groups", "--no-group", "Leave this group.", "GROUP"),
    Option(Part.ADD, "nodes", "--node", "Add nodes to the group.", "NODES"),
    Option(Part.REMOVE, "nodes", "--no-node", "Remove nodes from the group.", "NODES"),
    Option(Part.ADD, "labels", "--label", "Add a label.", "TEXT"),
    Option(Part.REMOVE, "labels", "--no-label", "Remove a label.", "TEXT"),
    Option(Part.PUT, "params", "--set", "Set a parameter; TEXT is YAML.", "PARAM=TEXT"),
    Option(Part.TAKE, "params", "--unset", "Remove the binding of a parameter.", "PARAM"),
    Option(Part.PUT, "files", "--file", "Set the entry of a file on nodes; TEXT is YAML.", "PATH=TEXT"),
    Option(Part.TAKE, "files", "--no-file", "Remove the entry of a file.", "PATH"),
    Option(Part.PUT, "facts", "--fact", "Set a fact; the value is YAML.", "TEXT=TEXT"),
    Option(Part.TAKE, "facts", "--no-fact", "Remove a fact.", "TEXT"),
    Option(Part.PUT, "node_facts", "--node-fact", "Set facts of some nodes of a set, in YAML.", "NODES=TEXT"),
    Option(Part.TAKE, "node_facts", "--no-node-fact", "Remove an entry of `node_facts`.", "NODES"),
    Option(Part.FIELDS, "", "--field", "Set any other key; the value is YAML.", "TEXT=TEXT"),
    Option(Part.DROP, "", "--no-field", "Remove a key.", "TEXT"),
)

At = Annotated[
    int | None, typer.Option("--at", help="Position of the new entry; 0 is the highest.", metavar="N")
]
Description = Annotated[
    str | None, typer.Option("--description", help="Description of the definition.", metavar="TEXT")
]
From = Annotated[
    str | None, typer.Option("--from", help="Read edits as JSON, one per line; - is stdin.", metavar="FILE")
]
Force = Annotated[bool, typer.Option("--force", help="Write the edit even if it adds errors.")]
Solve = Annotated[
    bool, typer.Option("--solve", help="Also decide what rules leave open, in the same change.")
]
Commit = Annotated[bool, typer.Option("--commit", help="Commit the written files.")]
Message = Annotated[str | None, typer.Option("-m", "--message", help="The commit's message.", metavar="TEXT")]


def with_options(options: Iterable[Option]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Replace a command's `**entries` by options of the table, before its keyword-only parameters."""

    def give(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def taker(**given: object) -> int:
            return command(**given)

        own = [one for one in signature(command).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        later = [one for one in own if one.kind is Parameter.KEYWORD_ONLY]
        parameters = (*own[: len(own) - len(later)], *(option.parameter for option in options), *later)
        taker.__dict__["__signature__"] = Signature(parameters, return_annotation=int)
        return taker

    return give


def fill_order(order: "Order", description: str | None, entries: Mapping[str, Texts]) -> "Order":
    """Return the order with the values of options of the table. Raise GitcfgError if one is not YAML."""
    parts: dict[Part, list[tuple[Option, list[str]]]] = {part: [] for part in Part}
    for option in OPTIONS:
        if texts := entries.get(option.variable):
            parts[option.part].append((option, texts))
    return msgspec.structs.replace(
        order,
        add={option.key: _given(texts, option.key) for option, texts in parts[Part.ADD]},
        remove={option.key: _given(texts, option.key) for option, texts in parts[Part.REMOVE]},
        put={option.key: _pairs(texts, option.name) for option, texts in parts[Part.PUT]},
        take={option.key: tuple(texts) for option, texts in parts[Part.TAKE]},
        fields=_fields(description, parts[Part.FIELDS]),
        drop=tuple(text for _, texts in parts[Part.DROP] for text in texts),
    )


def _fields(description: str | None, others: Iterable[tuple[Option, list[str]]]) -> dict[str, "Given"]:
    """Return whole keys with their values; a description is always text."""
    from gitcfg.edit.yaml.changes import Given

    found = {} if description is None else {"description": Given(description)}
    for option, texts in others:
        found |= _pairs(texts, option.name)
    return found


def _given(texts: Iterable[str], what: str) -> tuple["Given", ...]:
    """Parse values as they were typed. Raise GitcfgError if one is not YAML."""
    from gitcfg.edit.yaml.changes import Given
    from gitcfg.edit.yaml.tree import parse_value

    return tuple(Given(parse_value(text, what), text) for text in texts)


def _pairs(texts: Iterable[str], option: str) -> dict[str, "Given"]:
    """Parse `NAME=VALUE` as they were typed. Raise GitcfgError if one has no `=`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GitcfgError(
                f"{option} takes NAME=VALUE, not {safe(text)}.", "VALUE is YAML, for example `null`."
            )
        found[name] = _given((value,), name)[0]
    return found


def read_lines(name: str) -> list[bytes]:
    """Read the lines of a file; - is stdin."""
    return sys.stdin.buffer.readlines() if name == "-" else Path(name).read_bytes().splitlines()


# Edits are made on a draft, checked, written and committed, all or nothing.

Renamed = tuple[str, str]
"""An old and a new name."""


class EditOptions(msgspec.Struct, frozen=True):
    """Options of an edit: whether to write it with errors (`force`), and the commit's message, if any.

    `solve`: also decide what rules leave open, in the same change; None: the command has no such option.
    `renamed`: renames in their order, which are applied to the earlier findings, too.
    `output`: the form of the result, for people or for programs.
    """

    force: bool = False
    message: str | None = None
    solve: bool | None = None
    renamed: tuple[Renamed, ...] = ()
    output: Output = Output.TEXT


class EditResult(msgspec.Struct, frozen=True):
    """The result of an edit: its changes of files, whether they were written, and its commit.

    It is refused if it would add errors, or there is no decision that satisfies the rules. `findings` are
    those that it adds, `left` the places that keep the old name after a rename, and `decision` is the one
    about what rules leave open.
    """

    files: Mapping[str, "PathChange"]
    written: bool = False
    commit: str | None = None
    refused: bool = False
    findings: "tuple[Finding, ...]" = ()
    left: "tuple[Leftover, ...]" = ()
    decision: "Decision | None" = None

    @property
    def code(self) -> int:
        """The exit code."""
        return int(self.refused)


def make_options(
    force: bool,
    commit: bool,
    message: str | None,
    subject: str,
    solve: bool | None = None,
    output: Output = Output.TEXT,
) -> EditOptions:
    """Return the options together. Raise GitcfgError for a message without a commit."""
    if message is not None and not commit:
        raise GitcfgError("-m needs --commit.", "Use --commit -m MESSAGE.")
    return EditOptions(force, (message or subject) if commit else None, solve, output=output)


def carry_out_orders(
    session: Session, orders: Sequence["Order"], wished: EditOptions, facts: Record | None = None
) -> int:
    """Carry out orders, all or none; return 1 and write nothing if they would add errors.

    `facts` are further fields of the record.
    """
    from gitcfg.edit.orders import carry_out
    from gitcfg.edit.secrets import find_last_version

    left: list[Leftover] = []
    renamed = tuple((order.name, order.to) for order in orders if order.to is not None)
    wished = msgspec.structs.replace(wished, renamed=renamed)

    def last_version(name: str) -> int:
        return find_last_version(session.open().repository, name)

    done = try_edit(session, lambda draft: left.extend(carry_out(draft, orders, last_version)), wished)
    return write_result(session, msgspec.structs.replace(done, left=tuple(left)), wished.output, facts)


def create_from_table(session: Session, source: str, common: "Order", wished: EditOptions) -> int:
    """Create the nodes of a table, or their node set, all or none; `common` is the order for all of them."""
    from gitcfg.edit.node_table import create_nodes, create_nodeset, parse_nodes

    data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    rows = parse_nodes(data, "stdin" if source == "-" else source)
    create = create_nodeset if common.kind == Editable.NODESET else create_nodes
    return apply_edit(session, lambda draft: create(draft, rows, common), wished)


def apply_edit(
    session: Session, work: Callable[["Draft"], None], wished: EditOptions, facts: Record | None = None
) -> int:
    """Run `work` on a draft and write its changes, all or nothing; return 1 if it would add errors."""
    return write_result(session, try_edit(session, work, wished), wished.output, facts)


def try_edit(
    session: Session,
    work: Callable[["Draft"], None],
    wished: EditOptions,
    shows: "Callable[[Decision], None] | None" = None,
) -> EditResult:
    """Run `work` on a draft and write its changes, all or nothing: nothing if it would add errors.

    For people, print what it adds and decides, and why it is refused. `shows` is called with the decision,
    before anything is written or refused.
    """
    from gitcfg.edit.draft import Draft, OverlayTree
    from gitcfg.edit.transaction import FileChange

    source = session.open()
    repository = source.repository
    with exclusive_edit(session, repository) as folder:
        if wished.solve and wished.message is not None:
            from gitcfg.edit.decision import refuse_uncommitted

            refuse_uncommitted(repository)
        tree = repository.worktree()
        draft = Draft(tree, source.cache)
        work(draft)
        decision = _decide(session, draft, wished, shows) if wished.solve else None
        texts = with_schema_lines(repository, draft)
        files = {path: FileChange(draft.original(path), text) for path, text in texts.items()}
        changes = {path: file.change for path, file in files.items()}
        if decision is not None and not decision.holds:
            return EditResult(changes, refused=True, decision=decision)
        found = find_added(session, source, tree, OverlayTree(tree, texts), wished) if files else ()
        if any(finding.is_error for finding in found) and not wished.force:
            if wished.output is Output.TEXT:
                _print_refused(session, found, wished)
            return EditResult(changes, refused=True, findings=found, decision=decision)
        commit = write_files(repository, folder, files, wished.message) if files else None
        return EditResult(changes, bool(files), commit, findings=found, decision=decision)


def _decide(
    session: Session, draft: "Draft", wished: EditOptions, shows: "Callable[[Decision], None] | None"
) -> "Decision":
    """Decide what rules leave open in a draft, and show it with `shows` or for people."""
    from gitcfg.cli.decisions import print_decision
    from gitcfg.edit.decision import decide_draft

    decision = decide_draft(draft, session.open().today)
    if shows is not None:
        shows(decision)
    elif wished.output is Output.TEXT:
        if decision.changes or not decision.holds:
            print_decision(session, decision)
        if not decision.holds:
            session.console(stderr=True).print("Nothing was written.", style="red")
    return decision


def _print_refused(session: Session, added: "Iterable[Finding]", wished: EditOptions) -> None:
    from gitcfg.check.rules.ruled_fleet import SOLVE

    errors = [finding for finding in added if finding.is_error]
    console = session.console(stderr=True)
    console.print(f"The edit would add {counted(len(errors), 'error')}, so nothing was written.", style="red")
    if wished.solve is False and any(SOLVE in finding.hint for finding in errors):
        console.print("hint: --solve decides what the edit leaves open, in the same change.", style="cyan")
    console.print("hint: --force writes it anyway.", style="cyan")


def find_added(
    session: Session, source: "Source", before: "Tree", after: "Tree", wished: EditOptions
) -> tuple[Finding, ...]:
    """Return the findings after an edit that were not there before, and print them for people.

    If there are no findings after the edit, the state before it is not checked.
    """
    from gitcfg.check.results import unlike
    from gitcfg.library import Fleet

    base = source.repository.before(before)
    with Fleet(after, base, source.today, source.cache) as new:
        every, veils = new.findings, new.checked.every
    if not every:
        return ()
    with Fleet(before, base, source.today, source.cache) as old:
        known = tuple(_called(finding, wished.renamed) for finding in old.findings)
    # GC507: the end has just been written by this edit.
    found = tuple(finding for finding in unlike(every, known) if finding.code != "GC507")
    if found and wished.output is Output.TEXT:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), after, found, veils)
    return found


def _called(finding: Finding, renamed: Iterable[Renamed]) -> Finding:
    """Return an earlier finding with its new names."""
    for old, new in renamed:
        if old in finding.subjects:
            subjects = tuple(new if subject == old else subject for subject in finding.subjects)
            message = finding.message.replace(old, new)
            finding = msgspec.structs.replace(finding, subjects=subjects, message=message)
    return finding


@contextmanager
def exclusive_edit(session: Session, repository: "Repository") -> Iterator[Path]:
    """Lock out other edits, and yield the folder of the journal; an interrupted edit is finished first."""
    from gitcfg.edit import transaction

    folder = _journal_folder(repository)
    with transaction.lock(folder):
        for path in transaction.finish(repository.root, folder):
            session.console(stderr=True).print(
                f"finished an interrupted edit of {safe(path)}", style="yellow"
            )
        yield folder


def _journal_folder(repository: "Repository") -> Path:
    """Return git's own folder; without git, a hidden one. Raise GitcfgError without a work tree."""
    if repository.git is None:
        folder = repository.root / ".gitcfg"
        folder.mkdir(exist_ok=True)
        return folder
    if not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    return Path(repository.git.path)


def with_schema_lines(repository: "Repository", draft: "Draft") -> dict[str, bytes | None]:
    """Return a draft's files; a new one names its schema, if `gitcfg schema` has written one."""
    texts = dict(draft.files)
    added = (path for path in texts if path.endswith(".yaml") and draft.original(path) is None)
    new = {path: texts[path] for path in added}
    if not new:
        return texts
    from gitcfg.editor.settings import FOLDER, with_modeline

    for path, text in new.items():
        schema = repository.root / FOLDER / f"{path.partition('/')[0]}.json"
        if text is not None and schema.is_file():
            texts[path] = with_modeline(path, text)
    return texts


def write_files(
    repository: "Repository", folder: Path, files: Mapping[str, "FileChange"], message: str | None
) -> str | None:
    """Write files and, with a message, commit them. After Ctrl-C, or if git refuses, restore all files."""
    from gitcfg.edit import transaction
    from gitcfg.git.program import Git

    back = {path: transaction.FileChange(file.text, file.was) for path, file in files.items()}
    try:
        with transaction.finish_if_interrupted(repository.root, folder):
            transaction.write_files(repository.root, folder, files)
    except KeyboardInterrupt:
        with suppress(GitcfgError):  # it came before anything was written
            transaction.write_files(repository.root, folder, back)
        raise
    if message is None:
        return None
    try:
        return transaction.commit_files(Git(repository, os.environ), repository, files, message)
    except BaseException:
        transaction.write_files(repository.root, folder, back)
        raise


# The result of an edit: for people, or as a record.

EDIT = Items("gitcfg.edit/1", "files", "edited")
"""The record of commands that write files of the repository."""


def write_result(
    session: Session, done: EditResult, output: Output, facts: Record | None = None, schema: str = EDIT.schema
) -> int:
    """Write the result of an edit, and return the exit code. `facts` are further fields of the record."""
    if output is not Output.TEXT:
        write_record({"schema": schema, **edit_to_json(done), **(facts or {})}, output)
    elif not done.refused:
        print_written(session, done)
    return done.code


def edit_to_json(done: EditResult) -> Record:
    """Return the fields of every record of an edit: `gitcfg.edit/1` without the name of its schema."""
    from gitcfg.explain.trail import finding_record, origin_record

    record: Record = {
        "written": done.written,
        "commit": done.commit,
        "files": [{"path": path, "change": change} for path, change in sorted(done.files.items())],
        "findings": [finding_record(finding) for finding in done.findings],
        "left": [{"name": one.name, "origin": origin_record(one.origin)} for one in done.left],
    }
    if done.decision is not None:
        from gitcfg.cli.decisions import decision_to_json

        record["decision"] = decision_to_json(done.decision)
    return record


def print_written(session: Session, done: EditResult) -> None:
    """Print what an edit wrote, and the places that keep the old name after a rename."""
    paths: dict[str, list[str]] = {}
    for path, change in sorted(done.files.items()):
        paths.setdefault(change, []).append(path)
        if len(done.files) <= _MOST_FILES:
            session.write(f"{change} {safe(path)}\n")
    for action, found in paths.items() if len(done.files) > _MOST_FILES else ():
        session.write(f"{action} {counted(len(found), 'file')}: {safe(abridged(found))}\n")
    if done.commit is not None:
        session.write(f"committed {done.commit}\n")
    console = session.console(stderr=True)
    if not done.files:
        console.print("Nothing changes.")
    for one in done.left:
        console.print(f"note: {safe(one.name)} still occurs at {safe(str(one.origin))}.")
