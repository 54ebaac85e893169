"""A check after a change finds of rules what a whole check finds: they are asked of all nodes anew."""

import pytest

from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from tests.compile.fleets import TODAY
from tests.load.keeping import Dictionary

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
    "a new allocation": {"allocations/r.yaml": "install: [n9]"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_change_does_to_rules_is_found(change: str) -> None:
    cache = Dictionary()
    before = Fleet(DictTree(FILES), None, TODAY, cache).findings
    assert not any(finding.is_error for finding in before)
    files = {**FILES, **CHANGES[change]}
    found = Fleet(DictTree(files), None, TODAY, cache).findings
    assert found == Fleet(DictTree(files), None, TODAY, Dictionary()).findings
    assert any(finding.is_error for finding in found)


COLLECTED = {
    "gitcfg.yaml": "format: 1\n",
    "features/dns.yaml": "{}",
    "parameters/p.yaml": "parameters: {P: {description: One., type: string}}",
    "nodes/n1.yaml": "features: [dns]",
    "nodes/n2.yaml": "params: {P: {$collect: {param: name, feature: dns, one: true}}}",
    **{f"nodes/n{number}.yaml": "{}" for number in range(3, 20)},
}


@pytest.mark.parametrize("changed", ["nodes/n1.yaml", "nodes/n3.yaml"])
def test_what_a_change_does_to_what_others_collect_is_found(changed: str) -> None:
    """There is no rule, and no layer but a node's own that collects."""
    cache = Dictionary()
    before = Fleet(DictTree(COLLECTED), None, TODAY, cache).findings
    assert not any(finding.is_error for finding in before)
    files = {**COLLECTED, changed: "features: [dns]" if changed == "nodes/n3.yaml" else "labels: [x]"}
    found = Fleet(DictTree(files), None, TODAY, cache).findings
    assert [(finding.code, finding.nodes) for finding in found if finding.is_error] == [("GC401", ("n2",))]
    assert found == Fleet(DictTree(files), None, TODAY, Dictionary()).findings
