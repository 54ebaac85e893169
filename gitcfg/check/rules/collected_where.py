"""GC408: conditions on the nodes to collect from that mean nothing, or fail on some of them."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gitcfg.check.fold import of
from gitcfg.check.structure import listed
from gitcfg.compile.ruled.collect import Collect, Why
from gitcfg.compile.ruled.collecting import Asking, Collecting
from gitcfg.model import Finding, Origin

_BY_CONDITIONS = (Why.UNREADABLE, Why.FAILED)


class _Said(msgspec.Struct):
    """Who collects something, and where that is said; `nodes` have it not because of its condition."""

    params: set[str]
    origins: set[Origin]
    nodes: set[str]


def conditions(collecting: Collecting, asked: Sequence[Asking]) -> Iterator[Finding]:
    """What is wrong with conditions, those among them that no node has; none on circles is asked."""
    for collect, said in _said(collecting, asked).items():
        if not collecting.circular(collect):
            yield from _wrong(collecting, collect, said)


def _said(collecting: Collecting, asked: Iterable[Asking]) -> dict[Collect, _Said]:
    found = {
        collect: _Said({name for name, _ in places}, {origin for _, origin in places}, set())
        for collect, places in collecting.written().items()
    }
    for each in asked:
        said = found.setdefault(each.collect, _Said(set(), set(), set()))
        said.params.add(each.param)
        said.origins.add(each.origin)
    for each in asked:
        if each.lack is not None and each.lack.why in _BY_CONDITIONS:
            found[each.lack.collect].nodes.update(each.nodes)
    return found


def _wrong(collecting: Collecting, collect: Collect, said: _Said) -> Iterator[Finding]:
    index, params = collecting.index(collect), tuple(sorted(said.params))
    about = f"The `where` of what {listed(params)} collects"
    if index.problem is not None:
        message = f"{about} cannot be read: {index.problem.message}"
        yield of("GC408", params, message, sorted(said.origins), sorted(said.nodes), index.problem.hint)
    alike: dict[tuple[str, str], set[str]] = {}
    for name, problem in index.failed.items():
        alike.setdefault((problem.message, problem.hint), set()).add(name)
    for (problem_message, hint), names in alike.items():
        message = f"{about} fails: {problem_message}"
        yield of("GC408", params, message, sorted(said.origins), sorted(names | said.nodes), hint)
