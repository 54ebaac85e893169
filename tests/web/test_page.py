"""Each page from data that somebody has made as nasty as they could."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

import gitcfg.web
from gitcfg.comparison.change import Change, Delta, Kind, Names
from gitcfg.compile.operations import TrailStep
from gitcfg.explain.search import Match
from gitcfg.explain.trail import Viewpoint
from gitcfg.history.effect import Effect
from gitcfg.model import Decision, Finding, Op, Origin
from gitcfg.state.records import Event, NodeState, Result
from gitcfg.web import content
from gitcfg.web import page as words
from gitcfg.web.content import Frame, SourceLinks, Visitor, group_events
from gitcfg.web.page import POLICY, find_asset, load_assets, render_page
from gitcfg.web.table import Row, TableQuery, build_table
from tests.web.pages import Read, accessible

NASTY = (
    "<script>alert(1)</script>\" ' onload=x \u202e\u2066javascript:alert(2)\x1b[31m\0"
    " &amp; {{ 7 * 7 }} </pre></details>"
)
SHOWN = "\\u202e\\u2066javascript:alert(2)\\x1b[31m\\x00 &amp; {{ 7 * 7 }} </pre></details>"
COMMIT = "a" * 40
ORIGIN = Origin(f"groups/{NASTY}.yaml", 3)
VISITOR = Visitor(NASTY, True, "c" * 64)
ROW = Row(NASTY, "failed", (NASTY, "b"), COMMIT, "b" * 40, 5.0, NASTY, 2, True, True, NASTY)
SHORT = content.Commit(COMMIT, NASTY, NASTY, NASTY)
COUNTS = {"well": 1, "failed": 2, "missing": 0, "pending": 3, "away": 0}
RELEASE = content.Release(
    COMMIT, None, 1.0, "halted", True, 2, (1, 5), 5, 5, 60.0, 1, 2.0, 3.0, NASTY, COUNTS, NASTY
)
RESULT = Result(COMMIT, NASTY, 1e300, NASTY, NASTY * 3, 1.5, NASTY, NASTY)
STATE = NodeState(
    NASTY,
    1.0,
    2.0,
    float("-1e12"),
    NASTY,
    NASTY,
    "d",
    1e12,
    RESULT,
    None,
    None,
    ({"path": NASTY, "kind": NASTY, "diff": f"+{NASTY}\n-{NASTY}"}, {"path": 5, "diff": {"a": 1}}, {}),
    {NASTY: {NASTY: [NASTY]}, "z": None},
    NASTY,
    99.0,
    60.0,
    NASTY,
    via=NASTY,
    deployed=-1e300,
)
STEP = TrailStep(
    Op.APPEND,
    [NASTY],
    {NASTY: NASTY},
    ORIGIN,
    (f"feature {NASTY}", f"group {NASTY}"),
    False,
    True,
    decided=(Decision(NASTY, NASTY, ORIGIN, Origin(f"allocations/{NASTY}.yaml")),),
)
VIEW = Viewpoint(NASTY, NASTY)
CONFIGURED = content.NodeConfiguration(
    VIEW,
    (NASTY,),
    (NASTY,),
    {NASTY: NASTY},
    (
        content.ParameterRow(
            NASTY, {NASTY: 1}, (STEP, msgspec.structs.replace(STEP, overridden=True)), (NASTY,)
        ),
    ),
    (content.FileRow(NASTY, NASTY),),
    SourceLinks(COMMIT),
)
MATCH = Match("parameter", NASTY, NASTY, ORIGIN, NASTY, ((0, 8), (10, 12)))
DUE = content.DueActions((NASTY,), (), (NASTY,), (NASTY,))
SOUGHT = content.SearchGroup("parameter", {NASTY: (MATCH,)})
HERE = SourceLinks(COMMIT)
CHANGE = Change(
    Kind.CHANGED,
    (NASTY, "n2"),
    {NASTY: Delta(NASTY), "b": Delta(new=[NASTY]), "c": Delta(1, {NASTY: 2})},
    (NASTY,),
    Names((NASTY,), (NASTY,)),
    Names(),
    (NASTY,),
    (NASTY,),
    (NASTY,),
    {NASTY: Delta({"mode": "0644", "owner": NASTY}, {"mode": "0600", "owner": "condor"})},
)
EFFECT = Effect(Kind.CHANGED, CHANGE.params, (NASTY,), CHANGE.features, CHANGE.groups)
FINDING = Finding("GC101", (NASTY,), NASTY, (ORIGIN,), (NASTY,), hint=NASTY)
EVENTS = [
    Event(1, 1.0, "checkin", NASTY, {"commit": NASTY, "outcome": NASTY, "drifts": 1}),
    Event(
        2,
        1.0,
        "release",
        "",
        dict.fromkeys(("commit", "what", "status", "stage", "stages", "why", "by"), NASTY),
    ),
    Event(3, 1.0, "commit", "", {"commit": NASTY}),
    Event(4, 1.0, "invalid", "", {"tip": NASTY, "message": NASTY}),
    Event(5, 1.0, "pending", NASTY, {}),
    Event(6, 1.0, NASTY, NASTY, {NASTY: NASTY}),
    Event(7, 1.0, "deploy", NASTY, dict.fromkeys(("commit", "outcome", "by", "run"), NASTY)),
]
PAGES: dict[str, msgspec.Struct] = {
    "overview": content.Overview(
        3,
        (content.Count("failed", 3),),
        (content.Count("drifted", 0),),
        (content.CommitCount(SHORT, 3),),
        7,
        (RELEASE, msgspec.structs.replace(RELEASE, commit="b" * 40, status="running", nodes=0)),
        group_events(EVENTS, 20),
        build_table([ROW] * 250, TableQuery(NASTY.split()[0], "failed", "", NASTY, "checkin", True, 2)),
        tuple(content.ExpiringItem(NASTY, NASTY, NASTY, NASTY, over, 2, NASTY) for over in (True, False)),
    ),
    "node": content.NodePage(ROW, SHORT, SHORT, True, STATE, NASTY, (RESULT, RESULT), CONFIGURED, DUE),
    "history": content.HistoryPage(
        NASTY,
        NASTY,
        content.ExplainedParameter(
            VIEW, NASTY, (content.BlamedStep(STEP, SHORT, (SHORT,)), content.BlamedStep(STEP, None))
        ),
        (content.HistoryEntry(SHORT, EFFECT),),
        True,
        HERE,
    ),
    "no history": content.HistoryPage(NASTY, "", None, (), False, HERE),
    "competing keys": content.NodePage(
        *(Row(NASTY, "pending"), None, None, False, None, "", (), None, None),
        claims=(
            content.ClaimedKey("SHA256:one", 1.0, 2.0, NASTY),
            content.ClaimedKey("SHA256:two", 3.0, 4.0, ""),
        ),
    ),
    "unknown node": content.NodePage(Row(NASTY, "pending"), None, None, False, None, "", (), None, None),
    "commit": content.CommitPage(
        SHORT, NASTY, (COMMIT,), COMMIT, (FINDING,), (CHANGE,), 2, (content.Count(f"restart {NASTY}", 2),),
        1, 3, RELEASE, 1, 2, True, HERE,
    ),
    "first commit": content.CommitPage(SHORT, "", (), None, (), (), 0, (), 1, 1, None, 0, 0, False, HERE),
    "commits": content.CommitsPage(NASTY, (SHORT,), {COMMIT: 3}, COMMIT),
    "releases": content.ReleasesPage((RELEASE,)),
    "search": content.SearchPage(
        NASTY, (NASTY,), (SHORT,), 2, (SOUGHT,), 1, 1, 2, HERE,
    ),
    "wide search": content.SearchPage(NASTY, tuple(f"n{number}" for number in range(60))),
    "file": content.FilePage(NASTY, COMMIT, (NASTY, "", f"\t{NASTY}")),
    "login": content.LoginPage(NASTY, NASTY, NASTY),
    "onward": content.RedirectPage(f"/{NASTY}"),
    "problem": content.ProblemPage(404, NASTY, NASTY),
}  # fmt: skip


def shown(name: str, visitor: Visitor | None = VISITOR) -> Read:
    return Read(render_page(Frame(1e6, visitor, COMMIT, NASTY, NASTY, NASTY), PAGES[name]))


@pytest.mark.parametrize("name", PAGES)
def test_what_is_nasty_is_only_shown(name: str) -> None:
    read = shown(name)
    accessible(read)
    assert "<script>alert(1)</script>" in read.text  # as text: it is not left out either
    assert SHOWN in read.text
    assert read.text.count("{{ 7 * 7 }}") == read.text.count("&amp; {{") > 0


@pytest.mark.parametrize("name", PAGES)
def test_nothing_in_a_page_is_more_than_a_sign(name: str) -> None:
    text = render_page(Frame(1e6, VISITOR, COMMIT, NASTY, NASTY, NASTY), PAGES[name])
    for line in text.splitlines():
        assert line.replace("\t", " ").isprintable(), line


def test_no_template_lets_anything_through() -> None:
    folder = Path(gitcfg.web.__file__).parent / "templates"
    for file in folder.iterdir():
        text = file.read_text()
        assert not re.search(r"\|\s*safe\b|Markup|autoescape|xmlattr", text), file
        assert not re.search(r"\s[a-z-]+=\{\{", text), f"{file}: an attribute without quotes"


def test_a_page_has_no_script_and_no_style_of_its_own() -> None:
    said = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert said["default-src"] == said["base-uri"] == said["frame-ancestors"] == "'none'"
    assert {said[each] for each in ("script-src", "style-src", "form-action", "connect-src")} == {"'self'"}
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("name", ["style.css", "live.js", "icon.svg"])
def test_an_asset_says_its_digest(name: str) -> None:
    found = load_assets()[name]
    assert found.name.split(".")[1] == sha256(found.body).hexdigest()[:16]
    assert find_asset(found.name) is found
    assert find_asset(name) is None
    assert find_asset("style.0000000000000000.css") is None
    assert b"http://" not in found.body.replace(b"http://www.w3.org/2000/svg", b"")
    assert b"https://" not in found.body
    assert b"innerHTML" not in found.body
    assert b"eval(" not in found.body


def test_only_who_may_operate_gets_buttons() -> None:
    buttons = [said for said in shown("releases").all("form") if "/releases/" in (said["action"] or "")]
    assert [said["method"] for said in buttons] == ["post", "post"]
    looks = shown("releases", Visitor("x", False, "c"))
    assert not [said for said in looks.all("form") if "/releases/" in (said["action"] or "")]


def test_every_form_that_changes_something_proves_itself() -> None:
    for name in PAGES:
        read = shown(name)
        posts = [said for said in read.all("form") if said.get("method") == "post"]
        proofs = [said for said in read.all("input") if said.get("name") == "csrf"]
        assert len(posts) == len(proofs) > 0, name


@pytest.mark.parametrize(
    ("date", "said"),
    [
        ("2026-11-22T11:52:18+02:00", "2026-11-22 09:52:18 UTC"),
        ("2026-11-22T11:52:18+00:00", "2026-11-22 11:52:18 UTC"),
        ("yesterday\n", "yesterday\\n"),
        ("", ""),
    ],
)
def test_dates_are_said_with_their_zone(date: str, said: str) -> None:
    assert words.format_date(date) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"$secret": "pool-password", "version": 3}, "<secret pool-password v3>"),
        ([{"$secret": NASTY[:8], "version": 1, "content": "hunter2"}], "<secret <script> v1>"),
        (None, "(no value)"),
        ("a\nb", "a\\nb"),
        ({"a": [1, True]}, '{"a":[1,true]}'),
    ],
)
def test_values_are_said_on_a_line_and_secrets_by_name_alone(value: Any, said: str) -> None:
    param = content.ParameterRow("P", value, ())
    configured = msgspec.structs.replace(CONFIGURED, params=(param,))
    read = Read(
        render_page(Frame(1.0, VISITOR), msgspec.structs.replace(PAGES["node"], configured=configured))
    )
    assert said in read.text
    assert "hunter2" not in read.text


def test_keys_that_compete_for_a_name_are_all_shown() -> None:
    told = shown("competing keys").text
    for said in ("SHA256:one", "SHA256:two", "Several keys claim this name", "--fingerprint SHA256:"):
        assert said in told
