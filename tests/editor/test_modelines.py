"""The line that names a file's schema: it leads there, and changes nothing else."""

import posixpath

import pytest

from gitcfg.editor.schemas import KINDS
from gitcfg.editor.settings import modeline, with_modeline
from gitcfg.git.tree import DictTree
from gitcfg.load.document import parse
from gitcfg.load.reader import quick
from gitcfg.load.repository import load
from gitcfg.model import Origin


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("gitcfg.yaml", ".gitcfg/schema/gitcfg.json"),
        ("groups/g.yaml", "../.gitcfg/schema/groups.json"),
        ("nodesets/a/b/c.yaml", "../../../.gitcfg/schema/nodesets.json"),
    ],
)
def test_the_line_leads_to_the_schema(path: str, schema: str) -> None:
    assert modeline(path) == f"# yaml-language-server: $schema={schema}"
    assert posixpath.normpath(posixpath.join(posixpath.dirname(path), schema)).startswith(".gitcfg/schema/")


def test_schemas_may_be_elsewhere() -> None:
    assert modeline("groups/g.yaml", "doc/s").endswith("$schema=../doc/s/groups.json")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gitcfg"])
def test_every_kind_has_a_schema_of_its_name(kind: str) -> None:
    assert modeline(f"{kind}/x.yaml").endswith(f"/{kind}.json")


@pytest.mark.parametrize(
    "content",
    [
        b"features: [A]\n",
        b"# by hand\r\nfeatures: [A]\r\n",
        b"\xef\xbb\xbffeatures: [A]\n",
        b"---\nfeatures: [A]\n",
        b"{}",
        b"features: [\xff]\n",
    ],
)
def test_all_other_bytes_stay(content: bytes) -> None:
    made = with_modeline("groups/g.yaml", content)
    start = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    end = b"\r\n" if b"\r\n" in content else b"\n"
    line = modeline("groups/g.yaml").encode() + end
    assert made == content[:start] + line + content[start:]
    assert with_modeline("groups/g.yaml", made) == made
    assert parse("g.yaml", made).value == parse("g.yaml", content).value


@pytest.mark.parametrize("line", ["# yaml-language-server: $schema=other.json", "# $schema: other.json"])
def test_a_line_that_is_there_stays(line: str) -> None:
    content = f"# by hand\n{line}\nfeatures: [A]\n".encode()
    assert with_modeline("groups/g.yaml", content) == content


def test_a_text_that_only_speaks_of_it_is_no_such_line() -> None:
    content = b"description: see yaml-language-server\n"
    assert with_modeline("groups/g.yaml", content) != content


def test_it_is_read_quickly_and_places_move_with_it() -> None:
    text = f"{modeline('groups/g.yaml')}\nparams: {{A: 1}}\n"
    found = quick(text)
    assert found is not None
    assert found[0] == {"params": {"A": 1}}
    model = load(DictTree({"gitcfg.yaml": "format: 1\n", "groups/g.yaml": text}))
    assert model.groups["g"].params["A"].origin == Origin("groups/g.yaml", 2, 10)
    assert list(model.findings) == []
