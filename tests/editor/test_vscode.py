"""Settings of Visual Studio Code: ours are in them, and all others stay."""

import json

import pytest

from gitcfg.editor.settings import merge_settings, schema_files
from gitcfg.model import GitcfgError


def test_new_settings_name_every_schema() -> None:
    assert json.loads(merge_settings(None)) == {"yaml.schemas": schema_files()}
    assert schema_files()["./.gitcfg/schema/groups.json"] == ["groups/**/*.yaml"]
    assert schema_files("s")["./s/gitcfg.json"] == ["gitcfg.yaml"]


def test_other_settings_stay() -> None:
    given = {"editor.tabSize": 2, "yaml.schemas": {"x.json": "*.yml"}, "été": [1]}
    made = merge_settings(json.dumps(given, indent="\t").encode())
    read = json.loads(made)
    assert list(read) == list(given)
    assert read["editor.tabSize"] == 2
    assert read["yaml.schemas"] == {"x.json": "*.yml", **schema_files()}
    assert b'\n\t"editor.tabSize"' in made
    assert merge_settings(made) == made


def test_what_is_there_already_is_not_written_anew() -> None:
    given = json.dumps({"yaml.schemas": schema_files(), "a": {}}).encode()
    assert merge_settings(given) == given


@pytest.mark.parametrize(
    "given",
    [b"// mine\n{}", b'{"a": 1,}', b"[]", b'{"yaml.schemas": []}', b'{"a": 1, "a": 2}', b"\xff", b"{"],
)
def test_what_cannot_be_merged_is_refused(given: bytes) -> None:
    with pytest.raises(GitcfgError) as refused:
        merge_settings(given, "s")
    assert refused.value.code == 4
    assert "./s/groups.json" in refused.value.hints[0]
