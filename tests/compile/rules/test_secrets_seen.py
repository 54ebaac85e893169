"""What conditions see of secrets: a name and a version, wherever they look; never what one holds."""

import pytest

from gitcfg.compile.rules.evaluate import VALUES
from gitcfg.compile.rules.slots import view_rules
from gitcfg.model.rules import RuleKind
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import rule

FILES = {
    "secrets/s": "for: 'true'\nversion: 3",
    "parameters/p": "parameters: {PW: {type: string}, Q: {type: string, secret: true}}",
    "groups/default": "params: {PW: {$secret: s}}",
    "nodes/n1": "{}",
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('node.params.PW == {"$secret": "s", "version": 3}', True),
        ('node.params.PW["$secret"] == "s" && node.params.PW.version < 4', True),
        ('node.params.PW == "s"', False),
        ('has(node.params.Q) || "Q" in node.params', False),
    ],
)
def test_a_condition_sees_name_and_version(condition: str, holds: bool) -> None:
    found = view_rules(fleet(FILES, rule("r", RuleKind.DOMAIN, where=condition)))
    assert found is not None
    assert bool(found.slots("r")) is holds
    assert not found.failed


def test_what_is_written_in_plain_for_a_secret_parameter_is_not_seen() -> None:
    found = view_rules(fleet({**FILES, "nodes/n1": "params: {Q: hunter2}"}, rule("r", RuleKind.DOMAIN)))
    assert found is not None
    (seen,) = found.slots("r")
    params = VALUES["node.params"](seen)
    assert params["PW"] == {"$secret": "s", "version": 3}
    assert "Q" in params
    assert "hunter2" not in f"{params}"
