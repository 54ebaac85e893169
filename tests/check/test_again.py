"""A check that takes over from an earlier one finds what a whole check finds."""

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from gitcfg.check import incremental
from gitcfg.generate.repository import MISTAKES, repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.load.keys import written
from gitcfg.model import Finding
from tests.compile.fleets import TODAY, mixed
from tests.load.keeping import Dictionary
from tests.seeds import mostly_slow


def fleet(files: Mapping[str, str], cache: Any, before: Mapping[str, str] | None = None) -> Fleet:
    return Fleet(DictTree(files), DictTree(before) if before else None, TODAY, cache)


def edited(files: Mapping[str, str], rng: Random) -> dict[str, str]:
    """A line less, a file that says what another said, a node gone or come."""
    result = dict(files)
    kind = rng.choice(("features", "groups", "groups", "nodes", "nodes", "subsystems"))
    paths = [path for path in sorted(result) if path.startswith(kind + "/")]
    if not paths:
        return result
    path = rng.choice(paths)
    lines = result[path].splitlines(keepends=True)
    what = rng.randrange(5)
    if what == 0 and kind == "nodes":
        del result[path]
    elif what == 1 and kind == "nodes":
        result[f"nodes/new{rng.randrange(10)}.example.com.yaml"] = result[path]
    elif what == 2 and len(lines) > 2:
        lines.pop(rng.randrange(1, len(lines)))
        result[path] = "".join(lines)
    else:
        result[path] = result[rng.choice(paths)]
    return result


def delivered(files: Mapping[str, str], rng: Random) -> dict[str, str]:
    """Keys and holds, of nodes that are there and of some that are not, now and then wrong."""
    result = {path: text for path, text in files.items() if not path.startswith(("keys/", "holds/"))}
    nodes = [path[6:-5] for path in result if path.startswith("nodes/")] + ["gone.example.com"]
    lines = [f"{name} {written(rng.randbytes(1) * 32)}" for name in rng.sample(nodes, min(5, len(nodes)))]
    groups = sorted(path[7:-5] for path in result if path.startswith("groups/"))
    result["gitcfg.yaml"] = f"format: 1\nwalk_in: {{groups: [{groups[0]}]}}\n"
    result["keys/a.txt"] = "\n".join(lines)
    result["keys/b.txt"] = rng.choice(("", lines[0], "nothing", f"gone2 {written(b'x' * 32)}"))
    for name in rng.sample("ab", rng.randrange(3)):
        until = rng.choice(("2020-01-01", "2099-01-01", "2099-02-30"))
        result[f"holds/{name}.yaml"] = (
            f"nodes: {rng.choice(nodes)}\nreason: r\nuntil: {until}\ncommit: 3f2a91c\n"
        )
    return result


def governed(files: Mapping[str, str], rng: Random) -> dict[str, str]:
    """Rules and allocations, some of which name what is not there, or bind what does not fit."""
    result = {path: text for path, text in files.items() if not path.startswith(("rules/", "allocations/"))}
    features = sorted(path.rpartition("/")[2][:-5] for path in result if path.startswith("features/"))
    names = [*rng.sample(features, min(4, len(features))), "gone"]
    lines = [f"  r{number}: {{install: '{rng.choice(names)}', count: 1}}\n" for number in range(4)]
    lines += ["  out: {forbid: {by: [x], groups: [gone, 'g*'], rules: [r0, r9]}}\n"] * rng.randrange(2)
    lines += ["  set: {set: {gone: 1}}\n"] * (rng.random() < 0.1)
    lines += ["  wrong: {}\n"] * (rng.random() < 0.1)
    result["rules/a.yaml"] = f"rules:\n{''.join(lines)}"
    for number in rng.sample(range(6), 2):
        result[f"allocations/r{number}.yaml"] = (
            "install: [n1, n1]\n" if rng.random() < 0.3 else "install: []\n"
        )
    return result


def different(found: tuple[Finding, ...], wanted: tuple[Finding, ...]) -> list[str]:
    """What only one of two checks has found: easier to read than two long lists."""
    missing = [f"missing: {one}" for one in wanted if one not in found]
    return [*missing, *(f"invented: {one}" for one in found if one not in wanted)]


@pytest.mark.parametrize("seed", mostly_slow(range(24)))
def test_a_check_that_takes_over_is_a_whole_check(seed: int) -> None:
    rng = Random(seed)
    planted = tuple(rng.sample(sorted(MISTAKES), 1)) if rng.random() < 0.4 else ()
    options = replace(mixed(seed), nodes=30, memberships=2, groups=12, overrides=seed % 2, mistakes=planted)
    options = replace(options, types=replace(options.types, any=0 if seed % 4 else 2))
    files, before, cache = dict(repository(options)), None, Dictionary()
    for _ in range(4):
        with fleet(files, cache, before) as taken, fleet(files, Dictionary(), before) as whole:
            assert different(taken.findings, whole.findings) == []
            assert taken.findings == whole.findings
        before, files = files, edited(files, rng)


@pytest.mark.parametrize("seed", mostly_slow(range(12)))
def test_so_it_is_with_keys_and_holds(seed: int) -> None:
    rng = Random(seed)
    files, cache = dict(repository(replace(mixed(seed), nodes=30, groups=12))), Dictionary()
    for _ in range(4):
        with fleet(files, cache) as taken, fleet(files, Dictionary()) as whole:
            assert different(taken.findings, whole.findings) == []
        files = delivered(files if rng.randrange(2) else edited(files, rng), rng)


@pytest.mark.parametrize("seed", mostly_slow(range(12)))
def test_so_it_is_with_rules(seed: int) -> None:
    beside_rules(seed)


def beside_rules(seed: int) -> None:
    rng = Random(seed)
    files, cache = dict(repository(replace(mixed(seed), nodes=30, groups=12))), Dictionary()
    for _ in range(4):
        with fleet(files, cache) as taken, fleet(files, Dictionary()) as whole:
            assert different(taken.findings, whole.findings) == []
        files = edited(files, rng) if "rules/a.yaml" in files and rng.randrange(3) else governed(files, rng)


@pytest.mark.parametrize("seed", mostly_slow(range(6)))
def test_so_it_is_with_what_is_ignored_and_with_days_that_pass(seed: int) -> None:
    """What is left out is what a naive reading leaves out; who changes `ignore` alone concerns no node."""
    rng = Random(seed)
    files, cache = dict(repository(replace(mixed(seed), nodes=30, groups=12, overrides=1))), Dictionary()
    for step in range(4):
        today = TODAY + timedelta(days=3 * step)
        plain = {**files, "gitcfg.yaml": "format: 1\n"}
        with Fleet(DictTree(plain), None, today, Dictionary()) as whole:
            every = whole.findings
        entries = known(every, rng, today)
        files["gitcfg.yaml"] = "format: 1\n" + (f"ignore:\n{''.join(map(entry, entries))}" if entries else "")
        with (
            Fleet(DictTree(files), None, today, cache) as taken,
            Fleet(DictTree(files), None, today, Dictionary()) as whole,
        ):
            assert different(taken.findings, whole.findings) == []
            left = [one for one in every if one.is_error or not leave_out(entries, one, today)]
            assert [one for one in taken.findings if one.code != "GC518"] == left
            assert taken.checked.ignored == whole.checked.ignored
        files = edited(files, rng) if rng.randrange(2) else files


Said = tuple[str, str | None, date | None]


def known(found: tuple[Finding, ...], rng: Random, today: date) -> list[Said]:
    """Some of what was found, as entries of `ignore`, and one that there is not."""
    said = [(one.code, rng.choice((None, *one.subjects)), None) for one in found if not one.is_error]
    some = [*rng.sample(said, min(3, len(said))), ("GC504", "Nothing", None)]
    days = (None, today, today - timedelta(days=1))
    return [(code, subject, rng.choice(days)) for code, subject, _ in some]


def entry(said: Said) -> str:
    code, subject, until = said
    more = "" if subject is None else f"  subject: {json.dumps(subject)}\n"
    return f"- code: {code}\n  reason: r\n{more}" + (f"  until: {until}\n" if until else "")


def leave_out(entries: list[Said], finding: Finding, today: date) -> bool:
    """GC510 is told once of many parameters: it is left out when all of them are."""
    valid = [said for said in entries if said[0] == finding.code and (said[2] is None or today <= said[2])]
    named = {subject for _, subject, _ in valid}
    if finding.code == "GC510":
        return None in named or named.issuperset(finding.subjects)
    return None in named or not named.isdisjoint(finding.subjects)


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        test_a_check_that_takes_over_is_a_whole_check,
        test_so_it_is_with_keys_and_holds,
        test_so_it_is_with_what_is_ignored_and_with_days_that_pass,
    ],
)
def test_it_is_taken_over_at_all(law: Callable[[int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the laws above would say nothing."""
    results: list[bool] = []
    real = incremental.recheck

    def counted(*given: Any) -> Any:
        found = real(*given)
        results.append(found is not None)
        return found

    monkeypatch.setattr(incremental, "recheck", counted)
    for seed in range(8):
        law(seed)
    assert results.count(True) > len(results) / 3, results


def test_a_check_with_parsers_spares_the_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    files, cache = dict(repository(mixed(2))), Dictionary()
    with fleet(files, Dictionary()) as whole, fleet(files, cache) as first:
        wanted = whole.findings
        assert first.all_findings
    monkeypatch.setattr("gitcfg.check.run.examine", None)
    with fleet(files, cache) as second:
        assert second.findings == wanted


def test_a_parameter_counts_for_nothing_once_nobody_collects_it() -> None:
    """Of nodes that have not changed, too."""
    many = {f"nodes/n{number}.yaml": "params: {address: a}\n" for number in range(9)}
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {address: {type: string}, peers: {type: list}}\n",
        "features/f.yaml": "params: {peers: {$collect: {param: address, feature: f}}}\n",
        "groups/g.yaml": "features: [f]\n",
        "nodes/n9.yaml": 'groups: [g]\nfiles: {/etc/peers: {format: json, params: ["*"]}}\n',
        **many,
    }
    later = {**files, "features/f.yaml": "params: {peers: [b]}\n"}
    cache = Dictionary()
    assert "GC510" not in {one.code for one in fleet(files, cache).findings}
    assert "GC510" in {one.code for one in fleet(later, cache).findings}
    assert fleet(files, cache).findings == fleet(files, Dictionary()).findings
