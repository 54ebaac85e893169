"""A sanitized repository has the findings and differences of the original, and none of its words."""

import re
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitcfg.bundled import read_pack
from gitcfg.convert.sanitize.sanitizer import Sanitizer, compare_findings
from gitcfg.git.tree import Content, DictTree
from gitcfg.library import compare
from tests.cases_format import Case, read_cases, written
from tests.convert.sanitized import fleet, outlined, pieces, sanitized, words
from tests.work.versions import versions

CASES = {case.name: case for case in read_cases("findings")}
RULED = {case.name: case for case in read_cases("rules")}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_findings_of_every_case_stay(case: Case) -> None:
    both = [case.before, case.files] if case.before else [case.files]
    sanitizer, made = sanitized(both)
    before = made[0] if case.before else None
    with fleet(case.files, case.before, case.today) as one, fleet(made[-1], before, case.today) as other:
        missing, besides = compare_findings(one.findings, other.findings, sanitizer)
    assert not list(map(written, missing))
    assert not list(map(written, besides))


@pytest.mark.slow
@pytest.mark.parametrize("case", RULED.values(), ids=RULED.keys())
def test_the_findings_about_rules_stay(case: Case) -> None:
    test_the_findings_of_every_case_stay(case)
    assert not _leaked(case.files)


def test_rules_and_what_was_decided_for_them_stay_what_they_are() -> None:
    files: dict[str, Content] = {
        "gitcfg.yaml": "format: 1\n",
        "rules/r.yaml": """rules:
  two-servers:
    install: server
    over: interface
    per: self.with.subnet
    count: {min: 1, max: 2}
  ports: {domain: {web.port: [8080, "1024-65535", 10.1.2.3-10.1.2.200]}, unique: fleet}
  must: {require: 'false', message: Nothing else will do.}
  keyed: {domain: {size: [big]}, over: interface, unique: node.facts.rack}
  bill: {forbid: {by: [bill@corporation], params: ["WEB*"], files: [/etc/passwd], rules: [ports],
    features: [interface], inherit: false}}
""",
        "allocations/two-servers.yaml": "install: [gateway1/eth0]\n",
        "allocations/ports.yaml": "values:\n  gateway1/eth0: {web.port: 8080}\n",
    }
    sanitizer, (made,) = sanitized([files])
    name = sanitizer.names.replace_name
    with fleet(made) as found:
        model = found.model
    two = model.rules[name("two-servers")]
    assert two.per is not None
    assert two.per.name == f"self.with.{name('subnet')}"
    assert two.count is not None
    assert (two.count.least, two.count.most) == (1, 2)
    ports = model.rules[name("ports")].domains[name("web.port")].items
    low, high = map(int, str(ports[1]).split("-"))
    assert low < int(ports[0]) < high
    first, last = (tuple(map(int, end.split("."))) for end in str(ports[2]).split("-"))
    assert first < last
    assert (10, 1, 2) not in (first[:3], last[:3])
    uniqueness = model.rules[name("keyed")].unique
    assert uniqueness is not None
    assert uniqueness.key is not None
    assert uniqueness.key.name == f"node.facts.{name('rack')}"
    assert str(model.rules[name("ports")].unique) == "Uniqueness(scope='fleet', key=None)"
    permit = model.rules[name("bill")].permit
    assert permit is not None
    assert [ref.name for ref in permit.rules] == [name("ports")]
    assert not permit.inherit
    slot = name("gateway1/eth0")
    assert [ref.name for ref in model.allocations[name("two-servers")].install] == [slot]
    assert model.allocations[name("ports")].values[slot][name("web.port")].given == ports[0]
    assert not _leaked(files)


@pytest.mark.slow
@settings(max_examples=8)
@example(1375)  # an override that selects a node by the beginning of its name
@given(st.integers(0, 1 << 20))
def test_findings_and_differences_of_random_versions_stay(seed: int) -> None:
    originals: list[dict[str, Content]] = [dict(version.files) for version in versions(seed, 3)]
    sanitizer, made = sanitized(originals)
    for one, other in zip(originals, made, strict=True):
        with fleet(one) as old, fleet(other) as new:
            assert compare_findings(old.findings, new.findings, sanitizer) == ([], [])
    for (a, b), (c, d) in zip(pairwise(originals), pairwise(made), strict=True):
        with fleet(a) as old, fleet(b) as new, fleet(c) as old_other, fleet(d) as new_other:
            assert outlined(compare(old, new), sanitizer) == outlined(compare(old_other, new_other))


def _leaked(files: Mapping[str, Content]) -> set[str]:
    """Words of the original that stand in what was made, whatever the key: one word may come by chance."""
    made = [
        words(sanitized([files], key)[1][0]) for key in (b"one key" * 3, b"another key" * 3, b"a third" * 3)
    ]
    return words(files) & made[0] & made[1] & made[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_word_of_a_case_is_left(name: str) -> None:
    assert not _leaked(CASES[name].files)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("GC210")])
def test_nothing_of_an_encrypted_file_is_left(name: str) -> None:
    files = CASES[name].files
    assert pieces(files) or name == "GC210-content-is-missing"
    assert not pieces(files) & pieces(sanitized([files])[1][0])


@settings(max_examples=5)
@given(st.integers(0, 1 << 20))
def test_no_word_of_a_random_repository_is_left(seed: int) -> None:
    assert not _leaked(versions(seed, 2)[-1].files)


def test_no_word_of_the_sample_is_left() -> None:
    assert not _leaked(read_pack("htcondor"))


def test_lines_stay_lines() -> None:
    sample = read_pack("htcondor")
    sanitizer, (made,) = sanitized([sample])
    for path in filter(re.compile(".*/|gitcfg").match, sample):
        new = made[sanitizer.path(path)]
        assert isinstance(new, bytes)
        assert new.count(b"\n") == sample[path].count(b"\n"), path


def test_the_same_key_gives_the_same_and_another_key_does_not() -> None:
    sample = read_pack("htcondor")
    assert sanitized([sample], b"one key" * 3)[1] == sanitized([sample], b"one key" * 3)[1]
    assert sanitized([sample], b"one key" * 3)[1] != sanitized([sample], b"another key" * 3)[1]


def test_what_is_no_text_is_blanked() -> None:
    sanitizer = Sanitizer(b"k" * 32, [])
    tree = DictTree({"features/A.yaml": b"a: Secret9\xff\n"})
    assert list(sanitizer.files(tree).values()) == [b"x: Xxxxxx0\xff\n"]


def test_comments_are_gone_and_hashes_in_text_stay() -> None:
    text = "# Corp\nparams:  # secret\n  P: 'a#b # c' # more\n  Q: |  # block\n    x # y\n"
    _, (made,) = sanitized([{"groups/g.yaml": text}])
    new = next(iter(made.values()))
    assert isinstance(new, bytes)
    said = new.decode().splitlines()
    assert said[:2] == ["", "params:"]
    assert said[2].count("#") == 2
    assert said[3].endswith(": |")
    assert said[4].count("#") == 1
