"""What rules about features take along, and why."""

import pytest

from gitcfg.gate.permits.rules import (
    Thing,
    find_reasons,
    find_rules,
    inherits_same,
    load_permits,
    widen_rules,
)
from gitcfg.git.tree import DictTree
from gitcfg.model import Rule

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/Service.yaml": "include: [Base]\n",
    "features/Base.yaml": "{}\n",
    "features/Web.yaml": "include: [{feature: Service, as: x}]\n",
    "features/Desk.yaml": "include: [Base, Web]\n",
    "features/Round.yaml": "include: [Turn]\n",
    "features/Turn.yaml": "include: [Round]\n",
    "subsystems/s.yaml": """subsystems:
  httpd: {description: It., params: [PORT, "WEB_*"], files: ["/etc/httpd/*"], features: [Web, Other]}
  own: {description: It., params: [OWN], features: ["Serv*"]}
  base: {description: It., params: [BASE], features: [Base]}
  all: {description: It., params: [ALL]}
""",
}
NEW = {
    **FILES,
    "features/Service.yaml": "{}\n",
    "features/Web.yaml": "{}\n",
    "features/Late.yaml": "include: [Service]\n",
    "subsystems/s.yaml": "subsystems: {late: {description: It., params: [LATE], features: [Late]}}\n",
}
HTTPD = "httpd, a subsystem of Web, reads it, and Web includes Service"


def rules(said: str, *versions: dict[str, str]) -> tuple[Rule, ...]:
    text = f"rules: {{r: {{forbid: {{by: [bill], {said}}}}}}}\n"
    return widen_rules(
        load_permits(DictTree({"rules/r.yaml": text})).rules, map(DictTree, versions or (FILES,))
    )


@pytest.mark.parametrize(
    ("said", "thing", "why"),
    [
        ("features: [Service]", "features:Service", ""),
        ("features: [Service]", "features:Web", "Web includes Service"),
        ("features: [Service]", "features:Desk", "Desk includes Service through Web"),
        ("features: ['Ser*']", "features:Web", "Web includes Service"),
        ("features: [Service, Web]", "features:Web", ""),
        ("features: [Service, Web]", "features:Desk", "Desk includes Web"),
        ("features: [Service]", "subsystems:httpd", "httpd is a subsystem of Web, and Web includes Service"),
        ("features: [Service]", "subsystems:own", "own is a subsystem of Service"),
        ("features: [Service]", "params:PORT", HTTPD),
        ("features: [Service]", "params:WEB_ROOT", HTTPD),
        ("features: [Service]", "params:SLOT_*", None),
        ("features: [Service]", "params:W*", HTTPD),
        ("features: [Service]", "params:OWN", "own, a subsystem of Service, reads it"),
        ("features: [Service]", "files:/etc/httpd/x", HTTPD),
        ("features: [Service]", "features:Base", None),
        ("features: [Service]", "params:BASE", None),
        ("features: [Service]", "params:ALL", None),
        ("features: [Service]", "subsystems:all", None),
        ("features: [Round]", "features:Turn", "Turn includes Round"),
        ("features: [Round]", "features:Round", ""),
        ("features: [Other]", "params:PORT", "httpd, a subsystem of Other, reads it"),
        ("features: [Service], inherit: false", "features:Service", ""),
        ("features: [Service], inherit: false", "features:Web", None),
        ("features: [Service], inherit: false", "params:OWN", None),
        ("params: [OWN]", "subsystems:own", None),
    ],
)
def test_a_rule_is_about_what_it_takes_along(said: str, thing: str, why: str | None) -> None:
    kind, _, name = thing.partition(":")
    about = find_rules(rules(said), Thing(kind, name))
    assert bool(about) == (why is not None)
    assert " ".join(reason.why for reason in find_reasons(about, Thing(kind, name))) == (why or "")


def test_what_either_version_includes_counts() -> None:
    found = rules("features: [Service]", FILES, NEW)
    names = ("Web", "Desk", "Late", "Base")
    assert [bool(find_rules(found, Thing("features", name))) for name in names] == [True, True, True, False]
    assert [bool(find_rules(found, Thing("params", name))) for name in ("PORT", "LATE", "BASE")] == [
        True,
        True,
        False,
    ]


def test_two_versions_take_the_same_along_or_not() -> None:
    said = load_permits(
        DictTree({"rules/r.yaml": "rules: {r: {allow: {by: [x], features: [Service]}}}\n"})
    ).rules
    old, new = DictTree(FILES), DictTree(NEW)
    same = DictTree({**FILES, "features/Other.yaml": "description: Another.\n"})
    assert inherits_same(said, old, same)
    assert not inherits_same(said, old, new)
    assert not inherits_same(said, new, old)


def test_nothing_is_read_where_nothing_is_taken_along() -> None:
    assert widen_rules(rules("params: [P]"), (DictTree({"gitcfg.yaml": "["}), None)) == rules("params: [P]")
