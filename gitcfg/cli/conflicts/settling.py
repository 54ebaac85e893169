"""Commits that are to be undone: what HEAD becomes, once every conflict is settled."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from gitcfg.cli.conflicts.asking import Question, Reply
from gitcfg.cli.conflicts.contested import Answers, Contested, refuse_unknown
from gitcfg.cli.conflicts.telling import lines, unsettled
from gitcfg.edit.merge import Clash, find_clashes, has_places, is_merged, merge_places, settle_file
from gitcfg.git.repository import Repository
from gitcfg.git.revert import Conflict, Proposal, Side, Span, merge_lines
from gitcfg.git.revert import revert as undone

Answer = Callable[[Question], Reply]


class Undoing(msgspec.Struct, frozen=True):
    """Commits that are to be undone at `head`."""

    repository: Repository
    span: Span
    head: str

    def proposed(self, asked: Answers, answer: Answer | None) -> Proposal:
        """What HEAD becomes; `asked` says which side counts for what, and `answer` gets the rest answered.

        GitcfgError (1): conflicts are left, all of which are told, and nobody answers.
        """
        found, unclear = undone(self.repository, self.span, self.head, {})
        chosen: dict[str, Side | bytes] = {}
        files: list[Contested] = []
        for file in map(self._contested, unclear):
            text = self._together(file)
            if text is None:
                files.append(file)
            else:
                chosen[file.conflict.path] = text
        refuse_unknown(asked, files)
        if answer is None:
            self._refuse_unsettled(files, asked)
        sides = dict(asked) if answer is None else self._answered(files, asked, answer)
        chosen |= {file.conflict.path: file.choice(sides) for file in files}
        return found if found is not None else self._settled(files, sides, chosen)

    def _contested(self, conflict: Conflict) -> Contested:
        prefix = self.repository.prefix
        inside = f"{prefix}/" if prefix else ""
        below = conflict.path.startswith(inside)
        path = conflict.path.removeprefix(inside) if below else f"../{conflict.path}"
        found = find_clashes(path, conflict.base, conflict.ours, conflict.theirs)
        return Contested(conflict, path, found)

    def _together(self, file: Contested) -> bytes | None:
        """What both changes of a file give, where nothing of it was changed twice."""
        text = merge_lines(self.repository, file.conflict)
        return text if text is not None and is_merged(file.path, file.sides, text) else file.certain

    def _settled(
        self, files: Iterable[Contested], sides: Answers, chosen: Mapping[str, Side | bytes]
    ) -> Proposal:
        """The tree. Where lines take from one side more than its entities want, the editor does it."""
        found, still = undone(self.repository, self.span, self.head, chosen)
        assert found is not None, still
        better: dict[str, bytes] = {}
        for file in files:
            path, known = file.conflict.path, file.said(sides)
            want, held = merge_places(file.path, file.sides, known), found.held(path)
            if want is not None and held is not None and not has_places(file.path, held, want):
                text = settle_file(file.path, file.sides, known)
                better |= {path: text} if text is not None else {}
        if better:
            found, still = undone(self.repository, self.span, self.head, {**chosen, **better})
            assert found is not None, still
        return found

    def _lines(self, file: Contested, told: Iterable[Clash]) -> Iterator[str]:
        return lines(self.repository, self.span, self.head, file, told)

    def _refuse_unsettled(self, files: Iterable[Contested], asked: Answers) -> None:
        left = [(file, clash) for file in files for clash in file.left(asked)]
        if left:
            told = [line for file in files for line in self._lines(file, file.left(asked))]
            raise unsettled(told, left)

    def _answered(self, files: Iterable[Contested], asked: Answers, answer: Answer) -> dict[str, Side]:
        """One answer for each thing where a file's can be told apart, else one for all of it."""
        sides = dict(asked)
        for file in files:
            left = file.left(sides)  # the same entity may be in two files
            for line in self._lines(file, left):
                print(line, file=sys.stderr)
            if left and not file.apart:
                reply = answer(Question(tuple(left)))
                sides.update((clash.entity, reply.side) for clash in left)
            elif left:
                sides |= _one_by_one(file, left, answer)
        return sides


def _one_by_one(file: Contested, left: Iterable[Clash], answer: Answer) -> dict[str, Side]:
    sides: dict[str, Side] = {}
    while rest := [clash for clash in left if file.name(clash) not in sides]:
        first = rest[0]
        more = [clash for clash in rest[1:] if clash.entity == first.entity]
        reply = answer(Question((first,), len(more)))
        for clash in (first, *more) if reply.for_rest else (first,):
            sides[file.name(clash)] = reply.side
    return sides
