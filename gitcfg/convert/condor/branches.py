"""A whole `if` among statements: where it ends, and what its tests guard."""

from collections.abc import Iterator, Sequence

from gitcfg.convert.condor.sources import import_error
from gitcfg.convert.condor.statements import Statement, StatementKind

_STEPS = {StatementKind.IF: 1, StatementKind.ENDIF: -1}


def find_endif(found: Sequence[Statement], start: int) -> int:
    """Where the `endif` of an `if` stands. GitcfgError: there is none."""
    depth = 0
    for at in range(start, len(found)):
        depth += _STEPS.get(found[at].kind, 0)
        if depth == 0:
            return at
    line = found[start].line
    raise import_error(line.file, line.number, "This `if` has no `endif`.")


def split_branches(found: Sequence[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Tests with what they guard, of a whole `if` from its first statement to its `endif`."""
    test, branch, depth = found[0], list[Statement](), 0
    for statement in found[1:]:
        if depth == 0 and statement.kind in (StatementKind.ELIF, StatementKind.ELSE, StatementKind.ENDIF):
            yield test, branch
            test, branch = statement, []
            continue
        depth += _STEPS.get(statement.kind, 0)
        branch.append(statement)
