"""A whole `if` among statements: where it ends, and what its tests guard."""

from collections.abc import Iterator, Sequence

from gitcfg.convert.condor.sources import bad
from gitcfg.convert.condor.statements import Kind, Statement

_STEPS = {Kind.IF: 1, Kind.ENDIF: -1}


def end(found: Sequence[Statement], start: int) -> int:
    """Where the `endif` of an `if` stands. GitcfgError: there is none."""
    depth = 0
    for at in range(start, len(found)):
        depth += _STEPS.get(found[at].kind, 0)
        if depth == 0:
            return at
    line = found[start].line
    raise bad(line.file, line.number, "This `if` has no `endif`.")


def branches(found: Sequence[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Tests with what they guard, of a whole `if` from its first statement to its `endif`."""
    test, branch, depth = found[0], list[Statement](), 0
    for statement in found[1:]:
        if depth == 0 and statement.kind in (Kind.ELIF, Kind.ELSE, Kind.ENDIF):
            yield test, branch
            test, branch = statement, []
            continue
        depth += _STEPS.get(statement.kind, 0)
        branch.append(statement)
