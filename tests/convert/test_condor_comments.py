"""Comments right above settings become descriptions; headers, rulers and settings that are put out do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.repository import CondorImport
from gitcfg.convert.condor.syntax import LONGEST, describe
from tests.convert.condor_cases import content, imported, said, settings

NONE = HTCondor()  # nothing was asked: as if HTCondor were not installed

ABOVE: list[tuple[str, str, str]] = [
    ("a line", "# Who may write.\n", "Who may write."),
    ("without a blank", "#Who may write.\n", "Who may write."),
    ("two signs and tabs", "##\tWho may write.\n", "Who may write."),
    ("indented", "   # Who may write.\n", "Who may write."),
    ("lines of one paragraph", "# Who may\n# write.\n", "Who may write."),
    ("paragraphs", "# Who may write.\n#\n# And read.\n", "Who may write.\n\nAnd read."),
    ("items", "# Who:\n# - we\n# - you\n", "Who:\n- we\n- you"),
    ("numbers", "# Who:\n# 1. we\n# 2. you\n", "Who:\n1. we\n2. you"),
    ("what is indented", "# Who:\n#    we,\n#    you\n", "Who:\n   we,\n   you"),
    ("a blank line between", "# Who may write.\n\n", ""),
    ("a blank line within", "# The pool.\n\n# Who may write.\n", "Who may write."),
    ("a ruler", "##########\n", ""),
    ("a ruler of dashes", "# Who.\n#--------\n", ""),
    ("below a ruler", "#=======\n# Who may write.\n", "Who may write."),
    ("a box", "####\n# Security #\n####\n", ""),
    ("a heading", "### ---- Security ----\n", ""),
    ("a setting that is put out", "#B = 1\n", ""),
    ("one of the same name", "# Who may write.\n#a = 1\n", "Who may write."),
    ("one with a comment of its own", "# Who may read.\n# B = 1\n", ""),
    ("before a comment", "# B = 1\n# Who may write.\n", "Who may write."),
    ("one that goes on", "# B = 1, \\\n#   2\n# Who may write.\n", "Who may write."),
    ("more that is put out", "# Who.\n#B += 1\n", ""),
    ("one of lines", "# Who.\n# B @=end\n", ""),
    ("a knob that is put out", "# Who.\n# use ROLE : Execute\n", ""),
    ("a condition that is put out", "# Who.\n# if defined B\n# endif\n", ""),
    ("words that begin like one", "# If this is set,\n# use it: all.\n", "If this is set, use it: all."),
    ("a comparison", "# X == 1 means all.\n", "X == 1 means all."),
    ("a licence", "# Copyright 2020 Us\n# Licensed under the GPL\n", ""),
    ("a header of another program's", "# Managed by Puppet, do not edit\n", ""),
    ("an editor's line", "# -*- mode: conf -*-\n", ""),
    ("what is not about this", "# Other.\nB = 1\n", ""),
    ("the same words later on", "B = 1\n# Licensed software.\n", "Licensed software."),
    ("a bell and an escape", "# Who \x07may\x1b write.\n", "Who  may  write."),
    ("a comment that seems to go on", "# Who may write. \\\n", "Who may write. \\"),
    ("an annotation", "# Who may write.\n# gitcfg: feature F\n", ""),
    ("a default", "# Who may write.\n# gitcfg: default\n", "Who may write."),
    ("a book", "# " + "word " * LONGEST + "\n", ""),
    ("a condition", "# Who.\nif true\n", ""),
    ("within a condition", "if true\n# Who may write.\n", "Who may write."),
]


def description(found: CondorImport) -> str:
    return str(content(found, "parameters/condor.yaml")["parameters"]["A"].get("description", ""))


@pytest.mark.parametrize(("above", "wanted"), [case[1:] for case in ABOVE], ids=[case[0] for case in ABOVE])
def test_what_stands_above_a_setting(above: str, wanted: str) -> None:
    text = f"{above}A = x\n" + ("endif\n" if "\nif true" in f"\n{above}" else "")
    found = imported(NONE, one=text)
    assert description(found) == wanted
    assert said(found) == []
    assert settings(found, "one")["A"] == "x"


def test_the_first_of_several_comments_stays() -> None:
    hosts = {"a": "# One.\nA = 1\n# One.\nA = 2\n", "b": "# Two.\nA = 1\n", "c": "#  One.\nA = 1\n"}
    found = imported(NONE, **hosts)
    assert description(found) == "One."
    assert said(found) == ["dropped line site.config:2 A"]


def test_only_a_few_of_many_hosts_say_it() -> None:
    found = imported(NONE, a="A = 1\n", b="# Here.\nA = 1\nA = $(A) 2\n")
    assert description(found) == "Here."
    assert said(found) == []


def test_what_stays_text_has_no_declaration() -> None:
    found = imported(NONE, one="# Lines.\nA @=end\n x\n@end\n")
    assert "parameters/condor.yaml" not in found.files


LINES = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30).map(
    lambda text: f"#{text}"
)


@given(st.lists(LINES, max_size=8), st.booleans())
def test_any_comment_is_words_or_nothing(lines: list[str], begun: bool) -> None:
    """Whatever people write: it can be read back, and the setting below it is as it was."""
    found = describe(lines, "A", begun)
    assert all(line.isprintable() for line in found.split("\n"))
    assert found == found.strip()
    text = "B = 1\n" * begun + "".join(f"{line}\n" for line in lines)
    repository = imported(NONE, one=f"{text}A = x\n")
    assert settings(repository, "one")["A"] == "x"
