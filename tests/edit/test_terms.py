"""Holds and overrides begun by commands: what is written and refused, and that lifting leaves no trace."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import (
    Action,
    Order,
    Term,
    TermEnd,
    begin_term,
    carry_out,
    find_expired,
    lift_terms,
    parse_last_day,
    parse_scope,
)
from gitcfg.edit.yaml.changes import Given
from gitcfg.git.tree import DictTree
from gitcfg.library import in_memory
from gitcfg.model import GitcfgError

TODAY = date(2026, 11, 22)
COMMIT = "1234567890" * 4
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "groups/rack3.yaml": "{}\n",
    "nodesets/exec.yaml": "nodes: exec[1-9]\ngroups: [rack3]\n",
}


def draft(**files: str) -> Draft:
    return Draft(
        DictTree({**FILES, **{f"{name.replace('__', '/')}.yaml": text for name, text in files.items()}})
    )


def hold(edited: Draft, *words: str, where: str | None = None, reason: str = "r", days: int = 1) -> Order:
    order = Order(Action.NEW, "hold", "h", fields={"commit": Given(COMMIT)})
    until = TermEnd(TODAY + timedelta(days), reason)
    return begin_term(order, parse_scope(edited.model, words, where), until, TODAY)


def written(*words: str, where: str | None = None, reason: str = "r") -> str:
    edited = draft()
    carry_out(edited, [hold(edited, *words, where=where, reason=reason)])
    return (edited.files["holds/h.yaml"] or b"").decode()


def test_a_hold_is_written_as_one_would() -> None:
    said = f'nodes: "exec1,exec[3-4]"\nreason: r\nuntil: 2026-11-23\ncommit: "{COMMIT}"\n'
    assert written("exec1", "exec[3-4]") == said  # all digits: without quotes it would be a number


def test_groups_become_a_condition() -> None:
    assert written("@rack3").startswith("where: '\"rack3\" in node.groups'\n")
    assert written("@rack3", "@default").startswith("where: '\"rack3\" in node.groups || true'\n")


@pytest.mark.parametrize(
    ("words", "where", "message"),
    [
        ((), None, "The selection of nodes is missing."),
        (("exec1",), "true", "Nodes, groups and `--where` cannot be combined."),
        (("exec1", "@rack3"), None, "Nodes, groups and `--where` cannot be combined."),
        (("@rack4",), None, "There is no group rack4."),
        (("exec10",), None, "There is no node exec10."),
        (("exec[",), None, "exec[ is not a node set: a bracket is not closed."),
    ],
)
def test_for_whom_must_be_clear(words: tuple[str, ...], where: str | None, message: str) -> None:
    with pytest.raises(GitcfgError) as raised:
        parse_scope(draft().model, words, where)
    assert raised.value.message == message


def test_what_walks_in_may_be_held() -> None:
    edited = draft(gitcfg="format: 1\nwalk_in: {groups: []}\n")
    assert parse_scope(edited.model, ["guest"], None) == {"nodes": Given("guest")}


def test_what_is_over_does_not_begin_and_a_reason_is_given() -> None:
    with pytest.raises(GitcfgError, match="2026-11-21 is in the past"):
        hold(draft(), "exec1", days=-1)
    assert hold(draft(), "exec1", days=0)
    with pytest.raises(GitcfgError, match="It has no reason"):
        hold(draft(), "exec1", reason=" ")
    with pytest.raises(GitcfgError, match="soon is not a date"):
        parse_last_day("soon")


def test_only_what_is_past_its_last_day_is_over() -> None:
    term = "nodes: exec1\nreason: r\nuntil: "
    files = {f"overrides__{day}": f"{term}2026-11-{day}\n" for day in (20, 22, 21, 23)}
    assert find_expired(draft(**files).model, Term.OVERRIDE, TODAY) == ("20", "21")
    assert find_expired(draft(**files).model, Term.HOLD, TODAY) == ()


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip)


@pytest.mark.slow
@given(TEXT, st.sampled_from([("exec1",), ("exec[2-5]", "exec9"), ("@rack3",)]), st.integers(0, 900))
def test_begun_it_says_what_was_said_and_lifted_it_leaves_no_trace(
    reason: str, words: tuple[str, ...], days: int
) -> None:
    edited = draft()
    carry_out(edited, [hold(edited, *words, reason=reason, days=days)])
    files: dict[str, str | bytes] = {
        **FILES,
        **{path: text for path, text in edited.files.items() if text is not None},
    }
    with in_memory(files, TODAY) as fleet:
        found = fleet.model.holds["h"]
        assert (found.reason, found.until, found.commit.name) == (reason, TODAY + timedelta(days), COMMIT)
        named = ("exec1",) if words == ("exec1",) else ("exec2", "exec3", "exec4", "exec5", "exec9")
        assert found.members == (None if words == ("@rack3",) else named)
        told = [one for one in fleet.findings if "holds/" in str(one.origins)]
        assert not [one for one in told if one.code != "GC507"]  # that it ends soon is told
    carry_out(edited, lift_terms(Term.HOLD, ["h", "h"]))
    assert not edited.files
