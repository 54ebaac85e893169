"""The diffs of rendered files: git itself applies them."""

import subprocess
from pathlib import Path

import pytest

import gitcfg
from gitcfg.comparison.comparison import file_diffs

CONTENTS = (
    "",
    "one\n",
    "one",
    "one\ntwo\n",
    "one\ntwo",
    "two\nthree\n",
    "a\r\nb\r\n",
    "\f\x0b\n\u2028x\n",
    "\n",
)


def fleet(text: str | None, mode: str = "0644") -> gitcfg.Fleet:
    files = {"gitcfg.yaml": "format: 1\n", "nodes/n.yaml": "description: n\n", "files/s": text or ""}
    if text is not None:
        files["groups/default.yaml"] = f"files: {{/etc/x: {{source: s, mode: '{mode}'}}}}\n"
    return gitcfg.in_memory(files)


def diff(old: gitcfg.Fleet, new: gitcfg.Fleet) -> list[str]:
    with old, new:
        changes = gitcfg.compare(old, new)
        return [line for change in changes for found in file_diffs(changes, change) for line in found.lines]


@pytest.mark.parametrize("old", [*CONTENTS, None])
@pytest.mark.parametrize("new", [*CONTENTS, None])
def test_git_applies_what_changed(tmp_path: Path, old: str | None, new: str | None) -> None:
    lines = diff(fleet(old), fleet(new))
    assert bool(lines) == (old != new)
    place = tmp_path / "etc/x"
    place.parent.mkdir()
    if old is not None:
        place.write_bytes(old.encode())
    if lines:
        patch = "".join(f"{line}\n" for line in lines).encode()
        subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=patch, check=True)
    assert (place.read_bytes().decode() if place.exists() else None) == new


def test_mode_and_owner_are_told() -> None:
    assert diff(fleet("x"), fleet("x", "0600"))[1:3] == ["old mode 100644", "new mode 100600"]


def test_equal_diffs_of_different_files_are_one() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "nodesets/n.yaml": "nodes: n[1-3]\n",
        "templates/t": "{{ node.name }}\n\n\n\n\none\n",
        "groups/default.yaml": "files: {/etc/x: {template: t}}\n",
    }
    with (
        gitcfg.in_memory(files) as old,
        gitcfg.in_memory(files | {"templates/t": "{{ node.name }}\n\n\n\n\ntwo\n"}) as new,
    ):
        changes = gitcfg.compare(old, new)
        (found,) = file_diffs(changes, changes[0])
    assert found.nodes == ("n1", "n2", "n3")
