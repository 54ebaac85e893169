"""A fleet ends with its last user: nothing of it waits for Python's collector, which commands do without."""

import gc
import weakref
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

import gitcfg
from gitcfg.comparison.comparison import Comparison
from gitcfg.generate import Options, repository
from gitcfg.library import Fleet

TODAY = date(2026, 1, 1)
CONDITIONS = {
    "overrides/wrong.yaml": 'until: 2027-01-01\nreason: r\nwhere: "node.nam =="\nparams: {}\n',
    "overrides/failing.yaml": "until: 2027-01-01\nreason: r\nwhere: node.facts.none == 1\nparams: {}\n",
    "overrides/right.yaml": "until: 2027-01-01\nreason: r\nwhere: size(node.labels) >= 0\nparams: {}\n",
    "holds/h.yaml": "until: 2027-01-01\nreason: r\nwhere: size(node.params) >= 0\n",
}
FILES = {
    "groups/shared.yaml": (
        "files: {/etc/t: {template: t.j2}, /etc/c: {format: condor}, /etc/j: {format: json}}\n"
    ),
    "templates/t.j2": "{{ node.name }} {% include 'u.j2' %}\n",
    "templates/u.j2": "{{ params }}\n",
    "nodes/own.yaml": "groups: [shared]\n",
    "nodes/missing.yaml": "groups: [shared, nobody-knows]\n",
}


def checked(fleet: Fleet) -> None:
    assert fleet.findings


def judged(fleet: Fleet) -> None:
    assert len(fleet.all_findings) >= len(fleet.findings)


def compared(fleet: Fleet) -> Comparison:
    with made({"nodes/own.yaml": "groups: []\n"}) as other:
        found = gitcfg.compare(other, fleet)
        assert len(found) > 0
        return found


def explained(fleet: Fleet) -> None:
    assert any(node.explain(param) for node in fleet.values() for param in node.params)


def rendered(fleet: Fleet) -> None:
    assert {path for node in fleet.values() for path in node.files} >= {"/etc/t", "/etc/c", "/etc/j"}


def selected(fleet: Fleet) -> None:
    compiled = fleet.compiled
    assert compiled.select("node.name == 'own'").names == {"own"}
    assert compiled.selections["wrong"].problem is not None
    assert "own" in compiled.selections["failing"].failed
    assert "own" in compiled.selections["right"].names


def narrowed(fleet: Fleet) -> None:
    assert fleet.only(["own"]).findings
    assert fleet.valued(["own"])["own"].params
    assert fleet.version.mentions().groups["shared"] == ["missing", "own"]


WORK = (checked, judged, compared, explained, rendered, selected, narrowed)


def made(changed: dict[str, str]) -> Fleet:
    random = repository(Options(files=2))
    return gitcfg.in_memory({**random, **FILES, **CONDITIONS, **changed}, TODAY)


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """No collector comes to help."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def done(work: Callable[[Fleet], object]) -> list[weakref.ref[Any]]:
    """Do it to a fleet that nobody has when it is done; what to look for then."""
    with made({}) as fleet:
        work(fleet)
        compiled = fleet.compiled
        return [weakref.ref(part) for part in (fleet, compiled, compiled.surfaces, *compiled.classes)]


def left() -> list[object]:
    """What of gitcfg's the collector would find."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [found for found in gc.garbage if _module(found).startswith("gitcfg")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def _module(found: object) -> str:
    module = getattr(found, "__module__", None) or type(found).__module__
    return module if isinstance(module, str) else ""


@pytest.mark.parametrize("work", WORK)
def test_a_fleet_ends_with_its_last_user(work: Callable[[Fleet], object]) -> None:
    assert [part() for part in done(work) if part() is not None] == []
    assert left() == []


def test_what_holds_itself_is_found() -> None:
    class Loop:
        """Holds a fleet and itself."""

        def __init__(self, fleet: Fleet) -> None:
            self.fleet, self.itself = fleet, self

    assert done(Loop)[0]() is not None
    Loop.__module__ = "gitcfg.loop"
    assert [type(found) for found in left() if isinstance(found, Loop)] == [Loop]
