"""A secret costs a check what a plain value does, and another version of it next to nothing: counted."""

from collections import Counter

from gitcfg.generate.files import secret
from tests.work.guards import CHANGED, CHECK, members
from tests.work.pools import Pool

EVERY = ("check", "-o", "json")
DECLARED = "parameters/secrets.yaml"
LAYER = "groups/default.yaml"


def bound(pool: Pool, where: str, said: str, version: int = 1) -> None:
    """A parameter that one layer binds, to a secret or not, and the secret."""
    pool.say(DECLARED, "parameters: {POOL_KEY: {type: string, description: d}}\n")
    head, params, rest = pool.files[where].partition("params:\n")
    assert params
    pool.say(where, f"{head}{params}  POOL_KEY: {said}\n{rest}")
    (pool.folder / "secrets").mkdir(exist_ok=True)
    raised(pool, version)


def raised(pool: Pool, version: int) -> None:
    group = "default" if "POOL_KEY" in pool.files[LAYER] else CHANGED.partition("/")[2].partition(".")[0]
    who = '"node" != node.name' if group == "default" else f'"{group}" in node.groups'
    for path, text in secret("pool", version, bytes(range(160)), who):
        pool.say(path, text)


def test_a_secret_costs_what_a_plain_value_does(pool: Pool) -> None:
    bound(pool, LAYER, "plain")
    plain = pool.cold(*EVERY)
    pool.say(LAYER, pool.files[LAYER].replace("POOL_KEY: plain", "POOL_KEY: {$secret: pool}"))
    work = pool.cold(*EVERY)
    assert len(pool.fleet.classes) > 100
    for kind in ("parsed", "compiled", "looked at", "composed", "spliced", "values composed", "asked"):
        assert work.total(kind) <= 1.1 * plain.total(kind), kind
    assert set(pool.run(*EVERY).told()) <= {"folders", "hashed"}  # nothing is committed


def test_another_version_asks_parsers_nothing(pool: Pool) -> None:
    bound(pool, LAYER, "{$secret: pool}")
    assert pool.cold(*EVERY).total("asked") > 100
    raised(pool, 2)
    work = pool.run(*EVERY)
    assert work.total("asked") <= 2  # whether HTCondor's parser is there
    assert set(work["parsed"]) <= {"secrets/pool.yaml", "gitcfg.yaml"}


def test_another_version_is_checked_where_it_goes(pool: Pool) -> None:
    bound(pool, CHANGED, "{$secret: pool}")
    pool.cold(*CHECK)
    raised(pool, 2)
    work = pool.run(*CHECK)
    names = members(pool.fleet, "group005")
    assert 0 < work.total("looked at") <= len(names)
    unpacked = Counter(str(path).partition("/")[0] for path in work["unpacked"])
    assert unpacked["nodes"] <= len(names)
