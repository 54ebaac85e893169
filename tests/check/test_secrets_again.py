"""A check that takes over from an earlier one, after changes of secrets and of what binds them."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from gitcfg.check import incremental
from gitcfg.generate.files import secret
from tests.check.test_again import different, fleet
from tests.load.keeping import Dictionary
from tests.seeds import mostly_slow

Files = dict[str, str]

_NAMES = ("pool", "site", "host")
_WHO = ("true", "false", 'node.name != "n07"', '"g1" in node.groups', "node.facts.x == 1", "broken (")
_BOUND = ("{$secret: %s}", "{$secret: %s}", "{$append: %s}", "null", "%s", "{$secret: nobody}")
_FILES = (
    "",
    "files: {/etc/a: {format: json, params: ['*']}}\n",
    "files: {/etc/a: {format: json, params: ['*', '!S']}}\n",
    "files: {/etc/a: {format: json, params: {tags: [t]}}, /etc/c: {template: all.j2}}\n",
    "files: {/etc/a: {format: json, params: ['*'], mode: '0600'}}\n",
)
_WIDE = (
    "files: {/etc/a: {format: json, params: ['*'], mode: '0644'}}\n",
    "files: {/etc/b: {template: t.j2, mode: '0644'}}\n",
)


def start(rng: Random) -> Files:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": (
            "parameters:\n"
            "  S: {type: string, description: d, secret: true, tags: [t]}\n"
            "  L: {type: list, description: d, tags: [t]}\n"
            "  O: {type: string, description: d, tags: [t]}\n"
        ),
        "templates/t.j2": "{{ params.get('S') }}\n",
        "templates/all.j2": "{% for name in params %}{{ name }}{% endfor %}\n",
        **{f"groups/g{number}.yaml": _layer(rng) for number in range(12)},
        **{f"features/f{number}.yaml": _layer(rng) for number in range(3)},
    }
    for number in range(48):
        files[f"nodes/n{number:02}.yaml"] = _node(rng, number)
    for name in _NAMES:
        files |= dict(secret(name, 1, rng.randbytes(160)))
    return files


def _layer(rng: Random) -> str:
    params = [f"{name}: {_bound(rng)}" for name in rng.sample("SL", rng.randrange(3))]
    params += ["O: x"] if rng.random() < 0.3 else []
    # What others can read is told of no node, so that whoever takes over looks at all of them.
    wide = rng.random() < 0.02
    return f"params: {{{', '.join(params)}}}\n{rng.choice(_WIDE if wide else _FILES)}{_described(rng)}"


def _described(rng: Random) -> str:
    return rng.choice(("", "", "description: d\n", "description: AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQ\n"))


def _bound(rng: Random) -> str:
    said = rng.choice(_BOUND)
    return said % rng.choice(_NAMES) if "%" in said else said


def _node(rng: Random, number: int) -> str:
    own = f"params: {{S: {_bound(rng)}}}\n" if rng.random() < 0.2 else ""
    features = f"features: [f{rng.randrange(3)}]\n" if rng.random() < 0.3 else ""
    return f"groups: [g{number % 12}]\nfacts: {{x: {rng.randrange(2)}}}\n{features}{own}{_described(rng)}"


def edited(files: Files, rng: Random) -> Files:
    """A secret is another, or gone, or copied; or something binds others."""
    result, name = dict(files), rng.choice(_NAMES)
    said, held = f"secrets/{name}.yaml", f"secrets/{name}.age"
    match rng.randrange(8):
        case 0 | 1:
            result |= dict(secret(name, rng.randrange(1, 4), rng.randbytes(160), rng.choice(_WHO)))
        case 2 if said in result:
            result[said] = result[said].replace("nobody", "somebody")
        case 3:
            result.pop(rng.choice((said, held)), None)
        case 4 if held in result:
            result[f"secrets/{rng.choice(_NAMES)}.age"] = rng.choice((result[held], "plain"))
        case 5:
            result[f"groups/g{rng.randrange(12)}.yaml"] = _layer(rng)
        case 6:
            result[f"features/f{rng.randrange(3)}.yaml"] = _layer(rng)
        case _:
            number = rng.randrange(48)
            result[f"nodes/n{number:02}.yaml"] = _node(rng, number)
    return result


def law(seed: int) -> None:
    rng, cache = Random(seed), Dictionary()
    files = start(rng)
    for _ in range(6):
        with fleet(files, cache) as taken, fleet(files, Dictionary()) as whole:
            assert different(taken.findings, whole.findings) == []
            assert taken.findings == whole.findings
        files = edited(files, rng)


@pytest.mark.parametrize("seed", mostly_slow(range(8)))
def test_it_finds_what_a_whole_check_finds(seed: int) -> None:
    law(seed)


def _counting(real: Callable[..., Any], results: list[bool]) -> Callable[..., Any]:
    def counted(*given: Any) -> Any:
        found = real(*given)
        results.append(found is not None)
        return found

    return counted


@pytest.mark.slow
def test_it_is_taken_over_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the law above would say nothing."""
    results: list[bool] = []
    monkeypatch.setattr(incremental, "recheck", _counting(incremental.recheck, results))
    for seed in range(4):
        law(seed)
    assert results.count(True) > len(results) / 5, results


def test_another_version_of_a_secret_concerns_those_who_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[bool] = []
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {S: {type: string, description: d, secret: true}}\n",
        "groups/g1.yaml": "params: {S: {$secret: pool}}\nfiles: {/e: {format: json, params: ['*']}}\n",
        **{f"nodes/n{number}.yaml": f"groups: [{'g1' if number < 3 else ''}]\n" for number in range(30)},
        **dict(secret("pool", 1, Random(0).randbytes(160))),
    }
    cache = Dictionary()
    with fleet(files, cache) as first:
        assert first.findings == ()
    monkeypatch.setattr(incremental, "recheck", _counting(incremental.recheck, results))
    for who in ('node.name != "n2"', "true"):
        files |= dict(secret("pool", 2, Random(1).randbytes(160), who))
        with fleet(files, cache) as taken, fleet(files, Dictionary()) as whole:
            assert taken.findings == whole.findings
            assert [(one.code, one.nodes) for one in taken.findings] == (
                [] if who == "true" else [("GC308", ("n2",))]
            )
    assert results == [True, True]
