"""`gitcfg rules`: what rules are about, how much room they leave, and which are never in force."""

import json
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.completing import write
from tests.cli.published import judge

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/all.yaml": "parameters:\n  port: {description: It., type: integer}\n",
    "features/Mail.yaml": "description: Mail.\n",
    "features/Net.yaml": "description: Net.\n",
    "nodes/n1.yaml": "features: [{feature: Net, as: e0, with: {lan: a, address: 10.0.0.1}}]\n",
    "nodes/n2.yaml": "features: [{feature: Net, as: e0, with: {lan: a}}]\n",
    "nodes/n10.yaml": "features: [{feature: Net, as: e0, with: {lan: b}}]\nwithout: [Mail]\n",
    "rules/r.yaml": """rules:
  mails: {install: Mail, count: 1}
  lans: {install: Mail, over: Net, per: self.with.lan, count: {max: 1}}
  all: {install: Net, where: 'node.name == "n9"'}
  addresses: {domain: {address: [10.0.0.1-10.0.0.9]}, over: Net, unique: fleet}
  away: {forbid: {by: [x@example.org], features: [Mail], inherit: false}}
  wrong: {limit: Mail, where: 'node.facts.rack == 1', count: {max: 1}}
  sane: {require: node.name.size() > 1, message: Give it a name}
  spread: {limit: Mail, per: 'node.name == "n2"', count: {max: 1}, description: Not all on one.}
""",
    "allocations/mails.yaml": "install: [n2]\n",
    "allocations/addresses.yaml": "values:\n  n2/e0: {address: 10.0.0.2}\n",
}
TOLD = """addresses  domain address  rules/r.yaml:5:3
  for        3 nodes: n[1-2,10]
  instances  3 of Net
  address    9 values, 7 free: 10.0.0.1-10.0.0.9
all  install Net  rules/r.yaml:4:3  never applies
away  forbid  rules/r.yaml:6:3
  by        x@example.org
  features  Mail
  inherit   no
lans  install Mail  rules/r.yaml:3:3
  for            3 nodes: n[1-2,10]
  instances      3 of Net
  groups         2
  wanted         at most 1 a group
  installed      0
  could take it  2 more
mails  install Mail  rules/r.yaml:2:3
  for            3 nodes: n[1-2,10]
  wanted         1
  installed      1: n2
  could take it  1 more: n1
sane  require  rules/r.yaml:8:3
  for        3 nodes: n[1-2,10]
  must hold  node.name.size() > 1
  else       Give it a name
spread  limit Mail  rules/r.yaml:9:3
  for        3 nodes: n[1-2,10]
  groups     2
  allowed    at most 1 a group
  installed  1
  full       1 of 2 groups
wrong  limit Mail  rules/r.yaml:7:3  never applies
  allowed          at most 1
  installed        0
  condition fails  on n[1-2,10]
"""


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("pool")
def test_rules_are_listed_with_what_they_leave_open(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rules"]) == 0
    assert capfd.readouterr().out == TOLD


@pytest.mark.usefixtures("pool")
def test_one_rule_is_told_with_its_groups(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "lans"]) == 0
    told = capfd.readouterr().out
    assert "    a            nowhere; could be on n[1-2]/e0\n" in told
    assert "    b            nowhere; nowhere else\n" in told
    assert run(["rules", "spread"]) == 0
    told = capfd.readouterr().out
    assert told.startswith("spread  limit Mail  rules/r.yaml:9:3\n  Not all on one.\n")
    assert told.endswith("    false    nowhere, of n[1,10]\n    true     n2, of n2\n")
    assert run(["rules", "lan"]) == 2
    assert "lans" in capfd.readouterr().err


@pytest.mark.usefixtures("pool")
def test_programs_read_them(capfd: pytest.CaptureFixture[str]) -> None:
    for form in ("json", "jsonl", "yaml"):
        assert run(["rules", "-o", form]) == 0
        judge(capfd.readouterr().out, form)
    assert run(["rules", "mails", "-o", "json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["rules"]
    assert found["groups"] == [{"key": None, "slots": ["n1", "n2", "n10"], "placed": ["n2"], "able": ["n1"]}]
    assert (found["in_force"], found["least"], found["most"]) == (True, 1, 1)
