"""The row of GC307: HTCondor's own parser over what is rendered, where its library is installed."""

from collections.abc import Iterator
from importlib.util import find_spec

from bench.measure import Row
from bench.rows.fleet import Prepared
from bench.rows.states import bring


def parser_rows(ready: Prepared) -> Iterator[Row]:
    """All of a check, with the rest of its answer known."""
    if not ready.fleet.nodes or find_spec("htcondor2") is None:
        return
    check = ready.gitcfg("check", "--no-parsers", "--at", "HEAD")
    yield Row(
        fleet=ready.name,
        tool="gitcfg",
        work="check with GC307",
        state="the rest known",
        nodes=len(ready.fleet.nodes),
        command=ready.gitcfg("check", "--at", "HEAD"),
        before=lambda: bring(ready, [check]),
    )
