"""Schemas against the format: every example of it fits, and both validators agree on what is near."""

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg import bundled
from gitcfg.load.document import parse
from gitcfg.load.schema import problems

EXAMPLES = {
    "gitcfg": """
format: 1
default_group: default
undeclared: error
protected: [refs/heads/main]
check: tip
ratchet: false
signatures: off
walk_in: {groups: []}
release: {stages: [1, 10%, 100%], settle: 10m, max_failures: 3, first: '"canary" in node.labels'}
max_nodes: 200000
max_places: 100000
ignore: [{code: GC506, subject: NAME, reason: TEXT, until: 2027-01-31}]
""",
    "parameters": """
defaults: {macros: condor}
parameters:
  CONDOR_HOST:
    description: The central manager's host name.
    type: string
    schema: {minLength: 1}
    default: cm.example.com
    must_change: false
    restart: true
    depends: [OTHER_PARAM]
    conflicts: [THIRD]
    secret: false
    separator: comma
    unique: false
    macros: condor
    level: 0
    tags: [security]
  "SLOT_TYPE_*": {description: One kind of slot., type: expression}
""",
    "subsystems": """
subsystems:
  startd:
    description: Offers this machine to the pool.
    params: [START, "STARTD_*", "SLOT_TYPE_*"]
    files: ["/etc/condor/passwords.d/*"]
    features: [ExecuteNode]
    covers: []
    validate: [condor_config_val, -config, "{new}/etc/condor/condor_config"]
    reload: [condor_reconfig, -daemon, startd]
    restart: [condor_restart, -daemon, startd]
    stop: [condor_off, -daemon, startd]
    check: {run: [condor_who, -quick], timeout: 60s, retries: 5}
    using: new
""",
    "feature": """
description: A machine that runs jobs.
include: [BaseNode, {feature: Startd, as: "STARTD_[1-90]", with: {slots: 4}}]
depends: [Master]
conflicts: [SubmitOnly]
after: [NFSServer]
params:
  START: "TRUE"
  DAEMON_LIST: {$append: STARTD}
  DEFAULTED: null
  MAP: {key: {$append: 1}}
  A: {$prepend: [a, b]}
  B: {$remove: 1}
  C: {$and: A == 1}
  D: {$or: true}
  E: {$merge: {a: {b: 1}}}
  F: {$unset: true}
  G: {$default: 0.5}
  H: {$fact: rack}
  I: {$collect: {param: address, feature: dns-server, same: [subnet]}}
  J: {$secret: pool}
files:
  /etc/condor/config.d/50-gitcfg.config: {format: condor, params: ["*", "!telegraf.*"], mode: "0644"}
  /etc/motd: {template: motd.j2}
  /etc/telegraf.json: {format: json, params: {tags: [telegraf]}}
  /etc/plain: {text: "a", owner: root, group: root}
  /etc/copied: {source: copied}
  /etc/gone: null
resources: []
""",
    "group": """
description: Rack 3.
features: [ExecuteNode, {feature: Startd, as: "STARTD_[1-90]", with: {slots: 4}}]
params: {LOCAL_DIR: /scratch}
files: {}
""",
    "node": """
groups: [rack3, exec]
features: {$append: [{feature: Disk, as: sda}]}
without: {$remove: [GpuNode]}
params: {}
labels: {$prepend: [server, ssd]}
facts: {subnet: lab1, memory_gib: 64}
address: 10.0.3.17
state: active
""",
    "nodeset": """
nodes: exec[001-900].example.com
groups: [rack3, exec]
features: []
without: [GpuNode]
labels: [server, ssd]
facts: {rack: r1}
node_facts:
  exec[001-010].example.com: {rack: r2}
  exec017.example.com: {memory_gib: 64}
state: retired
""",
    "override": """
nodes: exec042.example.com
reason: bad DIMM, ticket 4711
until: 2027-01-15
params: {START: "FALSE"}
features: [Drained]
without: [GpuNode]
files: {/etc/motd: {text: Away.}}
""",
    "hold": """
where: node.facts.rack == "r3"
reason: bad DIMM, ticket 4711
until: 2027-01-15
commit: 3f2a91c
""",
    "rules": """
rules:
  dns-clients: {install: dns-client}
  one-mail-server:
    description: Some one of them.
    install: mail-server
    where: '"server" in node.labels'
    count: 1
  two-dhcp-per-subnet: {install: dhcp-server, over: interface, per: self.with.subnet, count: 2}
  at-most-four-services: {limit: service, per: node.name, count: {min: 1, max: 4}}
  search-domain:
    set: {dns.search_domain: mydomain.com, P: {$append: 1}}
    where: '"dns-client" in node.features'
  web-ports: {domain: {web.port: [80, "1024-65535"]}, where: '"web-server" in node.features'}
  public-addresses:
    domain: {address: ["134.58.39.0-134.58.47.255"]}
    over: interface
    unique: fleet
  one-central-manager:
    require: 'size(nodes) == 1'
    over: interface
    per: node.facts.pool
    where: '"CentralManager" in node.features'
    message: There must be one.
  bill-keeps-out: {forbid: {by: ["bill@example.com"], features: [service], params: ["a*"], groups: [g]}}
  ann-may:
    allow: {by: [ann], nodes: [n], files: [/f], subsystems: [s], templates: [t], secrets: [s], rules: ["*"]}
""",
    "allocation": """
install: [gw1, gw1/eth0]
values:
  gw1/eth0: {address: 134.58.39.1, port: 80}
""",
}
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7.5,
    "",
    "x",
    "$append",
    "2027-01-01\n",
    [],
    [None],
    ["a"],
    {},
    {"$append": 1},
)


def example(kind: str) -> Any:
    return parse(f"{kind}.yaml", EXAMPLES[kind].encode()).value


@cache
def oracle(kind: str) -> Any:
    return jsonschema.Draft202012Validator(msgspec.json.decode(bundled.read_schema(kind)))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_the_format_shows_fits(kind: str) -> None:
    assert problems(kind, example(kind)) == ()


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in below:
        yield from places(inner, (*path, key))


@given(st.sampled_from(sorted(EXAMPLES)), st.data())
def test_one_change_is_judged_alike_and_explained_where_it_is(kind: str, data: st.DataObject) -> None:
    document = copy.deepcopy(example(kind))
    path = data.draw(st.sampled_from([path for path in places(document) if path]))
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    change = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if change == "remove":
        del at[path[-1]]
    elif change == "add" and isinstance(at, dict):
        at[data.draw(st.sampled_from(["$append", "$x", "params", "nodes", "where", "zzz"]))] = 1
    else:
        at[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    found = problems(kind, document)
    if "\n" not in str(document.get("until", "")):  # before a last newline `$` holds in Python alone
        assert (found == ()) == oracle(kind).is_valid(document)
    valid_places = set(places(document))
    for problem in found:
        assert problem.path in valid_places
        assert re.fullmatch(r"[^\n]{5,250}\.", problem.message)


def subschemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from subschemas(inner)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_examples_and_defaults_in_a_schema_fit_their_own_part(kind: str) -> None:
    root = oracle(kind).schema
    for part in subschemas(root):
        if isinstance(part.get("type", part.get("enum")), str | list):
            judge = jsonschema.Draft202012Validator({**part, "$defs": root.get("$defs", {})})
            shown = [*part.get("examples", []), *([part["default"]] if "default" in part else [])]
            assert all(map(judge.is_valid, shown)), part


def test_what_schemas_share_is_the_same_in_each() -> None:
    shared: dict[str, Any] = {}
    for kind in EXAMPLES:
        for name, part in oracle(kind).schema.get("$defs", {}).items():
            assert shared.setdefault(name, part) == part, f"{name} in {kind}"


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_schema_refers_to_nothing_outside_and_allows_no_unknown_key(kind: str) -> None:
    for part in subschemas(oracle(kind).schema):
        assert str(part.get("$ref", "#")).startswith("#")
        if "properties" in part and isinstance(part.get("type"), str):
            collected = part["properties"].keys() >= {"param", "feature", "same"}  # GC206 is about its keys
            assert collected or part["additionalProperties"] is False
        if isinstance(part.get("additionalProperties"), dict):
            assert "patternProperties" not in part  # the explanation does not look there


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_key_of_a_kind_is_in_its_example(kind: str) -> None:
    keys = set(oracle(kind).schema["properties"])
    assert keys - set(example(kind)) <= {
        "description",
        "where",
        "nodes",
        "params",
        "files",
        "facts",
        "address",
    }
