"""The true contents of files that hold secrets: for nodes that may have them, and in no other way."""

import json
from collections.abc import Mapping

import pytest

from gitcfg.delivery.configuration import find_withheld, make_configuration, reveal_files
from gitcfg.model import GitcfgError
from tests.delivery.test_delivery import at

SECRET = "description: One.\nfor: '{where}'\nversion: 2\nrecipients: [age1x]\n"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {WORD: {secret: true}, PORT: {type: integer, secret: true}}\n",
    "features/Web.yaml": """params: {WORD: {$secret: word}, PORT: {$secret: port}, PLAIN: 1}
files:
  /etc/both: {format: json, params: [WORD, PORT]}
  /etc/word: {template: word.j2}
  /etc/open: {format: env, params: [PLAIN]}
""",
    "templates/word.j2": "{% if params.WORD %}is {{ params.WORD }}{% endif %}\n",
    "nodes/n1.yaml": "features: [Web]\n",
    "nodes/n2.yaml": "{}\n",
    "secrets/word.yaml": SECRET.format(where="true"),
    "secrets/port.yaml": SECRET.format(where='"Web" in node.features'),
}
VALUES = {"word": "canary", "port": "8080"}


class Opened:
    """Tells what secrets hold, and remembers who was asked for."""

    def __init__(self, said: list[str], values: Mapping[str, str] = VALUES) -> None:
        self.said, self.values = said, values

    def __call__(self, name: str) -> str:
        self.said.append(name)
        return self.values[name]


def test_each_secret_is_opened_once() -> None:
    said: list[str] = []
    with at(FILES) as fleet:
        found = reveal_files(fleet, "n1", Opened(said))
        assert reveal_files(fleet, "n2", Opened(said)) == {}
    assert said == ["port", "word"]
    assert set(found) == {"/etc/both", "/etc/word"}
    assert json.loads(found["/etc/both"]) == {"PORT": 8080, "WORD": "canary"}
    assert found["/etc/word"] == "is canary\n"


def test_a_configuration_says_which_files_hold_some() -> None:
    with at(FILES) as fleet:
        made = make_configuration(fleet, "n1")
        raw = made.encoded()
        assert make_configuration(fleet, "n2").holding == ()
    assert made.holding == ("/etc/both", "/etc/word")
    said = json.loads(raw)["files"]
    assert {path: file.get("sealed", "none") for path, file in said.items()} == {
        "/etc/both": None,
        "/etc/word": None,
        "/etc/open": "none",
    }
    assert said["/etc/word"]["content"] == "is <secret word v2>\n"
    sealed = made.sealing({"/etc/both": "YWdl"})
    assert (sealed.files["/etc/both"].sealed, sealed.files["/etc/word"].sealed) == ("YWdl", None)
    assert sealed.digest == made.digest
    assert made.files["/etc/both"].sealed is None


@pytest.mark.parametrize("where", ["false", 'node.name == "n2"', "node.params.NONE == 1", "1 +", ""])
def test_who_may_not_have_one_gets_none(where: str) -> None:
    """Also where that cannot be judged; and nothing is opened before all of it is."""
    said: list[str] = []
    changed = SECRET.format(where=where) if where else "version: 2\nrecipients: [age1x]\n"
    with at({**FILES, "secrets/word.yaml": changed}) as fleet:
        with pytest.raises(GitcfgError, match="The secret word is not for n1"):
            reveal_files(fleet, "n1", Opened(said))
        assert find_withheld(fleet, "n1", ["word", "port", "other"]) == ("word", "other")
        assert find_withheld(fleet, "nobody", ["port"]) == ("port",)
    assert said == []


def test_what_does_not_fit_says_no_value() -> None:
    with at(FILES) as fleet, pytest.raises(GitcfgError) as problem:
        reveal_files(fleet, "n1", Opened([], {**VALUES, "port": "canary"}))
    assert "canary" not in str(problem.value) + "".join(problem.value.hints)
    assert "port" in problem.value.message
