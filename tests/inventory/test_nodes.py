"""The inventory of random fleets against a naive join, in all the ways in which nodes can stand."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cache import NoCache
from gitcfg.inventory import nodes as module
from gitcfg.inventory.nodes import (
    InventoryNode,
    NodeStatus,
    Tip,
    describe_nodes,
    find_behind,
    find_failing,
    join_nodes,
)
from gitcfg.inventory.records import COLUMNS, get_value
from gitcfg.library import Fleet, in_memory
from gitcfg.load.keys import written
from gitcfg.state.records import Checkin, NodeState, Result
from gitcfg.state.state import connect

TODAY = date(2026, 11, 22)
NOW = 1_000_000.0
TIP, OLD = "a" * 40, "b" * 40
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "groups/g.yaml": "features: [F]\n",
    "features/F.yaml": "params: {P: 1}\nfiles: {/etc/f: {format: env, params: [P]}}\n",
    "parameters/p.yaml": "parameters: {P: {type: integer}}\n",
}


def key(number: int) -> str:
    return written(number.to_bytes(32))


def fleet(random: Random, walk_in: bool) -> Fleet:
    names = [f"n{number}" for number in range(30)]
    files = {
        **FILES,
        "gitcfg.yaml": "format: 1\n" + ("walk_in: {groups: [g]}\n" if walk_in else ""),
        "keys/k.txt": "".join(
            f"{name} {key(at)}\n" for at, name in enumerate(names) if random.random() < 0.8
        ),
    }
    for name in names:
        state = "state: retired\n" if random.random() < 0.1 else ""
        files[f"nodes/{name}.yaml"] = (
            f"groups: [g]\nlabels: [l]\nparams: {{P: {random.randrange(9)}}}\n{state}"
        )
    for name, days in (("a", 21), ("b", 22), ("c", 30)):
        held = ",".join(random.sample(names, 3))
        files[f"holds/{name}.yaml"] = f"nodes: {held}\nreason: r\nuntil: 2026-11-{days}\ncommit: {OLD}\n"
    files["holds/d.yaml"] = f"where: node.name == 'n7'\nreason: r\nuntil: 2026-11-30\ncommit: {OLD}\n"
    found = in_memory(files, TODAY)
    found.commit = TIP
    return found


def checkins(random: Random, known: Fleet) -> Iterator[Checkin]:
    for number, name in enumerate((*(f"n{number}" for number in range(30)), "x1", "x2", "x3")):
        if random.random() < 0.15:
            continue
        commit = random.choice([TIP, OLD, None])
        right = known[name].digest if name in known else random.choice([meant(known, name), None])
        digest = None if commit is None else random.choice([right, "0" * 64]) if commit == OLD else right
        outcome = random.choice(["ok", "unchanged", "failed", "reverted", "refused"])
        result = Result(random.choice([TIP, OLD]), outcome, NOW) if random.random() < 0.6 else None
        drift = ({"path": "/etc/f", "kind": "changed", "diff": ""},) if random.random() < 0.2 else ()
        yield Checkin(
            name,
            NOW - random.randrange(4000),
            key(number),
            f"{number}",
            commit,
            digest,
            1.0,
            result,
            drift,
            interval=random.choice([3.0, 600.0]),
        )


def naively(known: Fleet, name: str, seen: dict[str, NodeState]) -> str:
    """Where a node stands, one question after the other."""
    said, settings = seen.get(name), known.model.settings
    if name not in known and settings.walk_in is None:
        return "gone" if said is not None and said.commit else "pending"
    if name in known and said is not None and name not in known.model.keys:
        return "pending"
    if name in known and known.roster.definition(name).retired:
        return "retired"
    if said is None:
        return "never"
    result = said.result
    stuck = result is not None and result.outcome == "failed"
    is_behind = stuck or (said.commit != TIP and said.digest != meant(known, name))
    if is_behind and result is not None and result.commit == TIP and result.failed:
        return result.outcome
    if NOW - said.last > {3.0: 900.0, 600.0: 1800.0}[said.interval]:
        return "away"
    if said.drift:
        return "drifted"
    if name in known and holding(known, name):
        return "held"
    return "behind" if is_behind else "ok"


def meant(known: Fleet, name: str) -> str:
    """The digest of what a node is to run; all that walk in get the group g."""
    if name in known:
        return known[name].digest
    with in_memory({**FILES, f"nodes/{name}.yaml": "groups: [g]\n"}, TODAY) as described:
        return described[name].digest


def holding(known: Fleet, name: str) -> str | None:
    found = None
    for hold in sorted(known.model.holds.values(), key=lambda hold: hold.name):
        in_force = hold.until >= TODAY
        if in_force and (name in (hold.members or ()) or (hold.where is not None and name == "n7")):
            found = hold.name
    return found


@pytest.mark.parametrize("walk_in", [False, True])
@pytest.mark.parametrize("few", [0, 200])
def test_it_is_what_a_naive_join_gives(
    few: int, walk_in: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FEW", few)
    stood: set[str] = set()
    for seed in range(12):
        random = Random(seed)
        state = connect(f"sqlite:///{tmp_path}/{seed}.db")
        with fleet(random, walk_in) as known:
            state.checkins.record(list(checkins(random, known)))
            seen = {one.node: one for one in state.checkins.nodes()}
            state.close()
            tip = Tip(
                find_behind(known, seen.values(), NoCache(), lambda _: None, TODAY),
                ("g",) if walk_in else None,
                NOW,
                find_failing(known, seen.values(), NoCache(), lambda _: None, TODAY),
            )
            places = join_nodes(describe_nodes(known, TODAY), seen, tip)
            assert [place.name for place in places] == sorted({*known, *seen})
            for place in places:
                assert place.state == naively(known, place.name, seen), (seed, place)
                assert place.seen == seen.get(place.name)
                assert place.git.hold == (holding(known, place.name) if place.name in known else None)
            stood |= {str(place.state) for place in places}
    assert stood == {*NodeStatus} - ({"gone"} if walk_in else set())


def versions(random: Random) -> tuple[Fleet, Fleet]:
    """A fleet, and one after a change of nodes, a group, what a subsystem does, or only a description."""
    nodes = {f"nodes/n{number}.yaml": f"groups: [g{number % 3}]\n" for number in range(12)}
    groups = {f"groups/g{number}.yaml": f"files: {{/etc/f: {{text: '{number}'}}}}\n" for number in range(3)}
    run = "subsystems: {{s: {{files: [/etc/f], reload: [{}]}}}}\n"
    files = {"gitcfg.yaml": "format: 1\n", "subsystems/s.yaml": run.format("a"), **nodes, **groups}
    changes = {
        "nodes/n3.yaml": "groups: [g1]\n",
        "nodes/n4.yaml": "groups: [g1]\nlabels: [x]\n",
        "groups/g2.yaml": "files: {/etc/f: {text: other}}\n",
        "subsystems/s.yaml": run.format("b"),
    }
    chosen = dict(random.sample(sorted(changes.items()), random.randrange(3)))
    old, new = in_memory(files, TODAY), in_memory({**files, **chosen}, TODAY)
    old.commit, new.commit = OLD, TIP
    return old, new


def test_who_runs_what_has_not_changed_since_is_not_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", 0)
    sizes = set()
    for seed in range(30):
        old, new = versions(Random(seed))
        seen = [NodeState(name, 1.0, 1.0, 1.0, commit=OLD, digest=old[name].digest) for name in old]
        found = find_behind(new, seen, NoCache(), lambda commit: old if commit == OLD else None, TODAY)  # noqa: B023
        assert found == find_behind(new, seen, NoCache(), lambda _: None, TODAY)
        assert found == {name for name in old if old[name].digest != new[name].digest}
        sizes.add(len(found))
    assert {0, 1, 12} <= sizes


def test_a_failure_counts_while_the_same_is_meant() -> None:
    """A commit that changes nothing for a node leaves it failed; with one that does that is over."""
    sizes = set()
    for seed in range(30):
        old, new = versions(Random(seed))
        seen = [NodeState(name, 1.0, 1.0, 1.0, result=Result(OLD, "reverted", 1.0)) for name in old]
        same = frozenset(name for name in old if old[name].digest == new[name].digest)
        found = find_failing(new, seen, NoCache(), lambda commit: old if commit == OLD else None, TODAY)  # noqa: B023
        assert found == same
        assert not find_failing(new, seen, NoCache(), lambda _: None, TODAY)
        assert find_failing(old, seen, NoCache(), lambda _: None, TODAY) == set(old)
        sizes.add(len(same))
    assert {0, 12} <= sizes


@pytest.mark.parametrize("text", ["1", "2"])
def test_who_walks_in_failed_at_what_all_who_do_get(text: str) -> None:
    files = {"gitcfg.yaml": "format: 1\nwalk_in: {groups: [g]}\n"}
    old, new = (
        in_memory({**files, "groups/g.yaml": f"files: {{/etc/f: {{text: '{said}'}}}}\n"}, TODAY)
        for said in ("1", text)
    )
    old.commit, new.commit = OLD, TIP
    seen = [NodeState("guest", 1.0, 1.0, 1.0, result=Result(OLD, "failed", 1.0))]
    found = find_failing(new, seen, NoCache(), lambda _: old, TODAY)
    assert found == (frozenset({"guest"}) if text == "1" else frozenset())


def test_git_alone_knows_who_is_retired_or_held() -> None:
    with fleet(Random(1), walk_in=False) as known:
        places = join_nodes(describe_nodes(known, TODAY), None, Tip())
        for place in places:
            retired = known.roster.definition(place.name).retired
            held = holding(known, place.name) is not None
            assert place.state == ("retired" if retired else "held" if held else None)


def test_every_column_says_something_of_every_node() -> None:
    alone = InventoryNode("n", None, None, None)
    assert {get_value(alone, name) for name in ("commit", "since", "checkin", "facts", "hold", "key")} == {
        None
    }
    assert (get_value(alone, "name"), get_value(alone, "groups"), get_value(alone, "labels")) == ("n", [], [])
    seen = InventoryNode("n", None, NodeState("n", 1.0, 3.0, 2.0, facts={"os": "el9"}), NodeStatus.PENDING)
    assert {name: get_value(seen, name) for name in ("first", "checkin", "facts", "drifted", "state")} == {
        "first": 1.0,
        "checkin": 3.0,
        "facts": {"os": "el9"},
        "drifted": 0,
        "state": "pending",
    }
    assert all(
        get_value(alone, name) is None or name in ("name", "groups", "labels", "overdue") for name in COLUMNS
    )


@pytest.mark.parametrize("keys", ["", f"n1 {key(1)}\n"])
@pytest.mark.parametrize(("digest", "outcome", "wanted"), [("", "ok", "ok"), ("0" * 64, "ok", "behind")])
@pytest.mark.parametrize("commit", [TIP, OLD])
def test_who_has_no_agent_is_neither_away_nor_pending(
    keys: str, digest: str, outcome: str, wanted: str, commit: str
) -> None:
    known = in_memory({**FILES, "nodes/n1.yaml": "groups: [g]\n", "keys/k.txt": keys}, TODAY)
    known.commit = TIP
    runs = OLD if digest else commit
    said = NodeState(
        *("n1", 1.0, 1.0, 1.0, "", runs, digest or known["n1"].digest, 1.0),
        Result(TIP, outcome, 1.0),
        via="alice",
        deployed=1.0,
    )
    assert standing_of(known, said) == wanted
    # Once an agent has asked by a key that git has not, somebody is to agree to it.
    assert standing_of(known, replace(said, key=key(2))) == (wanted if keys else "pending")
    # It did check in once, and the deploy saw its agent: then it is silent.
    late = replace(said, key=key(1), interval=60.0)
    assert standing_of(known, late) == ("away" if keys else "pending")
    failed = replace(said, result=Result(TIP, "reverted", 1.0, "check"), failed_commit=TIP)
    assert standing_of(known, failed) == ("reverted" if wanted == "behind" else "ok")


@pytest.mark.parametrize("via", ["alice", None])
def test_who_failed_is_not_ok_until_it_says_otherwise(via: str | None) -> None:
    """Even the way back failed: its files stand as the record says, and its daemons may have any others."""
    known = in_memory({**FILES, "nodes/n1.yaml": "groups: [g]\n", "keys/k.txt": f"n1 {key(1)}\n"}, TODAY)
    known.commit = TIP
    came = ("n1", 1.0, NOW, NOW, key(1))

    def said(commit: str, outcome: str, runs: str = OLD) -> NodeState:
        result = Result(commit, outcome, NOW)
        return NodeState(*came, runs, known["n1"].digest, 1.0, result, via=via, interval=60.0)

    # What it is to run is what its record says; what failed was that, or another that was taken back since.
    assert standing_of(known, said(TIP, "failed")) == "failed"
    assert standing_of(known, said(TIP, "failed", TIP)) == "failed"
    assert standing_of(known, said(OLD, "failed")) == "behind"
    for outcome in ("ok", "unchanged", "reverted", "refused"):
        assert standing_of(known, said(OLD, outcome)) == standing_of(known, said(TIP, outcome)) == "ok"


def standing_of(known: Fleet, said: NodeState) -> str | None:
    late = find_behind(known, [said], NoCache(), lambda _: None, TODAY)
    failed = find_failing(known, [said], NoCache(), lambda _: None, TODAY)
    (place,) = join_nodes(describe_nodes(known, TODAY), {said.node: said}, Tip(late, None, NOW, failed))
    return place.state


def test_how_it_came_to_be_known_is_told() -> None:
    never = InventoryNode("n", None, None, None)
    agent = InventoryNode("n", None, NodeState("n", 1.0, 3.0, 2.0), NodeStatus.OK)
    seen = NodeState("n", 1.0, 3.0, 2.0, via="alice", deployed=3.0)
    both = InventoryNode("n", None, replace(seen, interval=60.0), NodeStatus.OK)
    names = ("via", "who", "deployed", "checkin")
    told = [
        tuple(get_value(place, name) for name in names)
        for place in (never, agent, InventoryNode("n", None, seen, None), both)
    ]
    assert told == [
        (None, None, None, None),
        ("agent", None, None, 3.0),
        ("deploy", "alice", 3.0, None),
        ("deploy", "alice", 3.0, 3.0),
    ]
