"""Files with true secrets are those of the same repository in which these are plain values."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gitcfg
from gitcfg.generate import Options, repository
from gitcfg.model import GitcfgError
from gitcfg.render.files import find_secret_files
from gitcfg.render.secrets import reveal_contents
from tests.properties.runs import QUICK

Files = Mapping[str, str]
TRUE = {
    "string": "hunter 2 \\ #",
    "integer": "0x1F",
    "list": 'a, "b, c" ,d',
    "path": "/etc/x",
    "boolean": "TRUE",
    "expression": "a || b",
    "number": "1.50",
}
"""A text that fits each type of parameter."""


def opened(fleet: gitcfg.Fleet, values: Files) -> dict[str, Mapping[str, str]]:
    """The files with true secrets, by node."""
    compiled = fleet.compiled
    return {name: reveal_contents(compiled, compiled[name], fleet.engine, values) for name in fleet}


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def plain(files: Files, values: Files) -> dict[str, str]:
    """The same repository with plain values in place of secrets."""
    binding = re.compile(r'\{"?\$secret"?: "?([^"}]*)"?\}')
    return {
        path: binding.sub(lambda match: quoted(values[match[1]]), text).replace(
            '"secret": true', '"level": 0'
        )
        for path, text in files.items()
        if not path.startswith("secrets/")
    }


def agree(files: Files, values: Files) -> int:
    """How many files hold secrets."""
    with gitcfg.in_memory(files) as fleet, gitcfg.in_memory(plain(files, values)) as naive:
        count = 0
        for name, contents in opened(fleet, values).items():
            node = fleet.compiled[name]
            assert contents.keys() == find_secret_files(fleet.compiled, node, fleet.engine).keys()
            for path, content in contents.items():
                assert content == naive[name].files[path], (name, path)
                count += 1
        return count


@pytest.mark.parametrize("seed", range(4))
def test_generated_fleets_get_what_plain_values_would_give(seed: int) -> None:
    files = repository(Options(seed=seed, secrets=14, parameters=20, files=6))
    names = [path[8:-5] for path in files if path.startswith("secrets/") and path.endswith(".yaml")]
    assert agree(files, {name: TRUE[name.partition("-")[0]] for name in names}) > 50


ENTRIES = {
    "/etc/a": "{format: condor, params: ['*']}",
    "/etc/b": "{format: env, params: ['*', '!P']}",
    "/etc/c": "{format: toml, params: {tags: [t]}}",
    "/etc/d": "{template: one}",
    "/etc/e": "{template: all}",
    "/etc/f": "{text: P}",
}
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """
parameters:
  P: {type: string, tags: [t]}
  L: {separator: blank-or-comma, unique: true, tags: [t]}
  N: {type: number}
  F: {}
""",
    "secrets/one.yaml": "for: 'true'\nversion: 1\n",
    "secrets/two.yaml": "for: 'true'\nversion: 2\n",
    "templates/one": "{% if params.P %}{{ params.P|upper }}{% endif %} {{ params.F|default('') }}",
    "templates/all": "{% for name, value in params.items() %}{{ name }}={{ value }}\n{% endfor %}",
    "groups/default.yaml": "params: {P: p, L: [a, b], N: 1, F: f}\nfiles:\n"
    + "".join(f"  {path}: {entry}\n" for path, entry in ENTRIES.items()),
}
BINDINGS = ("{$secret: one}", "{$secret: two}", "{$unset: true}", "null")
WORDS = st.text("aB0.-'\"#$(), é", min_size=1, max_size=8).map(str.strip).filter(bool)


@QUICK
@given(
    said=st.dictionaries(st.sampled_from("PLF"), st.sampled_from(BINDINGS)),
    words=st.tuples(WORDS, WORDS),
)
def test_any_text_is_as_if_it_stood_there(said: dict[str, str], words: tuple[str, str]) -> None:
    node = "".join(f"  {name}: {given}\n" for name, given in said.items())
    files = {**FILES, "nodes/n.yaml": f"params:\n{node}" if node else "{}\n"}
    agree(files, dict(zip(("one", "two"), words, strict=True)))


def fleet_of(binding: str, entry: str = "{format: env, params: ['*']}", **more: str) -> gitcfg.Fleet:
    """A node that binds a secret, and has one file."""
    node = f"params: {{{binding}}}\nfiles: {{/etc/x: {entry}}}\n"
    return gitcfg.in_memory({**FILES, "groups/default.yaml": "{}\n", "nodes/n.yaml": node, **more})


def refusal(fleet: gitcfg.Fleet, text: str) -> str:
    """Why a secret's text is refused; the text itself is not told."""
    with fleet, pytest.raises(GitcfgError) as caught:
        opened(fleet, {"one": text})
    words = "\n".join((caught.value.message, *caught.value.hints))
    assert text not in words
    assert "secret" not in text or text.replace("secret", "") not in words
    return words


@pytest.mark.parametrize(
    ("binding", "entry", "text", "reason"),
    [
        ("N: {$secret: one}", "{format: env, params: ['*']}", "hunter2", "N is of type number"),
        ("N: {$secret: one}", "{format: env, params: ['*']}", "inf99", "N is of type number"),
        ("P: {$secret: one}", "{format: env, params: ['*']}", "hun\nter", "format env of /etc/x"),
        ("P: {$secret: one}", "{format: condor, params: ['*']}", "hunter2\\", "/etc/x"),
        ("L: {$secret: one}", "{format: env, params: ['*']}", "'hun\nter2'", "format env"),
        ("P: {$secret: one}", "{template: broken}", "hunter2", "line 2 on n"),
    ],
)
def test_what_does_not_fit_is_refused_without_a_word_of_it(
    binding: str, entry: str, text: str, reason: str
) -> None:
    broken = {"templates/broken": "\n{{ {'<secret one v1>': 1}[params.P] }}"}
    fleet = fleet_of(binding, entry, **broken)
    assert reason in refusal(fleet, text)


def test_a_file_that_fails_in_any_case_is_left_out_as_ever() -> None:
    entry, text = "{template: broken}", "{{ params.P }} {{ params.GONE }}"
    with fleet_of("P: {$secret: one}", entry, **{"templates/broken": text}) as fleet:
        assert fleet["n"].files == {}
        assert opened(fleet, {"one": "hunter2"}) == {"n": {}}


def test_a_schema_is_asked_at_last() -> None:
    declared = 'parameters: {P: {type: string, schema: {pattern: "^[a-z]+$"}}}\n'
    fleet = fleet_of("P: {$secret: one}", **{"parameters/p.yaml": declared})
    assert "does not fit the schema of P" in refusal(fleet, "HUNTER")


def test_a_map_is_no_secret() -> None:
    fleet = fleet_of("P: {$secret: one}", **{"parameters/p.yaml": "parameters: {P: {type: map}}\n"})
    assert "P is of type map" in refusal(fleet, "hunter2")


def test_what_is_not_open_is_missed() -> None:
    with fleet_of("P: {$secret: one}") as fleet, pytest.raises(GitcfgError, match="one for P is not known"):
        opened(fleet, {"two": "x"})


def test_nothing_true_stays_behind() -> None:
    """Rendering after revealing gives what it gave before, and other nodes' files are not asked for."""
    with fleet_of("P: {$secret: one}") as fleet:
        before = dict(fleet["n"].files)
        assert opened(fleet, {"one": "hunter2"}) == {"n": {"/etc/x": "P=hunter2\n"}}
        assert dict(fleet["n"].files) == before == {"/etc/x": 'P="<secret one v1>"\n'}
        assert fleet["n"].params == {"P": {"$secret": "one", "version": 1}}
