"""A check after a change finds of rules what a whole check finds, and looks again only where it must."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from gitcfg.check import incremental
from gitcfg.edit.decision import allocation_text
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.load.repository import load
from gitcfg.model import Finding
from gitcfg.solve.fleet.answers import RuleFailure, Solved
from gitcfg.solve.fleet.decide import decide
from tests.compile.fleets import TODAY
from tests.load.keeping import Dictionary
from tests.seeds import mostly_slow

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/mail.yaml": "{}",
    "parameters/p.yaml": "parameters: {P: {description: One., type: integer}}",
    "rules/r.yaml": "rules: {r: {install: mail, count: 1}, u: {domain: {P: [1-9]}, unique: fleet}}",
    "allocations/r.yaml": "install: [n3]",
    **{f"nodes/n{number}.yaml": f"params: {{P: {number}}}" for number in range(1, 9)},
}
CHANGES = {
    "a value that another node has": {"nodes/n1.yaml": "params: {P: 2}"},
    "a feature by hand": {"nodes/n1.yaml": "features: [mail]\nparams: {P: 1}"},
    "a node that retires": {"nodes/n3.yaml": "state: retired\nparams: {P: 3}"},
    "a node that has no value": {"nodes/n3.yaml": "labels: [x]"},
    "a new allocation": {"allocations/r.yaml": "install: [n9]"},
}


def findings(files: Mapping[str, str], cache: Any) -> tuple[Finding, ...]:
    with Fleet(DictTree(files), None, TODAY, cache) as fleet:
        return fleet.findings


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_change_does_to_rules_is_found(change: str) -> None:
    cache = Dictionary()
    assert not any(finding.is_error for finding in findings(FILES, cache))
    files = {**FILES, **CHANGES[change]}
    found = findings(files, cache)
    assert found == findings(files, Dictionary())
    assert any(finding.is_error for finding in found)


FLEET = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """
        parameters:
          port: {description: One., type: integer}
          zone: {description: Two., type: string}
          note: {description: Three., type: string}
        """,
    "features/service.yaml": "description: d\n",
    "features/mail.yaml": "include: [service]\ndescription: d\n",
    "features/web.yaml": "include: [service]\ndescription: d\nparams: {note: w}\n",
    "features/client.yaml": "description: d\n",
    "features/interface.yaml": "description: d\n",
    "features/extra.yaml": "description: d\n",
    "groups/default.yaml": "description: d\nparams: {note: d}\n",
    "rules/all.yaml": """
        rules:
          clients: {install: client, where: '"c" in node.labels'}
          mail: {install: mail, per: node.facts.rack, count: 1}
          webs: {install: web, count: {min: 2}, where: '!("mail" in node.features)'}
          services: {limit: service, per: node.name, count: {max: 2}}
          ports: {domain: {port: [1-60]}, unique: fleet}
          zones: {domain: {zone: [a, b, c, d]}, where: '"client" in node.features', unique: node.facts.rack}
          hosts: {domain: {host: [1-40]}, over: interface, unique: self.with.subnet}
          sets: {set: {note: s}, where: '"web" in node.features'}
          even: {require: '!has(node.facts.odd)', message: odd}
          kings: {require: 'size(nodes) <= 2', per: node.facts.rack, where: '"king" in node.labels'}
        """,
}
LINES = (
    "labels: [c]",
    "labels: [king]",
    "labels: [c, king]",
    "facts: {rack: r1}",
    "facts: {rack: 1}",
    "facts: {rack: true}",
    "facts: {rack: r1, odd: 1}",
    "features: [web]",
    "features: [mail, web]",
    "features: [{feature: interface, as: e0, with: {subnet: s1}}]",
    "features: [{feature: interface, as: e0, with: {subnet: s1, host: 3}}, web]",
    "features: [extra]",
    "params: {port: 5}",
    "params: {port: 61, note: x}",
    "params: {note: y}",
    "state: retired",
)
SOUND = (
    "facts: {rack: r1}",
    "labels: [c]",
    "params: {note: y}",
    LINES[9],
    "features: [web]",
    "features: [extra]",
)
INCLUDES = (
    "",
    "include: [service]\n",
    "include: [mail]\n",
    "include: [{feature: interface, as: x, with: {subnet: s2, host: 39}}]\n",
    "params: {note: e}\n",
)
"""What the feature that no rule names may say: its nodes are few."""


def node(rng: Random, lines: tuple[str, ...]) -> str:
    """What a node says: at most one line of a kind, and nearly always a rack."""
    said = {line.partition(":")[0]: line for line in rng.sample(lines, rng.randrange(3))}
    if lines is SOUND or rng.random() < 0.9:
        said.setdefault("facts", f"facts: {{rack: r{rng.randrange(1, 3)}}}")
    return "description: d\n" + "".join(f"{line}\n" for line in said.values())


def decided(files: Mapping[str, str]) -> dict[str, str]:
    """With the allocations that rules ask for; without any where none would do."""
    tree = DictTree(files)
    try:
        found = decide(load(tree), tree, TODAY)
    except RuleFailure:
        return dict(files)
    rest = {path: text for path, text in files.items() if not path.startswith("allocations/")}
    made = found.allocations if isinstance(found, Solved) else {}
    return {**rest, **{f"allocations/{name}.yaml": allocation_text(said) for name, said in made.items()}}


def changed(files: Mapping[str, str], rng: Random) -> dict[str, str]:
    """A node that says something else, is gone or new; now and then something of which others are made."""
    result, name = dict(files), f"nodes/n{rng.randrange(24):02}.yaml"
    what = rng.randrange(12)
    if what == 0:
        result.pop(name, None)
    elif what == 1:
        result["groups/default.yaml"] = f"description: d\nparams: {{note: {rng.randrange(9)}}}\n"
    elif what == 2:
        result["features/web.yaml"] = (
            f"include: [service]\ndescription: d\nparams: {{note: {rng.randrange(9)}}}\n"
        )
    elif what == 3:
        result[name] = node(rng, SOUND)
        return decided(result)
    elif what == 4:
        paths = [path for path in result if path.startswith("allocations/")]
        path = rng.choice(paths or [name])
        result[path] = f"# later\n{result.get(path, '{}')}"
    elif what == 5:
        result["features/extra.yaml"] = f"description: d\n{rng.choice(INCLUDES)}"
    elif what < 9 and name in result:
        said = {line.partition(":")[0]: line for line in result[name].splitlines()}
        said.setdefault("labels", rng.choice(("labels: []", "labels: [king]")))
        result[name] = "\n".join({**said, "params": f"params: {{note: {rng.randrange(9)}}}"}.values())
    else:
        result[name] = node(rng, LINES if rng.randrange(2) else SOUND)
    return result


def a_history_is_checked_as_a_whole(seed: int) -> None:
    """Change after change, going on from those after which rules hold."""
    rng, cache = Random(seed), Dictionary()
    files = {**FLEET, **{f"nodes/n{number:02}.yaml": node(rng, SOUND) for number in range(20)}}
    files = decided(files)
    findings(files, cache)
    for _ in range(8):
        after, kept = changed(files, rng), deepcopy(cache)
        found, whole = findings(after, kept), findings(after, Dictionary())
        assert [str(one) for one in found] == [str(one) for one in whole]
        assert found == whole
        if not any(finding.is_error for finding in found):
            files, cache = after, kept


@pytest.mark.parametrize("seed", mostly_slow(range(10)))
def test_a_check_that_takes_over_finds_of_rules_what_a_whole_one_finds(seed: int) -> None:
    a_history_is_checked_as_a_whole(seed)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each check took over from the one before."""
    results: list[bool] = []
    real: Callable[..., Any] = incremental.recheck

    def noted(*given: Any) -> Any:
        found = real(*given)
        results.append(found is not None)
        return found

    monkeypatch.setattr(incremental, "recheck", noted)
    return results


def test_it_is_taken_over_at_all(taken: list[bool]) -> None:
    """Else the law above would say nothing."""
    for seed in range(4):
        a_history_is_checked_as_a_whole(seed)
    assert taken.count(True) > len(taken) / 4, taken


def test_a_new_node_is_looked_at_alone_with_what_was_decided_for_it(taken: list[bool]) -> None:
    rng, cache = Random(1), Dictionary()
    filed = FLEET["groups/default.yaml"] + 'files: {/etc/all: {format: json, params: ["*"]}}\n'
    nodes = {f"nodes/n{number:02}.yaml": node(rng, SOUND) for number in range(20)}
    files = decided({**FLEET, "groups/default.yaml": filed, **nodes})
    assert findings(files, cache) == ()
    later = decided({**files, "nodes/m.yaml": "labels: [c]\nfacts: {rack: r1}\n"})
    assert later["allocations/ports.yaml"].count("\n") == files["allocations/ports.yaml"].count("\n") + 1
    assert findings(later, cache) == findings(later, Dictionary()) == ()
    assert taken == [True]


def test_what_is_decided_for_no_rule_is_found() -> None:
    files = {path: text for path, text in FILES.items() if not path.startswith(("rules/", "allocations/"))}
    cache = Dictionary()
    findings(files, cache)
    later = {**files, "allocations/r.yaml": "install: [n3]"}
    assert findings(later, cache) == findings(later, Dictionary())
    assert "GC403" in {finding.code for finding in findings(later, cache)}


def test_rules_that_wait_for_themselves_since_a_feature_changed_are_found(taken: list[bool]) -> None:
    """That follows from no node."""
    rules = """
        rules:
          ports: {domain: {port: [1-9]}, over: interface}
          zones: {domain: {zone: [1-9]}, over: interface, where: self.with.port > 0}
        """
    outer = "include: [{feature: interface, as: e1, with: {port: 1, zone: 1}}]\n"
    circle = "include: [{feature: interface, as: e1, with: {port: '${with.zone}', zone: 1}}]\n"
    files = {
        **{path: FLEET[path] for path in ("gitcfg.yaml", "features/interface.yaml")},
        "rules/r.yaml": rules,
        "features/outer.yaml": f"description: d\n{outer}",
        **{f"nodes/n{number}.yaml": "description: d\n" for number in range(8)},
    }
    cache = Dictionary()
    assert not any(finding.is_error for finding in findings(files, cache))
    later = {**files, "features/outer.yaml": f"description: d\n{circle}"}
    found = findings(later, cache)
    assert found == findings(later, Dictionary())
    assert "GC407" in {finding.code for finding in found}
    assert taken == [False]
