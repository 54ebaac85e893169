"""Expressions of real pools and of HTCondor itself are sound; each distinct one is asked about once."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.bundled import folder
from gitcfg.check.expressions import _form
from gitcfg.check.run import check
from gitcfg.check.target_parsers import Question, Verdicts
from gitcfg.compile.classad import LONGEST_MACROS as LONGEST
from gitcfg.compile.classad import Expansion, find_fault
from gitcfg.compile.fleet import compile_tree
from gitcfg.convert.condor.parameters import infer_type
from gitcfg.git.tree import DictTree
from gitcfg.model import Finding
from gitcfg.parsers.child import condor as classad
from gitcfg.parsers.parsers import Parsers
from tests.parsers.oracle import needs_htcondor

TODAY = date(2026, 1, 1)
POOL = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """\
defaults: {type: expression, macros: condor, description: d}
parameters: {A: {}, B: {}, C: {type: string}}
""",
    "groups/default.yaml": 'files: {/etc/c: {format: condor, params: ["*"]}}\n',
}


class Counting(Parsers):
    """Parsers that remember which expressions they were asked about."""

    def __init__(self) -> None:
        super().__init__(1)
        self.expressions: list[str] = []

    def judge(self, questions: Iterable[Question]) -> Iterator[Verdicts]:  # type: ignore[override]
        asked = list(questions)
        self.expressions += [question.text for question in asked if question.format == "classad"]
        return super().judge(asked)


def checked(files: Mapping[str, str]) -> tuple[list[Finding], list[str]]:
    """What is found about expressions, and which of them HTCondor's parser was asked about."""
    with Counting() as judge:
        found = check(compile_tree(DictTree({**POOL, **files}), TODAY), judge=judge)
        return [one for one in found if one.code == "GC307"], judge.expressions


@needs_htcondor
def test_each_distinct_expression_is_asked_about_once() -> None:
    files: dict[str, str] = {}
    for number in range(30):
        files[f"nodes/n{number}.yaml"] = f"params: {{A: x > {number % 3}, B: $(C) && y, C: z{number % 2}}}\n"
    found, asked = checked(files)
    assert found == []
    assert sorted(asked) == ["x > 0", "x > 1", "z0 && y", "z1 && y"]  # 2 is a number as 1 is


@needs_htcondor
def test_what_facts_make_of_an_expression_is_asked_about_for_each_node() -> None:
    group = "params: {A: {$fact: rank}}\n" + POOL["groups/default.yaml"]
    nodes = {f"nodes/n{number}.yaml": f"facts: {{rank: 1{unit}}}\n" for number, unit in enumerate(("0", "K"))}
    found, asked = checked({"groups/default.yaml": group, **nodes})
    assert [(one.subjects, one.nodes) for one in found] == [(("A",), ("n1",))]
    assert set(asked) == {"1", "1K"}


@needs_htcondor
def test_what_is_surely_wrong_is_not_asked_about() -> None:
    found, asked = checked({"nodes/n1.yaml": "params: {A: x > > 3, B: y}\n"})
    assert [finding.subjects for finding in found] == [("A",)]
    assert asked == ["y"]


@needs_htcondor
def test_of_operands_the_one_is_blamed_that_is_refused() -> None:
    group = "params: {A: x > 1}\n" + POOL["groups/default.yaml"]
    found, asked = checked({"groups/default.yaml": group, "nodes/n1.yaml": "params: {A: {$and: 10K + y}}\n"})
    assert [(one.message, list(map(str, one.origins))) for one in found] == [
        ("A is rejected by HTCondor's own parser.", ["nodes/n1.yaml:1:10"])
    ]
    assert asked == ["(x > 1) && (1K + y)", "x > 1", "1K + y"]


@needs_htcondor
def test_what_a_macro_brings_is_shown_and_told_where_it_is_wrong() -> None:
    found, _ = checked({"nodes/n1.yaml": "params: {A: $(C) || y, C: x >}\n"})
    assert [(one.message, one.hint) for one in found] == [
        (
            "A is not a ClassAd expression: two operators in a row, `>` and `||`.",
            "With its macros put in it reads: x > || y",
        )
    ]
    found, _ = checked({"nodes/n1.yaml": "params: {A: $(B) || y, B: x 10K}\n"})
    assert [one.subjects for one in found] == [("B",)]


@needs_htcondor
def test_a_warning_gives_way_to_what_the_parser_knows() -> None:
    node = "params: {A: $(C) == == 3, C: x}\n"
    found, _ = checked({"nodes/n1.yaml": node})
    assert [(one.subjects, one.is_error) for one in found] == [(("A",), True)]
    tree = DictTree({**POOL, "nodes/n1.yaml": node})
    (alone,) = (one for one in check(compile_tree(tree, TODAY)) if one.code == "GC307")
    assert not alone.is_error


def test_macros_that_grow_without_end_cost_little() -> None:
    values = {f"m{number}": f"$(m{number + 1})$(m{number + 1})" for number in range(60)}
    assert len(Expansion(values.get).of("$(m0)")) <= 2 * LONGEST
    circle = {"a": "$(b)", "b": "$(a)"}
    assert Expansion(circle.get).of("$(a) && $(A:x)") == "$(a) && $(a)"


def test_macros_are_put_in_as_htcondor_does() -> None:
    values = {"a": "x $(b)", "b": "", "c": "$(c) y"}
    expansion = Expansion(values.get, {"c": "z"}.get)
    assert expansion.of("$(A:1) $(B:2) $(C) $(D:3) $INT(A)") == "x  2 z y $(D:3) $INT(A)"
    assert expansion.used("$(A) $(C)") == {"a", "b", "c"}


def test_all_of_the_sample_is_sound() -> None:
    """The whole check of it, with parsers, is empty: tests/parsers/test_real.py."""
    root = Path(str(folder("sample-repo"))).resolve()
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
    fleet = compile_tree(DictTree(files), TODAY)
    texts = {
        value
        for kind in fleet.judged
        for name, value in kind.params.items()
        if fleet.declarations.kind(name) == "expression"
    }
    assert len(texts) > 10
    assert [text for text in texts if find_fault(text)] == []


@needs_htcondor
@settings(max_examples=300, deadline=None)
@given(st.text("01289.eEKxXa\"' +-<(", max_size=10))
def test_numbers_may_be_others(text: str) -> None:
    assert classad.parses(text) == classad.parses(_form(text))


@needs_htcondor
@pytest.mark.parametrize("text", ["a // c", '"C:\\dir\\"', r'regexp("\.x$$", a)'])
def test_a_startd_takes_what_configuration_may_say(text: str) -> None:
    """As the startd of HTCondor 25.14 did, which reads expressions a little otherwise than classad2."""
    found, _ = checked({"nodes/n1.yaml": f"params: {{A: {json.dumps(text)}}}\n"})
    assert found == []


# In a process of its own, in which HTCondor's library may do what it likes.
DEFAULTS = """
import json, sys
from gitcfg.parsers.child import condor as classad
from gitcfg.convert.condor.child import answer
find, found = classad.defaults(), []
for name, raw, kind, _ in answer({})[1]:
    whole = classad.Expansion(find, find).of(raw or "")
    said = list(classad.judge_classad(raw or "", None))
    found.append((name, raw or "", kind, whole, classad.parses(whole), len(said)))
print(json.dumps(found))
"""


@needs_htcondor
def test_all_of_htcondors_defaults_are_sound(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEFAULTS], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    rows: list[Any] = json.loads(done.stdout)
    assert len(rows) > 1000
    for name, raw, _, whole, parses, _ in rows:
        for text in (raw, whole):
            fault = find_fault(text)
            assert fault is None or not (parses and fault.sure), name
    expressions = [row for row in rows if infer_type([row[1]], row[2]) == "expression"]
    assert len(expressions) > 15
    assert [row[0] for row in expressions if find_fault(row[1]) or row[5]] == []
