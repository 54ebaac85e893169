"""What each line of HTCondor's language becomes, and what is refused with its file and line."""

import os
import re
from pathlib import Path

import pytest

from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.repository import import_condor
from gitcfg.convert.condor.sources import read_hosts
from gitcfg.model import GitcfgError
from tests.convert.condor_cases import AFTER, BEFORE, content, imported, rendered, said, settings

NONE = HTCondor()  # nothing was asked: as if HTCondor were not installed

LINES: list[tuple[str, str, dict[str, str]]] = [
    ("a setting", "A = 1\n", {"A": "1"}),
    ("without blanks", "A=x=y\n", {"A": "x=y"}),
    ("a colon", "A : x\n", {"A": "x"}),
    ("an empty value", "A =\n", {"A": ""}),
    ("a line that goes on", "A = x, \\\n  y\n", {"A": "x, y"}),
    ("a comment within", "A = x, \\\n# no \\\n  y\n", {"A": "x, y"}),
    ("a comment that seems to go on", "# no \\\nA = 1\n", {"A": "1"}),
    ("names in another case", "Aa = 1\naA = 2\n", {"Aa": "2"}),
    ("a daemon's own", "SCHEDD.A = 1\nSchedd.local.A = 2\n", {"SCHEDD.A": "1", "Schedd.local.A": "2"}),
    ("itself", "A = x\nA = $(a) && y\n", {"A": "x && y"}),
    ("itself before", "A = x\nA = y/$(A)\n", {"A": "y/x"}),
    ("itself twice", "A = x\nA = $(A)$(A)\n", {"A": "xx"}),
    ("itself where it is empty", "A =\nA = x $(A)\n", {"A": "x"}),
    ("itself with a default", "A =\nA = $(A:z)\n", {"A": "z"}),
    ("more", "A = x\nA += y\n", {"A": "x y"}),
    ("more of an expression", "A = x\na +=  && $(B)\n", {"A": "x && $(B)"}),
    ("what HTCondor has", "A = $(A) && y\n", {"A": "$(A) && y"}),
    ("a list", "A = x\nA = $(A), y\nA = z, $(A)\n", {"A": "z, x, y"}),
    ("another macro", "A = $(B) y\n", {"A": "$(B) y"}),
    ("an if that holds", "if true\nA = 1\nelse\nA = 2\nendif\n", {"A": "1"}),
    ("an if that does not", "if false\nA = 1\nelif 1\nA = 2\nelse\nA = 3\nendif\n", {"A": "2"}),
    ("an if in an if", "if 0\nif 1\nA = 1\nendif\nelse\nA = 2\nendif\n", {"A": "2"}),
    ("what is defined", "B = 1\nif defined b\nA = 1\nendif\n", {"A": "1", "B": "1"}),
    ("a macro in a condition", "B = false\nif ! $(B)\nA = 1\nendif\n", {"A": "1", "B": "false"}),
    ("a condition that is denied often", f"if {'! ' * 3001}false\nA = 1\nendif\n", {"A": "1"}),
]


@pytest.mark.parametrize(("text", "wanted"), [case[1:] for case in LINES], ids=[case[0] for case in LINES])
def test_a_line(text: str, wanted: dict[str, str]) -> None:
    found = imported(NONE, one=text)
    assert settings(found, "one") == wanted
    assert said(found) == []


def test_what_appends_is_an_operation() -> None:
    found = imported(NONE, a="D = M\n", b="D = M\nD = $(D) S\n", c="D = M\nD = $(D) S\nD = $(D) T\n")
    assert content(found, "features/Common.yaml")["params"] == {"D": ["M"]}
    assert content(found, "nodes/c.yaml")["params"] == {"D": {"$append": ["T"]}}
    assert content(found, "features/Site.yaml")["params"] == {"D": {"$append": ["S"]}}
    assert settings(found, "c") == {"D": "M S T"}


KEPT: list[tuple[str, str, str, str, str]] = [
    (
        "a value of lines",
        "B = 1\nA @=end\n x\n@end\n",
        "A @=end\n x\n@end\n",
        "",
        "changed line site.config:2",
    ),
    (
        "a value of lines for what was set",
        "A = 1\nB = 1\nA @=end\n x\n@end\n",
        "",
        "A = 1\nA @=end\n x\n@end\n",
        "changed line site.config:3",
    ),
    (
        "what comes first, before what changes it",
        "if version > 9.0\nA = 1\t\n\tendif\nA = $(A) 2\n",
        "if version > 9.0\nA = 1\n    endif\n",
        "",
        "changed line site.config:1",
    ),
    (
        "all that it depends on, in order",
        "A = 1\nB = 1\nif version > 9.0\nA = $(A) 2\nendif\nA = $(A) 3\n",
        "",
        "A = 1\nif version > 9.0\nA = $(A) 2\nendif\nA = $(A) 3\n",
        "changed line site.config:3",
    ),
    ("a name that is computed", "B = 1\nA_$(B) = 1\n", "", "A_$(B) = 1\n", "changed line site.config:2"),
    ("a name that is a number", "1A = 1\nB = 1\n", "1A = 1\n", "", "changed line site.config:1"),
    ("a word of the language", "If=1\nB = 1\n", "", "If=1\n", ""),
    ("a carriage return", "A = x\ry\nB = 1\n", "", "A = x\ry\n", ""),
    ("itself as a file's name", "B = 1\nA = /x/y\nA = $Fn(A)\n", "", "A = /x/y\nA = $Fn(A)\n", ""),
    ("an unknown knob", "use ROLE : No\nB = 1\n", "use ROLE : No\n", "", "changed line site.config:1"),
    (
        "what follows an unknown knob",
        "B = 1\nC = 1\nuse ROLE : No\nD = 1\nC = $(C) 2\n",
        "",
        "C = 1\nuse ROLE : No\nD = 1\nC = $(C) 2\n",
        "changed line site.config:3",
    ),
]


@pytest.mark.parametrize(
    ("text", "before", "after", "note"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT]
)
def test_what_is_not_certain_stays_as_it_is(text: str, before: str, after: str, note: str) -> None:
    found = imported(NONE, one=text)
    files = rendered(found, "one")
    assert (files.get(BEFORE, ""), files.get(AFTER, "")) == (before, after)
    assert not set(settings(found, "one")) & set(re.findall(r"^\s*(\w+) =", after, re.MULTILINE))
    assert said(found) == ([note] if note else [])


def test_include_is_not_followed(tmp_path: Path) -> None:
    other, ran = tmp_path / "other", tmp_path / "ran"
    other.write_text("B = 2\n")
    text = f"A = 1\ninclude : {other}\nin\\\nclude command : touch {ran}\n"
    with HTCondor() as condor:
        found = imported(condor.begin(), one=text)
    assert settings(found, "one") == {"A": "1"}
    assert said(found) == ["dropped line site.config:2", "dropped line site.config:3"]
    assert not ran.exists()


def test_annotations() -> None:
    base = "# gitcfg: feature Base\nA = 1\n"
    gpu = "# gitcfg: feature Gpu\n# gitcfg: includes Base\n# gitcfg: default\nB = 2\n"
    node = f"{base}{gpu}# gitcfg: feature\nC = 3\n"
    found = imported(NONE, a=base, b=node, c=node.replace("C = 3", "C = 4"))
    assert content(found, "features/Gpu.yaml") == {"include": ["Base"], "params": {"B": None}}
    assert content(found, "features/Base.yaml") == {"params": {"A": 1}}
    assert content(found, "nodes/b.yaml") == {"features": ["Gpu"], "params": {"C": 3}}
    assert content(found, "parameters/condor.yaml")["parameters"]["B"] == {"type": "integer", "default": 2}
    assert said(found) == []
    assert settings(found, "c") == {"A": "1", "B": "2", "C": "4"}


def test_annotations_that_cannot_be() -> None:
    lines = ["feature A", "includes B, No", "what", "feature B", "includes A"]
    text = "".join(f"# gitcfg: {line}\n" for line in lines)
    notes = said(imported(NONE, one=text))
    assert notes == [
        "dropped feature A includes",
        "dropped feature A includes",
        "dropped feature B includes",
        "dropped line site.config:3",
    ]


def test_macros_in_a_circle_are_told() -> None:
    found = imported(NONE, one="A = $(B)\nB = $(A)\n")
    assert any("cycle" in note.reason for note in found.notes)


WRONG = [
    ("no setting", "A = 1\nhello there\n", "site.config:2: HTCondor would reject this line"),
    ("no endif", "A = 1\nif true\nA = 2\n", "site.config:2: This `if` has no `endif`."),
    ("no if", "endif\n", "site.config:1: `endif` has no `if`"),
    ("no end", "A = 1\nB @=end\nx\n", "site.config:2: The value that begins here has no end"),
    ("a long line", "A = 1\nB = " + "x" * 10_000_000 + "\n", "site.config:2: A line has 10000005 characters"),
    ("lines that go on", "A = \\\n" * 50_000, "site.config:1: A line has 300000 characters"),
    ("ifs in ifs", "if true\n" * 1000 + "endif\n" * 1000, "This is nested too deeply"),
    (
        "a value that doubles",
        "A = xxxxxxxx\n" + "A = $(A)$(A)\n" * 60,
        "site.config:14: The value of A grows",
    ),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_a_file_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(GitcfgError) as raised:
        imported(NONE, one=text)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"A = 1\nB\0\n", "x.config:2: It contains a NUL"),
        (b"A = 1\nB = \xff\n", "x.config:2: It is not UTF-8"),
        (b"A = 1\n" * 1_000_000, "x.config:699051: The file is larger than 4 MiB"),
    ],
    ids=["NUL", "binary", "large"],
)
def test_a_file_that_is_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "x.config").write_bytes(data)
    with pytest.raises(GitcfgError) as raised:
        import_condor(read_hosts([], {"a": [tmp_path]}), NONE)
    assert message in raised.value.message


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GitcfgError, match="neither a file nor"):
        read_hosts([tmp_path / "pipe"], {"a": []})
