"""What was changed again since, in words: by whom, and both values."""

from collections.abc import Iterable, Iterator, Sequence

from gitcfg.cli.conflicts.contested import Contested
from gitcfg.edit.merge import Clash, find_commit
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.git.revert import Span, later_versions
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, safe


def lines(
    repository: Repository, span: Span, head: str, file: Contested, clashes: Iterable[Clash]
) -> Iterator[str]:
    """What of a file does not go together, a line each."""
    conflict = file.conflict
    known = tuple(later_versions(repository, head, span.last, conflict.path))
    for clash in clashes:
        commit = find_commit(known, file.path, clash, conflict.base)
        who = ""
        if commit is not None:
            who = f", in {commit[:ABBREVIATED]} by {History(repository).about(commit).author}"
        yield safe(worded(clash, who, conflict.base is None))


def worded(clash: Clash, who: str, unknown: bool) -> str:
    """`group Workers: START was changed again since, in COMMIT by WHO (now X; undo would give Y)`.

    `unknown`: the file was not there when the commit was made, as it was renamed before or since.
    """
    here, back = (side or "nothing" for side in (clash.now, clash.undone))
    values = f" (now {here}; undo would give {back})"
    if clash.beside:
        near = ", ".join(clash.beside)
        return f"{clash.label}: {clash.what or 'it'} stands next to {near}, changed since{who}{values}"
    if clash.key:
        return f"{clash.label}: {clash.what} was changed again since{who}{values}"
    if unknown and clash.now is None:
        return f"{clash.label} is gone; undo would bring it back"
    if unknown and clash.undone is None:
        return f"{clash.label} came since{who}; undo would remove it"
    if clash.now is None:
        return f"{clash.label} was removed since{who}; undo would change it"
    after = "; undo would remove it" if clash.undone is None else ""
    return f"{clash.label} was changed again since{who}{after}"


def unsettled(told: Iterable[str], left: Sequence[tuple[Contested, Clash]]) -> GitcfgError:
    """Conflicts that nobody has settled, all of which are told."""
    first, clash = left[0]
    message = "\n".join(
        (
            "This was changed again since, so it is not clear what undoing it means:",
            *(f"  {line}" for line in told),
        )
    )
    entity = _quoted(clash.entity)
    hints = [f"--ours {entity} leaves it as it is now, --theirs {entity} makes it as it was."]
    if first.apart and clash.key:
        one = _quoted(first.name(clash))
        hints.append(f"--ours {one} and --theirs {one} are about that alone.")
    return GitcfgError(message, *hints, code=1)


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name
