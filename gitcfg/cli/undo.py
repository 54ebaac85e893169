"""`gitcfg undo`: a commit that reverts others, and the conflicts of that, by entity and parameter."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from gitcfg.cli import progress
from gitcfg.cli import proposals as say
from gitcfg.cli.declaration import OutputOption, YesOption, command
from gitcfg.cli.edits import EDIT
from gitcfg.cli.proposals import Proposal, carry_out_proposal
from gitcfg.cli.session import Output
from gitcfg.edit.merge import (
    Clash,
    Place,
    Sides,
    find_clashes,
    find_commit,
    has_places,
    is_merged,
    merge_places,
    settle_file,
)
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.git.revert import (
    Conflict,
    Side,
    Span,
    find_span,
    later_versions,
    merge_lines,
    revert,
    revert_message,
)
from gitcfg.git.revert import Proposal as Reversal
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, safe

EPILOG = """Examples:

  gitcfg undo                                  the last commit, after it was shown what that changes

  gitcfg undo main~3..main --yes -m 'Too early'    three commits, as one commit

  gitcfg undo main~5 --theirs group/Workers --ours group/Workers:START    the earlier group, except START"""

_REV = typer.Argument(
    help="The commit, or A..B: the commits of B that A does not have.", metavar="REV|REV..REV"
)
_MAINLINE = typer.Option(help="For a merge: the parent to return to, counted from 1.", metavar="N", min=1)
_OURS = typer.Option(
    help="In a conflict, keep the current state of group/Workers, or only of group/Workers:START.",
    metavar="ENTITY",
)
_THEIRS = typer.Option(
    help="In a conflict, restore the earlier state of group/Workers, or only of group/Workers:START.",
    metavar="ENTITY",
)


@command(EPILOG, EDIT)
def undo(
    context: typer.Context,
    revision: Annotated[str, _REV] = "HEAD",
    message: say.Message = None,
    mainline: Annotated[int | None, _MAINLINE] = None,
    ours: Annotated[list[str] | None, _OURS] = None,
    theirs: Annotated[list[str] | None, _THEIRS] = None,
    yes: YesOption = False,
    dry_run: say.DryRun = False,
    force: say.Force = False,
    no_verify: say.NoVerify = False,
    output: OutputOption = Output.TEXT,
) -> int:
    """Revert commits by a new commit, unless that adds errors. The changes are shown first."""
    options = say.ProposalOptions(yes, dry_run, force, no_verify, output)

    def propose(repository: Repository, head: str) -> Proposal:
        span = find_span(repository, revision, mainline, head)

        def revert_span() -> Reversal:
            both = sorted({*(ours or ())} & {*(theirs or ())})
            if both:
                raise GitcfgError(f"{both[0]} cannot be both --ours and --theirs.", "Use one of them.")
            answers = dict.fromkeys(ours or (), Side.OURS) | dict.fromkeys(theirs or (), Side.THEIRS)
            return Undo(repository, span, head).proposed(answers, ask_side if options.interactive else None)

        return Proposal(
            revert_span,
            revert_message(span, message),
            "Undo?",
            f"{revision} is undone already.",
        )

    return carry_out_proposal(context.obj, "gitcfg undo", propose, options)


Answers = Mapping[str, Side]
"""The chosen side by entity (`group/Workers`) or by a part of it (`group/Workers:START`)."""


class Question(msgspec.Struct, frozen=True):
    """One question about clashes; `rest` is the number of further clashes of the same entity."""

    clashes: tuple[Clash, ...]
    rest: int = 0

    @property
    def text(self) -> str:
        """The text `group Workers: START: leave it as it is now (ours: two), ... [o/t/Q] `."""
        first = self.clashes[0]
        alone = len(self.clashes) == 1 and bool(first.key)
        labels = dict.fromkeys(clash.label for clash in self.clashes)
        named = f"{first.label}: {first.what}" if alone else " and ".join(labels)
        here, back = (_format_value(side) if alone else "" for side in (first.now, first.undone))
        more = f", O or T for all {self.rest + 1} remaining" if self.rest else ""
        keys = "o/t/O/T/Q" if self.rest else "o/t/Q"
        return safe(
            f"{named}: keep the current state (ours{here}), restore the earlier one (theirs{back}){more}, "
            f"or quit? [{keys}] "
        )


class Reply(msgspec.Struct, frozen=True):
    """The chosen side, and whether it is for the rest of the entity, too."""

    side: Side
    for_rest: bool = False


Ask = Callable[[Question], Reply]
_ANSWERS = {"o": Side.OURS, "ours": Side.OURS, "t": Side.THEIRS, "theirs": Side.THEIRS}


class ConflictingFile(msgspec.Struct, frozen=True):
    """A file that was changed again since, with all its clashes.

    `path` is the path in the repository, that of the conflict is the path in git.
    """

    conflict: Conflict
    path: str
    clashes: tuple[Clash, ...]

    @property
    def sides(self) -> Sides:
        """Its content then, its content now, and its content after the undo."""
        return self.conflict.base, self.conflict.ours, self.conflict.theirs

    @property
    def certain(self) -> bytes | None:
        """The editor's text if nothing was changed twice; None: that is not certain."""
        return settle_file(self.path, self.sides, {}) if all(clash.beside for clash in self.clashes) else None

    @property
    def apart(self) -> bool:
        """Whether clashes can be settled one by one, which is tested on the first one, for either side."""
        if len(self.clashes) < 2 or any(clash.beside for clash in self.clashes):
            return False
        first, *rest = (clash_place(clash) for clash in self.clashes)
        one = {first: Side.OURS, **dict.fromkeys(rest, Side.THEIRS)}
        other = {first: Side.THEIRS, **dict.fromkeys(rest, Side.OURS)}
        return all(settle_file(self.path, self.sides, each) is not None for each in (one, other))

    def name(self, clash: Clash) -> str:
        """Return the shortest name for this clash in an answer."""
        return self.names(clash)[-1]

    def names(self, clash: Clash) -> tuple[str, ...]:
        """Return the names for this clash in answers: a parameter `features` is not a list of features."""
        full, *short = clash.spellings
        full_names = {other.spellings[0] for other in self.clashes}
        return full, *(name for name in short if name not in full_names)

    def sides_by_place(self, answers: Answers) -> dict[Place, Side]:
        """Return the side for each clash that has an answer; a more specific answer wins."""
        found: dict[Place, Side] = {}
        for clash in self.clashes:
            for name in (*self.names(clash), clash.entity):
                if name in answers:
                    found[clash_place(clash)] = answers[name]
                    break
        return found

    def unanswered(self, answers: Answers) -> list[Clash]:
        """Return the clashes without an answer."""
        known = self.sides_by_place(answers)
        return [clash for clash in self.clashes if clash_place(clash) not in known]

    def choice(self, answers: Answers) -> Side | bytes:
        """Return the chosen side, or the text of both. Raise GitcfgError if there is none."""
        known = self.sides_by_place(answers)
        both = set(known.values())
        if len(both) == 1:
            return both.pop()
        text = settle_file(self.path, self.sides, known)
        if text is None:
            names = " and ".join(dict.fromkeys(map(self.name, self.clashes)))
            message = f"{names} are too close together to be resolved separately."
            raise GitcfgError(message, "Use --ours for all of them, or --theirs.")
        return text


def clash_place(clash: Clash) -> Place:
    """Return the place of a clash."""
    return clash.entity, clash.key


def refuse_unknown(answers: Answers, files: Iterable[ConflictingFile]) -> None:
    """Raise GitcfgError if an answer is about something without a clash."""
    clashes = [(file, clash) for file in files for clash in file.clashes]
    accepted = {name for file, clash in clashes for name in (*file.names(clash), clash.entity)}
    # An entity, and the part of it that can be settled separately.
    known = {clash.entity for _, clash in clashes}
    known |= {file.name(clash) for file, clash in clashes if len(file.clashes) > 1}
    for name in answers:
        if name not in accepted:
            hint = f"The conflicts are: {', '.join(sorted(known))}." if known else "There is no conflict."
            raise GitcfgError(f"{shown(name)} is not in a conflict.", hint)


class Undo(msgspec.Struct, frozen=True):
    """Commits to undo at `head`."""

    repository: Repository
    span: Span
    head: str

    def proposed(self, answers: Answers, ask: Ask | None) -> Reversal:
        """Return the proposal for HEAD; `answers` has the chosen sides, and `ask` asks for the rest.

        Raise GitcfgError (code 1) listing all conflicts that are left, if `ask` is None.
        """
        found, unclear = revert(self.repository, self.span, self.head, {})
        chosen: dict[str, Side | bytes] = {}
        files: list[ConflictingFile] = []
        for file in map(self._find_clashes, unclear):
            text = merge_lines(self.repository, file.conflict)
            if text is None or not is_merged(file.path, file.sides, text):
                text = file.certain
            if text is None:  # something was changed twice
                files.append(file)
            else:
                chosen[file.conflict.path] = text
        refuse_unknown(answers, files)
        if ask is None and (left := [(file, clash) for file in files for clash in file.unanswered(answers)]):
            lines = [line for file in files for line in self._lines(file, file.unanswered(answers))]
            raise unsettled_error(lines, left)
        sides = dict(answers) if ask is None else self._ask_for_rest(files, answers, ask)
        chosen |= {file.conflict.path: file.choice(sides) for file in files}
        return found if found is not None else self._settled(files, sides, chosen)

    def _find_clashes(self, conflict: Conflict) -> ConflictingFile:
        prefix = self.repository.prefix
        inside = f"{prefix}/" if prefix else ""
        below = conflict.path.startswith(inside)
        path = conflict.path.removeprefix(inside) if below else f"../{conflict.path}"
        found = find_clashes(path, conflict.base, conflict.ours, conflict.theirs)
        return ConflictingFile(conflict, path, found)

    def _settled(
        self, files: Iterable[ConflictingFile], sides: Answers, chosen: Mapping[str, Side | bytes]
    ) -> Reversal:
        """Return the tree; if the lines of one side change too much, the editor changes entities instead."""
        found, still = revert(self.repository, self.span, self.head, chosen)
        assert found is not None, still
        better: dict[str, bytes] = {}
        for file in files:
            path, known = file.conflict.path, file.sides_by_place(sides)
            places, text = merge_places(file.path, file.sides, known), found.held(path)
            if places is not None and text is not None and not has_places(file.path, text, places):
                text = settle_file(file.path, file.sides, known)
                better |= {path: text} if text is not None else {}
        if better:
            found, still = revert(self.repository, self.span, self.head, {**chosen, **better})
            assert found is not None, still
        return found

    def _lines(self, file: ConflictingFile, clashes: Iterable[Clash]) -> Iterator[str]:
        return describe_conflicts(self.repository, self.span, self.head, file, clashes)

    def _ask_for_rest(self, files: Iterable[ConflictingFile], answers: Answers, ask: Ask) -> dict[str, Side]:
        """Ask for each clash if they can be settled one by one, otherwise once for the whole file."""
        sides = dict(answers)
        for file in files:
            left = file.unanswered(sides)  # the same entity may be in two files
            progress.clear()
            for line in self._lines(file, left):
                print(line, file=sys.stderr)
            if left and not file.apart:
                reply = ask(Question(tuple(left)))
                sides.update((clash.entity, reply.side) for clash in left)
            elif left:
                sides |= _ask_one_by_one(file, left, ask)
        return sides


def _ask_one_by_one(file: ConflictingFile, left: Iterable[Clash], ask: Ask) -> dict[str, Side]:
    sides: dict[str, Side] = {}
    while rest := [clash for clash in left if file.name(clash) not in sides]:
        first = rest[0]
        more = [clash for clash in rest[1:] if clash.entity == first.entity]
        reply = ask(Question((first,), len(more)))
        for clash in (first, *more) if reply.for_rest else (first,):
            sides[file.name(clash)] = reply.side
    return sides


def ask_side(question: Question) -> Reply:
    """Ask at the terminal which side to choose. Raise GitcfgError (code 1) if the answer is to quit."""
    while True:
        progress.clear()
        print(question.text, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline().strip()
        if line.lower() in ("", "q", "quit"):
            raise GitcfgError("Nothing was changed.", code=1)
        if line.lower() in _ANSWERS:
            return Reply(_ANSWERS[line.lower()], bool(question.rest) and line in ("O", "T"))


def _format_value(value: str | None) -> str:
    """Return `: three`, or "" if the value is a whole text."""
    return ": nothing" if value is None else f": {value}" if value else ""


def describe_conflicts(
    repository: Repository, span: Span, head: str, file: ConflictingFile, clashes: Iterable[Clash]
) -> Iterator[str]:
    """Yield a line for each clash in a file."""
    conflict = file.conflict
    known = tuple(later_versions(repository, head, span.last, conflict.path))
    for clash in clashes:
        commit = find_commit(known, file.path, clash, conflict.base)
        who = ""
        if commit is not None:
            who = f", in {commit[:ABBREVIATED]} by {History(repository).about(commit).author}"
        yield safe(describe_clash(clash, who, conflict.base is None))


def describe_clash(clash: Clash, who: str, unknown: bool) -> str:
    """Return `group Workers: START was changed again since, in COMMIT by WHO (now X; undo would give Y)`.

    `unknown`: the file did not exist under this name in that commit, because it was renamed before or since.
    """
    here, back = (side or "nothing" for side in (clash.now, clash.undone))
    values = f" (now {here}; undo would give {back})"
    if clash.beside:
        near = ", ".join(clash.beside)
        return f"{clash.label}: {clash.what or 'it'} is next to {near}, changed since{who}{values}"
    if clash.key:
        return f"{clash.label}: {clash.what} was changed again since{who}{values}"
    if unknown and clash.now is None:
        return f"{clash.label} was removed since; undo would restore it"
    if unknown and clash.undone is None:
        return f"{clash.label} was added since{who}; undo would remove it"
    if clash.now is None:
        return f"{clash.label} was removed since{who}; undo would change it"
    after = "; undo would remove it" if clash.undone is None else ""
    return f"{clash.label} was changed again since{who}{after}"


def unsettled_error(lines: Iterable[str], left: Sequence[tuple[ConflictingFile, Clash]]) -> GitcfgError:
    """Return the error that lists all conflicts without an answer."""
    first, clash = left[0]
    head = "Cannot undo this, because it was changed again since:"
    message = "\n".join((head, *(f"  {line}" for line in lines)))
    entity = _quoted(clash.entity)
    hints = [
        f"Use --ours {entity} to keep the current state, or --theirs {entity} to restore the earlier one."
    ]
    if first.apart and clash.key:
        one = _quoted(first.name(clash))
        hints.append(f"Use --ours {one} or --theirs {one} for only this.")
    return GitcfgError(message, *hints, code=1)


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name
