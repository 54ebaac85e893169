"""Rules install in the order of what they read; what goes in circles, or cannot be read, is told."""

from collections.abc import Mapping

import pytest

from gitcfg.cel import Condition, compile_condition
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.rules.rulebook import Rulebook
from gitcfg.model.rules import Rule, RuleKind
from tests.compile.rules.written import FILE, counted, install, rule, setting

INCLUDED = {"mail": ["service"], "service": [], "web": [], "dns": [], "proxy": ["web"]}


def book(*rules: Rule) -> Rulebook:
    return Rulebook({one.name: one for one in rules}, Inclusion(INCLUDED))


def test_a_rule_comes_after_those_that_bring_what_it_reads() -> None:
    found = book(
        install("a", "dns", where='"service" in node.features'),
        install("b", "mail", where='"web" in node.features && "rack" in node.facts'),
        install("c", "proxy", where='"server" in node.labels'),
        install("d", "web"),
    )
    assert found.strata.layers == (("c", "d"), ("b",), ("a",))
    assert found.order == {"c": 0, "d": 0, "b": 1, "a": 2}
    assert not found.strata.circles


def test_one_that_looks_at_all_features_comes_after_all_others() -> None:
    found = book(install("a", "dns", where="size(node.features) > 2"), install("b", "mail"))
    assert found.strata.layers == (("b",), ("a",))


def test_rules_that_count_their_places_are_waited_for_too() -> None:
    found = book(
        install("a", "dns", where='"mail" in node.features'), install("b", "mail", count=counted(2, 2))
    )
    assert found.strata.layers == (("b",), ("a",))


def test_instances_are_waited_for() -> None:
    found = book(install("a", "dns", over="service"), install("b", "mail"))
    assert found.strata.layers == (("b",), ("a",))


def test_a_circle_is_told_with_all_its_places_and_installs_nothing() -> None:
    found = book(
        install("a", "dns", where='"service" in node.features', line=10),
        install("b", "mail", where='"dns" in node.features', line=20),
        install("c", "web", where='"dns" in node.features'),
    )
    (circle,) = found.strata.circles
    assert circle.rules == ("a", "b")
    assert [(place.file, place.line) for place in circle.origins] == [
        (FILE, 11),
        (FILE, 12),
        (FILE, 21),
        (FILE, 22),
    ]
    assert found.strata.layers == (("c",),)


@pytest.mark.parametrize(
    "alone",
    [
        install("a", "mail", where='!("service" in node.features)'),
        install("a", "mail", over="service"),
    ],
)
def test_a_rule_that_installs_what_it_reads_goes_in_a_circle_of_its_own(alone: Rule) -> None:
    assert [circle.rules for circle in book(alone).strata.circles] == [("a",)]


def test_looking_at_all_features_is_no_circle_alone_but_is_with_another_that_does() -> None:
    looking = "size(node.features) > 2"
    assert not book(install("a", "dns", where=looking)).strata.circles
    both = book(install("a", "dns", where=looking), install("b", "web", where=looking))
    assert [circle.rules for circle in both.strata.circles] == [("a", "b")]


def test_what_cannot_be_read_is_kept_with_its_rule_which_does_nothing() -> None:
    found = book(
        install("a", "dns", where='"x" in node.label'),
        install("b", "web", where='node.params["x"] == 1'),
        setting("c", {"p": 1}, where="self.feature == 'x'"),
        install("d", "web", over="service", where='self.as == "eth0" && self.feature == "mail"'),
    )
    assert [(wrong.rule, wrong.part, wrong.at.origin.line) for wrong in found.unreadable] == [
        ("a", "where", 3),
        ("b", "where", 3),
        ("c", "where", 3),
    ]
    assert found.unreadable[0].problem.hint == "did you mean node.labels?"
    assert [one.name for one in found.of_kind(RuleKind.INSTALL, RuleKind.SET)] == ["d"]
    assert found.strata.layers == (("d",),)


def test_conditions_of_rules_about_final_values_may_read_them() -> None:
    assert not book(rule("a", RuleKind.REQUIRE, where='node.params["x"] == 1')).unreadable


def test_a_feature_that_is_not_there_is_waited_for_by_its_name() -> None:
    found = book(install("a", "web", where='"gone" in node.features'), install("b", "gone"))
    assert found.strata.layers == (("b",), ("a",))


def test_only_what_is_asked_for_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str, known: Mapping[str, str]) -> Condition:
        read.append(text)
        return compile_condition(text, known)

    monkeypatch.setattr("gitcfg.compile.rules.evaluate.compile_condition", counted)
    found = book(
        install("a", "web", where='"a" in node.labels'),
        rule("b", RuleKind.REQUIRE, require='"b" in node.labels'),
    )
    for _ in range(2):
        assert [one.name for one in found.of_kind(RuleKind.INSTALL)] == ["a"]
    assert read == ['"a" in node.labels']
    assert not found.unreadable
    assert read == ['"a" in node.labels', '"b" in node.labels']
