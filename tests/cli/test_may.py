"""`gitcfg may`: who may change what, which rule says so, and where it stands."""

import json
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.published import judge
from tests.cli.test_commands import git
from tests.cli.test_each import commit

RULES = """\
rules:
  hosts: {allow: {by: [ann], params: [HOST]}}
  web: {forbid: {by: ["bob*"], groups: [web], rules: [gitcfg.yaml]}}
"""


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    commit(
        tmp_path,
        "the fleet",
        gitcfg_yaml="format: 1\n",
        groups__web_yaml="params: {HOST: x}\nfiles: {/etc/motd: {text: Hello.}}\n",
        parameters__p_yaml="parameters: {HOST: {description: The host.}, PORT_*: {description: A port.}}\n",
        rules__who_yaml=RULES,
    )
    return tmp_path


@pytest.mark.parametrize(
    ("who", "what", "code", "told"),
    [
        (
            "ann",
            "param/HOST",
            0,
            "ann may change the parameter HOST: the rule hosts (rules/who.yaml:2:3) allows it only to ann.",
        ),
        (
            "bob",
            "parameter/HOST",
            1,
            "bob may not change the parameter HOST: the rule hosts (rules/who.yaml:2:3) allows it only to"
            " ann.",
        ),
        (
            "bob-1",
            "group/web",
            1,
            "bob-1 may not change the group web: the rule web (rules/who.yaml:3:3) forbids it.",
        ),
        (
            "bob",
            "groups/web",
            1,
            "bob may not change the group web: the rule web (rules/who.yaml:3:3) forbids it.",
        ),
        ("ann", "group/web", 0, "ann may change the group web: no rule forbids it."),
        (
            "bob",
            "/etc/motd",
            0,
            "bob may change the file /etc/motd: no rule forbids it.",
        ),
        (
            "bob",
            "gitcfg.yaml",
            1,
            "bob may not change gitcfg.yaml: the rule web (rules/who.yaml:3:3) forbids it.",
        ),
    ],
)
def test_an_answer_names_the_rule(
    pool: Path, capfd: pytest.CaptureFixture[str], who: str, what: str, code: int, told: str
) -> None:
    assert run(["-C", str(pool), "may", who, what]) == code
    assert capfd.readouterr().out == f"{told}\n"


@pytest.mark.parametrize("form", ["json", "jsonl", "yaml"])
def test_of_a_file_it_is_all_that_it_says(pool: Path, capfd: pytest.CaptureFixture[str], form: str) -> None:
    assert run(["-C", str(pool), "may", "bob", "groups/web.yaml", "--at", "HEAD", "-o", form]) == 1
    judge(capfd.readouterr().out, form)
    run(["-C", str(pool), "may", "bob", "groups/web.yaml", "-o", "json"])
    found = json.loads(capfd.readouterr().out)["answers"]
    assert [
        (one["kind"], one["name"], one["may"], [rule["name"] for rule in one["rules"]]) for one in found
    ] == [
        ("files", "/etc/motd", True, []),
        ("groups", "web", False, ["web"]),
        ("params", "HOST", False, ["hosts"]),
    ]


def test_what_is_taken_along_is_told_why(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    law = "rules: {web: {forbid: {by: [bob], features: [Svc]}}}\n"
    commit(
        pool,
        "services",
        rules__who_yaml=law,
        features__Web_yaml="include: [Svc]\n",
        features__Svc_yaml="{}\n",
    )
    assert run(["-C", str(pool), "may", "bob", "feature/Web"]) == 1
    because = "forbids it, because Web includes Svc.\n"
    assert capfd.readouterr().out.endswith(because)
    run(["-C", str(pool), "may", "bob", "feature/Web", "-o", "json"])
    out = capfd.readouterr().out
    judge(out, "json")
    assert json.loads(out)["answers"][0]["rules"][0]["because"] == "Web includes Svc"


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("groop/web", "Did you mean group"),
        ("groups/no.yaml", "Write a kind"),
        ("web", "Did you mean group/web?"),
        ("nothing", "Write a kind"),
    ],
)
def test_what_means_nothing_is_told(
    pool: Path, capfd: pytest.CaptureFixture[str], what: str, hint: str
) -> None:
    assert run(["-C", str(pool), "may", "bob", what]) == 2
    err = capfd.readouterr().err
    assert f"{what} is not a known thing or file." in err
    assert hint in err


@pytest.mark.parametrize(
    ("what", "note"),
    [
        ("param/HOSTS", "note: There is no param HOSTS yet. Did you mean HOST?\n"),
        ("param/PORT_1", ""),
        ("group/default", ""),
        ("feature/*", ""),
        ("rule/allowed_signers", ""),
        ("node/new", ""),
    ],
)
def test_a_name_that_nothing_has_is_noted(
    pool: Path, capfd: pytest.CaptureFixture[str], what: str, note: str
) -> None:
    assert run(["-C", str(pool), "may", "eve", what]) == 0
    assert capfd.readouterr().err == note


def test_rules_that_cannot_be_read_answer_nothing(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (pool / "rules/who.yaml").write_text("rules: [")
    assert run(["-C", str(pool), "may", "bob", "group/web"]) == 2
    assert "Cannot read the permission rules: rules/who.yaml." in capfd.readouterr().err
