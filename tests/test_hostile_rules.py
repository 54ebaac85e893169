"""Whatever an expression in a push costs, it ends as a finding, and what depends on it is made for nobody."""

import subprocess
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from gitcfg.cache import NoCache
from gitcfg.cli.main import run
from gitcfg.compile.selection import Stopped
from gitcfg.delivery.configuration import make_configuration
from gitcfg.gate.gate import Gate
from gitcfg.gate.policy import load_administrator
from gitcfg.gate.push import Update
from gitcfg.gate.rulings import Ruling
from gitcfg.git.repository import Config, Repository
from gitcfg.inventory.nodes import describe_nodes
from gitcfg.library import Fleet, compare, in_memory, open
from gitcfg.model import Finding
from gitcfg.server.fleets import find_tip, judge_tip
from gitcfg.server.view import load_outline
from gitcfg.solve.fleet import decide
from tests.output.rendered import Pool

TODAY = date(2026, 11, 22)
MAIN = "refs/heads/main"
Files = dict[str, str]
FILES: Files = {
    "gitcfg.yaml": f"format: 1\nprotected: [{MAIN}]\n",
    "parameters/p.yaml": "defaults: {description: d}\nparameters: {P: {type: string}, Q: {}}\n",
    "features/Web.yaml": "description: W.\nparams: {P: web}\n",
    "groups/default.yaml": "description: A.\nfiles: {/etc/p: {format: env, params: [P]}}\n"
    "params: {P: none}\n",
    "nodes/n1.yaml": "labels: [server]\n",
    "nodes/n2.yaml": "features: [Web]\n",
    "nodesets/m.yaml": "nodes: m[1-60]\n",
}
BOMB = "lists.range(100000000).size() == 1"
"""Ends at once, for want of memory."""
SLOW = "lists.range(500).all(x, sets.contains(lists.range(9000), lists.range(9000)))"
"""Ends when its time is used up."""
DEEP = "node.labels.all(x, " * 40 + "true" + ")" * 40


def rule(text: str) -> Files:
    return {"rules/r.yaml": f"rules:\n  bad:\n    {text}\n"}


BRINGING: dict[str, Files] = {
    "install": rule(f"install: Web\n    where: '{BOMB}'"),
    "set": rule(f"set: {{P: x}}\n    where: '{BOMB}'"),
    "override": {"overrides/o.yaml": f"where: '{BOMB}'\nreason: r\nuntil: 2030-01-01\nparams: {{P: o}}\n"},
    "collect": {
        "groups/default.yaml": FILES["groups/default.yaml"].replace(
            "P: none", f"Q: {{$collect: {{param: name, feature: Web, where: '{BOMB}'}}}}"
        )
    },
}
"""What nodes have depends on these."""


def errors(fleet: Fleet) -> list[Finding]:
    return [finding for finding in fleet.findings if finding.is_error]


@pytest.mark.parametrize("name", BRINGING)
def test_what_nobody_knows_is_made_for_no_node(name: str) -> None:
    files = FILES | BRINGING[name]
    with in_memory(files, TODAY) as fleet:
        (finding,) = errors(fleet)
        assert finding.code == "GC408"
        assert (finding.origins[0].file,) == tuple(path for path in BRINGING[name])
        assert BOMB in files[finding.origins[0].file].splitlines()[finding.origins[0].line - 1]
        for made in (
            lambda: fleet["n1"].params,
            lambda: fleet["n2"].files,
            lambda: fleet["n1"].digest,
            lambda: fleet.compiled.select("node.params.Q == 1").names,
            lambda: [fleet.valued([node])[node].digest for node in fleet],
            lambda: load_outline(fleet, NoCache()),
            lambda: compare(in_memory(FILES, TODAY), fleet).changes,
        ):
            with pytest.raises(Stopped):
                made()


@pytest.mark.parametrize("name", ["install", "set"])
def test_nothing_is_decided(name: str) -> None:
    with in_memory(FILES | BRINGING[name], TODAY) as fleet, pytest.raises(Stopped):
        decide(fleet.model, fleet.tree, TODAY)


def test_a_hold_that_nobody_knows_holds_up_everything() -> None:
    hold = f"where: '{BOMB}'\nreason: r\nuntil: 2030-01-01\ncommit: '{'0' * 40}'\n"
    with in_memory(FILES | {"holds/h.yaml": hold}, TODAY) as fleet:
        (finding,) = errors(fleet)
        assert (finding.code, finding.subjects, str(finding.origins[0])) == (
            "GC408",
            ("h",),
            "holds/h.yaml:1:9",
        )
        for asked in (lambda: describe_nodes(fleet, TODAY), lambda: load_outline(fleet, NoCache())):
            with pytest.raises(Stopped):
                asked()


JUDGING = {
    "slow": f"require: '{SLOW}'",
    "memory": f"require: '{BOMB}'",
    "all with all": "require: 'nodes.all(a, nodes.all(b, nodes.all(c, a.name + b.name + c.name != \"\")))'\n"
    "    per: '1'",
    "doubling": "require: '" + '["a"]' + ".map(a, a + a)" * 31 + ".size() == 1'",
    "long": f"require: '{' && '.join(['true'] * 3000)}'",
    "deep": f"require: '{DEEP}'",
    "not": "require: '" + "!" * 9_001 + "true'",
    "brackets": "require: '" + "(" * 4_000 + "true" + ")" * 4_000 + "'",
    "literal": f"require: '{'9' * 5_000} == 1'",
    "expression": f"require: 'node.name.matches(\"{'(a|b|ab)*' * 900}(\")'",
    "repetition": "require: 'node.name.matches(\"((x{999}){999}){999}\")'",
    "unicode": "require: 'n\u043ede.name == \"\u202e\"'",
    "key that is a map": "limit: Web\n    count: {max: 1}\n    per: '{\"a\": node.name}'",
    "key that is a list of lists": "limit: Web\n    count: {max: 1}\n    per: '[[node.name]]'",
    "key that is long": 'limit: Web\n    count: {max: 1}\n    per: \'node.name.replace("", "x".replace("", '
    '"0123456789")).replace("", "0123456789012345678901234567890")\'',
    "key that is slow": f"limit: Web\n    count: {{max: 1}}\n    per: '{SLOW}'",
    "unique": f"domain: {{P: [none, web]}}\n    unique: '{SLOW} ? 1 : 2'",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGING)
def test_whatever_a_rule_asks_ends_as_a_finding(name: str) -> None:
    with in_memory(FILES | rule(JUDGING[name]), TODAY) as fleet:
        found = errors(fleet)
        assert {finding.origins[0].file for finding in found} == {"rules/r.yaml"}
        assert {finding.code for finding in found} == {"GC402" if name == "not" else "GC408"}
        assert fleet["n1"].params == {"P": "none"}  # what only judges changes nothing of what nodes have


def test_all_values_of_an_address_are_a_domain_like_any_other() -> None:
    domain = "domain: {P: ['::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '0.0.0.0/0']}\n    unique: fleet"
    with in_memory(FILES | rule(domain), TODAY) as fleet:
        assert {finding.code for finding in errors(fleet)} == {"GC401", "GC404"} & {
            finding.code for finding in errors(fleet)
        }


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Good, bad, and good again."""
    made = Pool(tmp_path, [dict(FILES), FILES | BRINGING["install"], FILES | {"nodes/n3.yaml": "{}\n"}])
    made.git("update-ref", MAIN, made.commits[1])
    made.git("symbolic-ref", "HEAD", MAIN)
    made.git("clone", "-q", str(made.place), str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path / "work")
    return made


@pytest.mark.parametrize(
    "words",
    [
        "render n1",
        "render --all",
        "render n1 --params",
        "explain n1",
        "explain n1 P",
        "values P",
        "show nodes",
        "show node n1",
        "diff HEAD~1 HEAD",
        "export docs --out ../docs",
        "solve",
        "rules",
        "deploy n1 --dry-run",
        "graph node n1",
        "inventory --where node.params.P=='web'",
        "render --all --where node.name=='n1'",
    ],
)
def test_commands_say_it(words: str, pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert "error: The `where` of the rule bad fails: the expression used more than 512 MiB" in told.err
    assert "rules/r.yaml:4:12" in told.err


def test_nothing_is_deployed(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["deploy", "--yes"]) == 4
    told = capfd.readouterr()
    assert told.out == ""
    assert "error[GC408] The `where` of the rule bad fails" in told.err
    assert "nothing is deployed" in told.err


def test_a_condition_of_a_command_is_an_error(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "reset", "-q", "--hard", pool.commits[0]], check=True)
    for words in (["render", "--all"], ["inventory"], ["values", "P"]):
        assert run([*words, "--where", BOMB]) == 2
        told = capfd.readouterr()
        assert (told.out, told.err.splitlines()[0]) == (
            "",
            "error: --where fails: the expression used more than 512 MiB of memory.",
        )


def ruling(pool: Pool, old: int, new: int) -> Ruling:
    repository = Repository.served(pool.place)
    gate = Gate(
        repository,
        load_administrator(Config(repository)),
        NoCache(),
        datetime(2026, 11, 22, tzinfo=UTC),
        today=TODAY,
    )
    with gate.rulings([Update(MAIN, pool.commits[old], pool.commits[new])]) as rulings:
        (found,) = rulings
    return found


def test_a_push_of_it_is_refused_and_one_that_takes_it_away_gets_through(pool: Pool) -> None:
    pool.git("update-ref", MAIN, pool.commits[0])
    bad = ruling(pool, 0, 1)
    assert bad.refused
    assert bad.at_tip is not None
    assert [finding.code for finding in bad.at_tip.wrong if finding.is_error] == ["GC408"]
    pool.git("update-ref", MAIN, pool.commits[1])
    good = ruling(pool, 1, 2)
    assert not good.refused
    assert good.changes is None


def test_a_server_neither_accepts_nor_hands_it_out(pool: Pool) -> None:
    source = open(pool.place, TODAY)
    judged = judge_tip(source, find_tip(source.repository), pool.commits[0])
    assert (judged.accepted, judged.errors) == (pool.commits[0], 1)
    assert "GC408" in judged.message
    with source.at(pool.commits[1]) as fleet, pytest.raises(Stopped):
        make_configuration(fleet, "n1")


def test_the_history_that_has_it_is_told(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "fetch", "-q", str(pool.place), pool.commits[2]], check=True)
    subprocess.run(["git", "reset", "-q", "--hard", pool.commits[2]], check=True)
    for asked in (["n1"], ["P", "--kind", "param"], ["Web", "--kind", "feature"]):
        assert run(["log", *asked]) == 0
        assert pool.commits[0][:10] in capfd.readouterr().out
