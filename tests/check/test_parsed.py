"""What a judge is asked about rendered files, and what becomes of its verdicts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date
from typing import Any

import pytest

from gitcfg.check.run import check
from gitcfg.check.target_parsers import Meant, Question, Verdict, Verdicts, parsed
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate.options import Options
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.model import Finding, Severity
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.files import render_content
from gitcfg.render.formats import formats
from gitcfg.render.templates import TemplateEngine
from tests.parsers.oracle import needs_htcondor
from tests.seeds import mostly_slow

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "defaults: {description: d}\nparameters: {A: {}, B: {separator: comma}, C: {}}\n",
    "groups/default.yaml": "params: {A: x, B: [y, z]}\n",
    "nodesets/n.yaml": 'nodes: n[1-3]\nfiles: {/etc/f: {format: FORMAT, params: ["*", "!C"]}}\n',
    "nodes/n2.yaml": "params: {C: 1}\n",
    "nodes/n3.yaml": "params: {A: {$unset: true}}\n",
}


def fleet(format: str, **changed: str) -> Fleet:
    files: Mapping[str, str] = FILES | {
        path.replace("__", "/") + ".yaml": text for path, text in changed.items()
    }
    tree = DictTree({path: text.replace("FORMAT", format) for path, text in files.items()})
    return compile_tree(tree, date(2026, 1, 1))


class Fake:
    """A judge with a verdict for everything that remembers what it was asked; `odd` lines are not plain."""

    formats = frozenset({"condor", "json"})

    def __init__(self, *verdicts: Verdict, odd: str = "\0") -> None:
        self.verdicts = verdicts
        self.odd = odd
        self.asked: list[Question] = []
        self.begun = 0

    def begin(self, formats: Set[str]) -> None:
        self.begun += 1

    def lacks(self, format: str) -> bool:
        return False

    def plain(self, format: str, line: str, name: str, value: Any, separator: str | None) -> bool:
        return self.odd not in line

    def judge(self, questions: Iterable[Question]) -> Iterator[Verdicts]:
        for question in questions:
            self.asked.append(question)
            yield self.verdicts

    @property
    def told(self) -> list[tuple[str, str, Meant | None]]:
        return [(asked.format, asked.text, asked.meant() if asked.meant else None) for asked in self.asked]


def of_parsers(fleet: Fleet, judge: Any) -> list[Finding]:
    return [finding for finding in check(fleet, judge=judge) if finding.code == "GC307"]


def test_without_a_judge_nothing_is_asked() -> None:
    assert not any(finding.code == "GC307" for finding in check(fleet("condor")))


def test_each_class_is_asked_about_with_what_was_meant() -> None:
    judge = Fake()
    assert of_parsers(fleet("condor"), judge) == []
    assert judge.begun == 1
    told = [(format, text, dict(meant.values)) for format, text, meant in judge.told if meant]
    both = ("condor", "A = x\nB = y, z\n", {"A": "x", "B": ["y", "z"]})
    assert told == [both, both, ("condor", "B = y, z\n", {"B": ["y", "z"]})]
    assert judge.told[0][2] == Meant({"A": "x", "B": ["y", "z"]}, {"A": None, "B": "comma"})
    assert [asked.plain for asked in judge.asked] == [True, True, True]


def test_of_a_line_that_is_not_plain_all_texts_with_it_are_asked_in_full() -> None:
    judge = Fake(odd="x")
    assert of_parsers(fleet("condor"), judge) == []
    assert [asked.plain for asked in judge.asked] == [False, False, True]


def test_what_the_format_cannot_carry_is_not_meant() -> None:
    judge = Fake()
    check(fleet("condor", groups__default='params: {A: "x\\ny", B: z}\n'), judge=judge)
    assert judge.told[0] == ("condor", "B = z\n", Meant({"B": ["z"]}, {"A": None, "B": "comma"}))
    assert judge.asked[0].plain


@pytest.mark.parametrize("format", ["env", "toml", "nonsense"])
def test_formats_without_a_parser_are_not_asked_about(format: str) -> None:
    judge = Fake()
    check(fleet(format), judge=judge)
    assert judge.asked == []
    assert judge.begun == 0


def test_texts_are_asked_about_where_their_path_says_what_they_are() -> None:
    judge = Fake()
    entries = "files: {/etc/a.json: {text: x}, /etc/b.txt: {text: x}, /a.d/c: {format: condor, params: [A]},"
    entries += " /a.d/d: {text: y}, /a.d/.e: {text: z}, /b/f.json: {text: u, source: v}}\n"
    check(fleet("env", nodes__n2=entries, nodes__n3="{}\n"), judge=judge)
    assert [(format, text) for format, text, _ in judge.told] == [
        ("condor", "A = x\n"),
        ("condor", "y"),
        ("json", "x"),
    ]
    assert [meant is None for _, _, meant in judge.told] == [False, True, True]


def test_verdicts_are_findings_of_all_nodes_with_the_steps_that_led_to_them() -> None:
    (found,) = of_parsers(fleet("condor"), Fake(Verdict("is wrong", 1, ("B",), "Mend it.")))
    assert found == Finding(
        "GC307", ("B",), "The file /etc/f is wrong.", found.origins, ("n1", "n2", "n3"), hint="Mend it."
    )
    assert list(map(str, found.origins)) == ["groups/default.yaml:1:16", "nodesets/n.yaml:2:9"]
    (found,) = of_parsers(fleet("condor"), Fake(Verdict("is odd", grave=False)))
    assert (found.subjects, found.severity) == (("/etc/f",), Severity.WARNING)
    assert list(map(str, found.origins)) == ["nodesets/n.yaml:2:9"]


def test_without_nodes_the_default_group_is_judged() -> None:
    judge = Fake(Verdict("is wrong"))
    default = 'params: {A: x}\nfiles: {/f: {format: condor, params: ["*"]}, /f.json: {text: x}}\n'
    alone = fleet("condor", groups__default=default)
    files = {path: text for path, text in FILES.items() if not path.startswith("node")}
    alone = compile_tree(DictTree({**files, "groups/default.yaml": default}), date(2026, 1, 1))
    (found,) = of_parsers(alone, judge)
    assert found.nodes == ()


@pytest.mark.parametrize(
    "format", ["ini", "json", "toml", "yaml", pytest.param("condor", marks=needs_htcondor)]
)
def test_a_writer_that_is_wrong_is_found(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = formats()[format].write
    with Parsers() as parsers:
        assert of_parsers(fleet(format), parsers) == []
        monkeypatch.setattr(
            type(formats()[format]), "write", lambda _, *given: right(*given).replace("x", "X")
        )
        found = of_parsers(fleet(format), parsers)
    assert [finding.subjects for finding in found] == [("A",)]
    assert found[0].message == "The file /etc/f is read with A as 'X' instead of 'x'."
    assert found[0].nodes == ("n1", "n2")
    assert str(found[0].origins[0]) == "groups/default.yaml:1:10"


def mixed(seed: int) -> Fleet:
    """A fleet with files of all formats, and with values that HTCondor has ways of its own with."""
    options = Options(seed=seed, nodes=60, groups=20, features=25, parameters=80, files=6, memberships=4)
    files = dict(repository(options))
    files["features/odd.yaml"] = (
        "params: {ODD_A: $(ODD_A) x, ODD_B: '', ODD_C: $(ODD_D), ODD_D: $(ODD_C), USE_SHARED_PORT: 'TRUE'}\n"
    )
    files["parameters/odd.yaml"] = (
        "defaults: {description: d}\n"
        "parameters: {ODD_A: {}, ODD_B: {}, ODD_C: {}, ODD_D: {}, USE_SHARED_PORT: {}}\n"
    )
    files["groups/odd.yaml"] = "features: [odd]\n"
    for number in range(5):
        files[f"nodes/odd{number}.yaml"] = f"groups: [odd, group{number + 1:02}]\n"
    return compile_tree(DictTree(files), date(2026, 1, 1))


def _bare(text: str | None) -> str:
    """A text without the versions of secrets: nothing that a parser says follows from them."""
    return re.sub(r"(<secret [^<>]+) v[0-9]+>", r"\1>", text or "")


@pytest.mark.parametrize("seed", mostly_slow(range(3)))
def test_the_text_that_is_judged_is_the_one_that_nodes_get(seed: int) -> None:
    compiled = mixed(seed)
    judge = Fake()
    judge.formats = Parsers.formats
    found = tuple(check(compiled))
    with TemplateEngine(compiled.templates) as engine:
        list(parsed(compiled, engine, judge, found))
        places = [(kind, entry) for kind in compiled.judged for entry in kind.files.values()]
        wanted = [
            (entry.format, _bare(render_content(compiled, compiled[kind.names[0]], entry, engine)))
            for kind, entry in places
            if entry.format in judge.formats
        ]
    assert len(wanted) > 100
    assert [(asked.format, asked.text) for asked in judge.asked] == wanted
    assert any(asked.plain for asked in judge.asked)


class InFull(Parsers):
    """Parsers that look at everything with its values."""

    plain = staticmethod(lambda *_: False)  # type: ignore[assignment]


@pytest.mark.parametrize("seed", mostly_slow(range(2)))
def test_one_child_says_what_several_do_and_what_is_asked_in_full(seed: int) -> None:
    compiled = mixed(seed)
    answers = []
    for judge in (Parsers(1), Parsers(3), InFull(2)):
        with judge, TemplateEngine(compiled.templates) as engine:
            answers.append(list(parsed(compiled, engine, judge, ())))
    assert answers[0] == answers[1] == answers[2]
    assert any("that form a cycle: ODD_C uses ODD_D" in finding.message for finding in answers[0])


def secretive(format: str, version: int) -> Fleet:
    files = FILES | {
        "groups/default.yaml": "params: {A: {$secret: pool}, B: [y, z]}\n",
        "secrets/pool.yaml": f"for: 'true'\nversion: {version}\nrecipients: []\n",
    }
    tree = DictTree({path: text.replace("FORMAT", format) for path, text in files.items()})
    return compile_tree(tree, date(2026, 1, 1))


def test_a_secret_is_a_line_like_any_other() -> None:
    """Else every file with a secret is read with all its values: 15 s more for 6,878 nodes."""
    judge = Fake()
    judge.plain = Parsers.plain  # type: ignore[method-assign]
    assert of_parsers(secretive("condor", 4), judge) == []
    assert [asked.plain for asked in judge.asked] == [True, True, True]
    format, text, meant = judge.told[0]
    assert (format, text) == ("condor", "A = <secret pool>\nB = y, z\n")
    assert meant is not None
    assert meant.values["A"] == "<secret pool>"


@pytest.mark.parametrize("format", ["condor", "json"])
def test_another_version_of_a_secret_asks_nothing_new(format: str) -> None:
    """Else a new content of one that 6,878 nodes get costs 12 s of HTCondor's parser."""
    judges = Fake(), Fake()
    for version, judge in enumerate(judges, 1):
        assert of_parsers(secretive(format, version), judge) == []
    assert judges[0].told == judges[1].told
    assert all("secret pool>" in text for _, text, _ in judges[0].told[:2])


@needs_htcondor
def test_htcondor_reads_the_line_of_a_secret_as_it_is_shown() -> None:
    for judge in (Parsers(1), InFull(1)):
        with judge:
            assert of_parsers(secretive("condor", 4), judge) == []
