"""Files that take secrets show their names and versions, and have mode 0600 unless they say another."""

from collections.abc import Mapping

import pytest

import gitcfg
from gitcfg.generate import Options, repository
from gitcfg.render.files import find_secret_files

SECRETS = {
    "secrets/pool.yaml": "for: 'true'\nversion: 3\nrecipients: [age1abc alice]\n",
    "secrets/pool.age": "sealed",
    "secrets/key.yaml": "for: 'true'\nversion: 1\n",
}
DECLARED = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """
parameters:
  POOL: {type: string, secret: true, tags: [t]}
  KEYS: {type: list, separator: comma, tags: [k]}
  PLAIN: {type: string, tags: [p]}
""",
}
BOUND = {"nodes/n.yaml": "params: {POOL: {$secret: pool}, KEYS: {$secret: key}, PLAIN: x}\n"}
TEMPLATES = {
    "templates/plain": "{{ params.PLAIN }} {{ node.name }}",
    "templates/pool": "{{ params.POOL }}",
    "templates/maybe": "{% if false %}{{ params.KEYS }}{% endif %}",
    "templates/all": "{% for name in params %}{{ name }}{% endfor %}",
    "templates/computed": "{% include params.PLAIN ignore missing %}",
    "templates/outer": "{% include 'pool' %}",
    "templates/odd": "{% if false %}{% include 'nowhere' %}{% endif %}fine",
}


def with_file(entry: str, more: Mapping[str, str] = {}) -> gitcfg.Fleet:
    """A fleet of a node that binds two secrets and has one file."""
    group = {"groups/default.yaml": f"files: {{/etc/x: {entry}}}\n"}
    return gitcfg.in_memory({**DECLARED, **SECRETS, **BOUND, **TEMPLATES, **group, **more})


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("{format: env, params: ['*']}", ("key", "pool")),
        ("{format: env, params: ['*', '!KEYS']}", ("pool",)),
        ("{format: json, params: [PLAIN]}", ()),
        ("{format: condor, params: {tags: [k, p]}}", ("key",)),
        ("{format: condor, params: {tags: [p]}}", ()),
        ("{template: plain}", ()),
        ("{template: pool}", ("pool",)),
        ("{template: outer}", ("pool",)),
        ("{template: maybe}", ("key",)),
        ("{template: all}", ("key", "pool")),
        ("{template: computed}", ("key", "pool")),
        ("{template: odd}", ("key", "pool")),
        ("{text: POOL}", ()),
    ],
)
def test_what_a_file_may_take_it_holds(entry: str, names: tuple[str, ...]) -> None:
    with with_file(entry) as fleet:
        found = find_secret_files(fleet.compiled, fleet.compiled["n"], fleet.engine)
        assert found == ({"/etc/x": names} if names else {})
        assert fleet["n"].rendered["/etc/x"].mode == ("0600" if names else "0644")


@pytest.mark.parametrize("mode", ["0400", "0640", "0644"])
def test_a_mode_that_is_said_counts(mode: str) -> None:
    with with_file(f"{{template: pool, mode: '{mode}'}}") as fleet:
        assert fleet["n"].rendered["/etc/x"].mode == mode


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("condor", "KEYS = <secret key v1>\nPOOL = <secret pool v3>\n"),
        ("env", 'KEYS="<secret key v1>"\nPOOL="<secret pool v3>"\n'),
        ("ini", "KEYS = <secret key v1>\nPOOL = <secret pool v3>\n"),
        ("json", '{\n  "KEYS": "<secret key v1>",\n  "POOL": "<secret pool v3>"\n}\n'),
        ("yaml", "KEYS: <secret key v1>\nPOOL: <secret pool v3>\n"),
        ("toml", 'KEYS = "<secret key v1>"\nPOOL = "<secret pool v3>"\n'),
    ],
)
def test_formats_show_names_and_versions(format: str, text: str) -> None:
    with with_file(f"{{format: {format}, params: ['*', '!PLAIN']}}") as fleet:
        assert fleet["n"].files["/etc/x"] == text


def test_templates_see_names_and_versions() -> None:
    with with_file("{template: pool}") as fleet:
        assert fleet["n"].files["/etc/x"] == "<secret pool v3>"


def test_a_secret_that_does_not_exist_is_no_value() -> None:
    missing = {"nodes/n.yaml": "params: {POOL: {$secret: gone}, PLAIN: x}\n"}
    with with_file("{format: env, params: ['*']}", missing) as fleet:
        file = fleet["n"].rendered["/etc/x"]
        assert (file.content, file.mode) == ("PLAIN=x\n", "0644")


@pytest.mark.parametrize(
    ("path", "text", "same"),
    [
        ("secrets/pool.yaml", "for: 'false'\nversion: 3\nrecipients: [age1xyz bob]\n", True),
        ("secrets/pool.age", "sealed anew", True),
        ("secrets/pool.yaml", "for: 'true'\nversion: 4\nrecipients: [age1abc alice]\n", False),
    ],
)
def test_digests_change_with_the_version_alone(path: str, text: str, same: bool) -> None:
    with with_file("{template: pool}") as old, with_file("{template: pool}", {path: text}) as new:
        assert (old["n"].digest == new["n"].digest) is same
        assert bool(gitcfg.compare(old, new)) is not same


def test_digests_change_with_a_version_that_no_file_shows() -> None:
    template = {"templates/pool": "{{ params.POOL|length }}"}
    newer = template | {"secrets/pool.yaml": "for: 'true'\nversion: 4\n"}
    with with_file("{template: pool}", template) as old, with_file("{template: pool}", newer) as new:
        assert old["n"].files == new["n"].files
        assert old["n"].digest != new["n"].digest


def test_nodes_of_generated_fleets_show_their_secrets_alone() -> None:
    with gitcfg.in_memory(repository(Options(seed=2, secrets=7, parameters=12, files=6))) as fleet:
        count = 0
        for name, node in fleet.items():
            secrets = set(fleet.compiled[name].secrets.values())
            versions = {f"<secret {name} v{fleet.model.secrets[name].version}>" for name in secrets}
            for file in node.rendered.values():
                assert file.mode == ("0600" if secrets else "0644")
                assert file.content.count("<secret ") == len(fleet.compiled[name].secrets)
                assert all(version in file.content for version in versions)
                count += len(versions)
        assert count > 100
