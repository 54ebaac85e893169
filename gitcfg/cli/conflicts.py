"""Conflicts of `gitcfg undo`, by entity: told, settled as the options say, or asked about."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from gitcfg.cli.plain import ABBREVIATED, safe
from gitcfg.edit.undone import Clash, changed_in, clashes, fits
from gitcfg.git.again import versions, woven
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.git.reverting import Conflict, Proposed, Side, undone
from gitcfg.git.spans import Span
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Told = Mapping[Conflict, Sequence[Clash]]


class Undoing(msgspec.Struct, frozen=True):
    """Commits that are to be undone at `head`."""

    repository: Repository
    span: Span
    head: str

    def proposed(self, asked: Mapping[str, Side], answer: Callable[[str], Side] | None) -> Proposed:
        """What HEAD becomes; `asked` says by entity which side counts, and `answer` gets the rest answered.

        GitcfgError (1): conflicts are left, all of which are told, and nobody answers.
        """
        found, unclear = undone(self.repository, self.span, self.head, {})
        near = {conflict: text for conflict in unclear if (text := self._woven(conflict)) is not None}
        conflicts = tuple(conflict for conflict in unclear if conflict not in near)
        told = {conflict: self._clashes(conflict) for conflict in conflicts}
        _refuse_unknown(asked, {clash.entity for clashes in told.values() for clash in clashes})
        left = [conflict for conflict in conflicts if _side(told[conflict], asked) is None]
        if left and answer is None:
            raise self._unsettled(left, told)
        sides = dict(asked) if answer is None else self._answered(left, told, asked, answer)
        if found is None:
            chosen: dict[str, Side | bytes] = {conflict.path: text for conflict, text in near.items()}
            chosen |= {each.path: side for each in conflicts if (side := _side(told[each], sides))}
            found, still = undone(self.repository, self.span, self.head, chosen)
            assert found is not None, still
        return found

    def _clashes(self, conflict: Conflict) -> tuple[Clash, ...]:
        return clashes(self._path(conflict), conflict.base, conflict.ours, conflict.theirs)

    def _woven(self, conflict: Conflict) -> bytes | None:
        """What both changes of a file give, where only their lines are too near to each other."""
        text = woven(self.repository, conflict)
        sides = (conflict.base, conflict.ours, conflict.theirs)
        return text if text is not None and fits(self._path(conflict), sides, text) else None

    def _path(self, conflict: Conflict) -> str:
        """A path from gitcfg.yaml's folder on."""
        prefix = self.repository.prefix
        inside = f"{prefix}/" if prefix else ""
        return (
            conflict.path.removeprefix(inside) if conflict.path.startswith(inside) else f"../{conflict.path}"
        )

    def _lines(self, conflict: Conflict, told: Told) -> Iterator[str]:
        """What of a file does not go together, a line each."""
        known = tuple(versions(self.repository, self.head, self.span.last, conflict.path))
        for clash in told[conflict]:
            commit = changed_in(known, self._path(conflict), clash, conflict.base)
            who = ""
            if commit is not None:
                who = f", in {commit[:ABBREVIATED]} by {History(self.repository).about(commit).author}"
            yield safe(worded(clash, who))

    def _unsettled(self, left: Sequence[Conflict], told: Told) -> GitcfgError:
        lines = [f"  {line}" for conflict in left for line in self._lines(conflict, told)]
        first = _quoted(told[left[0]][0].entity)
        said = "\n".join(("This was changed again since, so it is not clear what undoing it means:", *lines))
        hint = f"--ours {first} leaves it as it is now, --theirs {first} makes it as it was."
        return GitcfgError(said, hint, code=1)

    def _answered(
        self, left: Iterable[Conflict], told: Told, asked: Mapping[str, Side], answer: Callable[[str], Side]
    ) -> dict[str, Side]:
        """One answer for each file, for what stands so near together cannot be settled apart."""
        sides = dict(asked)
        for conflict in left:
            if _side(told[conflict], sides) is None:  # the same entity may be in two conflicts
                for line in self._lines(conflict, told):
                    print(line, file=sys.stderr)
                side = answer(" and ".join(dict.fromkeys(clash.label for clash in told[conflict])))
                sides.update((clash.entity, side) for clash in told[conflict])
        return sides


def worded(clash: Clash, who: str) -> str:
    """`group Workers: START was changed again since, in COMMIT by WHO (now X; undo would give Y)`."""
    here, back = (side or "nothing" for side in (clash.now, clash.undone))
    values = f" (now {here}; undo would give {back})"
    if clash.beside:
        near = ", ".join(clash.beside)
        return f"{clash.label}: {clash.what or 'it'} stands next to {near}, changed since{who}{values}"
    if clash.key:
        return f"{clash.label}: {clash.what} was changed again since{who}{values}"
    if clash.now is None:
        return f"{clash.label} was removed since{who}; undo would change it"
    after = "; undo would remove it" if clash.undone is None else ""
    return f"{clash.label} was changed again since{who}{after}"


def _side(found: Sequence[Clash], sides: Mapping[str, Side]) -> Side | None:
    """Which side counts for a file; None: not all of its entities are settled. GitcfgError: not alike."""
    entities = sorted({clash.entity for clash in found})
    said = {sides.get(entity) for entity in entities}
    if None not in said and len(said) > 1:
        message = f"{' and '.join(entities)} stand too near together to be settled apart."
        raise GitcfgError(message, "Say --ours of both, or --theirs.")
    return said.pop() if len(said) == 1 else None


def _refuse_unknown(asked: Mapping[str, Side], entities: set[str]) -> None:
    for name in asked:
        if name not in entities:
            known = f"These do: {', '.join(sorted(entities))}." if entities else "There is no conflict."
            raise GitcfgError(f"{shown(name)} takes part in no conflict.", known)


def _quoted(entity: str) -> str:
    return f"'{entity}'" if " " in entity else entity


def answered(names: str) -> Side:
    """What somebody at a terminal says. GitcfgError (1): they give up."""
    while True:
        print(
            f"{names}: leave it as it is now (ours), make it as it was (theirs), or quit? [o/t/Q] ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        said = sys.stdin.readline().strip().lower()
        if said in ("o", "ours"):
            return Side.OURS
        if said in ("t", "theirs"):
            return Side.THEIRS
        if said in ("", "q", "quit"):
            raise GitcfgError("Nothing was changed.", code=1)
