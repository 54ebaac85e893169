"""Whole conversations in real terminals: what is asked, what is told, and what is written in the end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.configure.dialogue import MAIN, Dialogue
from tests.configure.pools import committed, contents, environment, git

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample-repo"
VALUE = r"HOST \(Enter: leave it\) = "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return committed(tmp_path / "pool")


def talk(folder: Path, what: str, **more: str) -> Dialogue:
    return Dialogue(folder, {**environment(folder.parent), **more}, what)


def left_as_it_was(folder: Path) -> bool:
    return git(folder, "status", "--porcelain") == "" and git(folder, "log", "--format=%s") == "Begin"


def test_a_value_is_wanted_a_dependency_is_offered_and_it_is_committed(folder: Path) -> None:
    with talk(folder, "web") as it:
        start = it.answer("a webm")
        assert "4 nodes: n1,s[1-3]" in start
        assert "  0  Loud" in start
        assert "  LEVEL: high" in start
        missing = it.answer("", r"Add Base here as well\? \[Y/n\] ")
        assert "added Webmail" in missing
        assert "error[GC301] The feature Base is missing: Web depends on it." in missing
        wanted = it.answer("", VALUE)
        assert "added Base" in wanted
        assert "HOST needs a value, because it has `must_change`. On 4 nodes: n1,s[1-3]." in wanted
        assert "HOST: Where it listens." in wanted
        assert "string, no default: it must be given a value" in wanted
        assert 'schema {"pattern":"^[a-z0-9.]+$"}' in wanted
        assert "HOST is left as it is." in it.answer("s HOST UPPER")
        assert 'does not fit its schema: "UPPER" does not match' in it.answer("[a", VALUE)
        assert "is not a value for HOST" in it.answer("[a]", VALUE)
        assert "HOST is text, not a list." in it.answer('""', VALUE)
        assert "HOST" in it.answer("web.example.org", VALUE)
        shown = it.answer("w")
        assert "1 problem from before: solved." in shown
        assert "so far: 4 nodes change; reloads: httpd on 4." in shown
        diff = it.answer("c", "> ")
        assert "+features: [Loud, Webmail, Base]" in diff
        it.answer("", r"Message \(Enter: Configure group web\): ")
        it.answer("with-web", "Enter for none: ")
        assert it.end() == 0
    text = "description: Web.   # few\nfeatures: [Loud, Webmail, Base]\nparams:\n  LEVEL: high # enough\n"
    assert (folder / "groups/web.yaml").read_text() == f"{text}  HOST: web.example.org\n"
    assert git(folder, "log", "--format=%s") == "Configure group web\nBegin"
    assert git(folder, "rev-parse", "snapshot/with-web^{commit}") == git(folder, "rev-parse", "HEAD")
    assert git(folder, "status", "--porcelain") == ""


def test_insert_move_and_remove_by_position(folder: Path) -> None:
    with talk(folder, "group/web") as it:
        it.answers("i 0 Base", "i 0 Rival", "i 1 Base", "r 1", "l")
        shown = it.asked()
        assert "  0  Rival\n  1  Loud\n" in shown
        assert "Base" not in shown
        it.answers("w")
        it.answer("w", "> ")
        assert it.end() == 0
    assert "features: [Rival, Loud]\n" in (folder / "groups/web.yaml").read_text()
    assert git(folder, "status", "--porcelain") == "M groups/web.yaml"
    assert git(folder, "tag") == ""


def test_values_that_only_a_removed_feature_needed_are_offered(folder: Path) -> None:
    with talk(folder, "web") as it:
        it.answer("r Loud")
        assert "LEVEL was set here only for Loud." in it.answer("", r"Drop LEVEL\? \[Y/n\] ")
        assert "unset LEVEL" in it.answer("b")
        assert "undid: unset LEVEL" in it.answer("w")
        assert "-features: [Loud]" in it.answer("", "> ")
        it.answers("u LEVEL", "w")
        it.answer("w", "> ")
        assert it.end() == 0
    assert (folder / "groups/web.yaml").read_text() == "description: Web.   # few\n"


def test_a_conflict_is_told_and_one_of_the_two_removed(folder: Path) -> None:
    with talk(folder, "n2") as it:
        it.answers("a Base", "a Web")
        it.answer("localhost", VALUE)
        it.answer("a Rival")
        shown = it.answer("9", "> ")
        assert "error[GC302]" in shown
        assert "1: Remove Web, 2: Remove Rival, Enter: leave it for now" in shown
        assert "Answer one of: 1, 2, Enter." in it.answer("1", "> ")
        assert "HOST was set here only for Web." in it.answer("y", r"Drop HOST\? \[Y/n\] ")
        shown = it.answer("p")
        assert "so far: 1 node changes" in shown
        assert "error" not in it.answer("q")
        it.answer("", "do not leave\n> ")
        it.answers("q")
        it.answer("n", "do not leave\n> ")
        assert "Nothing was changed." in it.asked("Nothing was changed.\n")
        assert it.end() == 1
    assert left_as_it_was(folder)


def test_errors_that_are_left_are_written_only_if_that_is_confirmed(folder: Path) -> None:
    with talk(folder, "n2") as it:
        it.answer("a Web")
        it.answer("n", r"Add Base here as well\? \[Y/n\] ")
        it.answer("", VALUE)
        it.answers("w")
        shown = it.answer("", r"Write it anyway\? \[y/N\] ")
        assert "error[GC301]" in shown
        assert "error[GC305]" in shown
        assert "2 new errors." in shown
        it.answers("w")
        it.answer("y", r"Write it anyway\? \[y/N\] ")
        it.answer("w", "> ")
        assert it.end() == 0
    assert (folder / "nodes/n2.yaml").read_text() == "description: Alone.\nfeatures: [Web]\n"


MOMENTS = {
    MAIN: ("a Base", "a Web", "a.b"),
    VALUE: ("a Base", "a Web"),
    r"Description of New \(Enter: none\): ": ("a Base", "a New", "c"),
    r"includes, separated by commas \(Enter: none\): ": ("a Base", "a New", "c", "It."),
    "continue\n> ": ("a Base", "w"),
    "Enter for none: ": ("a Base", "w", "c", ""),
}


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 1), ("TERM", 143)])
@pytest.mark.parametrize("question", MOMENTS)
def test_who_leaves_changes_nothing(folder: Path, key: str, code: int, question: str) -> None:
    before = contents(folder)
    with talk(folder, "web") as it:
        for line in MOMENTS[question]:
            it.answer(line, r"[>:=] ")
        it.asked(question)
        if key == "TERM":
            it.process.terminate()
        else:
            it.type(key)
        assert it.end() == code
        assert key == "TERM" or "Nothing was changed." in it.seen
        assert "Traceback" not in it.seen
    assert contents(folder) == before
    assert left_as_it_was(folder)


def test_commands_at_questions_and_a_new_feature_in_a_terminal(folder: Path) -> None:
    with talk(folder, "web") as it:
        it.answer("a Metrics")
        it.answer("c", "another name\n> ")
        assert "There is no feature Metrics." in it.seen
        it.answer("?", r"Description of Metrics \(Enter: none\): ")
        shown = it.answer("back", r"Description of Metrics \(Enter: none\): ")
        assert "back         leave this question" in shown
        assert "Nothing was done." in it.answer("a Metrics")
        it.answer("c", "another name\n> ")
        it.answer("It measures.", r"Description of Metrics \(Enter: none\): ")
        it.answer("", r"includes, separated by commas \(Enter: none\): ")
        assert "created the feature Metrics" in it.answer("w")
        it.answer("c", "continue\n> ")
        it.answer("", r"Message [^\n]*: ")
        it.answer("y", "Enter for none: ")
        assert it.end() == 0
    assert (folder / "features/Metrics.yaml").read_text() == "description: It measures.\n"
    assert git(folder, "tag") == "snapshot/web-2026-01-01"
    assert git(folder, "status", "--porcelain") == ""


def test_what_somebody_else_changes_meanwhile_is_not_lost(folder: Path) -> None:
    with talk(folder, "web") as it:
        it.answers("a Base", "w")
        it.asked("> ")
        other = (folder / "groups/web.yaml").read_text().replace("[Loud]", "[Loud, Rival]")
        (folder / "groups/web.yaml").write_text(other)
        it.answer("c", "> ")
        it.answer("", r"Message [^\n]*: ")
        it.answer("", "none: ")
        shown = it.answer("l")
        assert "Someone else changed groups/web.yaml; nothing was written." in shown
        assert (folder / "groups/web.yaml").read_text() == other
        assert "  0  Loud\n  1  Rival\n  2  Base\n" in it.answer("w")
        assert "+features: [Loud, Rival, Base]" in it.answer("w", "Enter: continue\n> ")
        assert it.end() == 0
    assert "features: [Loud, Rival, Base]" in (folder / "groups/web.yaml").read_text()


def test_what_can_no_longer_be_done_is_left_out(folder: Path) -> None:
    with talk(folder, "web") as it:
        it.answers("u LEVEL", "a Base")
        it.asked()
        (folder / "groups/web.yaml").write_text("description: Mine.\n")
        it.answers("w")
        shown = it.answer("q")
        assert "Someone else changed groups/web.yaml; nothing was written." in shown
        assert "skipped: unset LEVEL" in shown
        it.answer("n", "do not leave\n> ")
        assert it.end() == 1
    assert (folder / "groups/web.yaml").read_text() == "description: Mine.\n"


def test_a_hook_that_refuses_the_commit_leaves_everything_as_it_was(folder: Path) -> None:
    hook = folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    hook.chmod(0o755)
    with talk(folder, "web") as it:
        it.answers("a Base", "w")
        it.answer("c", "> ")
        it.answer("", r"Message [^\n]*: ")
        it.answer("keep", "none: ")
        shown = it.answer("q")
        assert "git says: no such thing" in shown
        assert "1 step>" in shown
        it.answer("n", "do not leave\n> ")
        assert it.end() == 1
    assert left_as_it_was(folder)
    assert git(folder, "tag") == ""


def test_a_node_of_a_node_set(folder: Path) -> None:
    with talk(folder, "s2") as it:
        start = it.answer("a Base")
        assert "node s2  has no file of its own yet" in start
        assert "one of 3 nodes of the node set s." in start
        assert "`gitcfg configure nodeset/s`" in start
        assert "from group web: Loud" in start
        it.answer("r Loud")
        it.answer("y", r"Remove it here anyway\? \[y/N\] ")
        shown = it.answer("w")
        assert "so far: 1 node changes" in shown
        it.answer("w", "> ")
        assert it.end() == 0
    assert (
        folder / "nodes/s2.yaml"
    ).read_text() == "features: {$append: [Base]}\nwithout: {$append: [Loud]}\n"


def test_names_are_found_by_their_beginnings_and_when_they_are_nearly_right(folder: Path) -> None:
    with talk(folder, "n2") as it:
        it.answer("a We")
        shown = it.answer("Riwal", r"Which feature \(Enter: none\): ")
        assert "2 features begin like this:\n  Web, Webmail\n" in shown
        assert "There is no feature Riwal. Did you mean Rival?" in it.answer("1", "another name\n> ")
        assert "added Rival\n" in it.answer("s LEVLE")
        assert "There is no parameter LEVLE." in it.answer("", "another name\n> ")
        it.answer("", r"Which parameter \(Enter: none\): ")
        it.asked()
        it.type("\x04")
        assert it.end() == 1


@pytest.mark.parametrize(
    ("environ", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_only_where_they_are_wanted(folder: Path, environ: dict[str, str], colours: bool) -> None:
    with talk(folder, "web", **environ) as it:
        it.answers("a Rival", "d")
        it.asked()
        assert ("\x1b[" in it.seen) == colours
        if not colours:
            assert "\x1b" not in it.seen
        it.type("\x04")
        it.end()


def test_the_help_fits_on_a_narrow_terminal(folder: Path) -> None:
    with talk(folder, "web", COLUMNS="80") as it:
        shown = it.answer("?")
        assert max(map(len, shown.splitlines())) <= 80
        it.answer("nonsense")
        assert "Unknown command. `?` lists the commands." in it.asked()
        it.type("\x04")
        assert it.end() == 0


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("wbe", "There is no node, group or node set wbe."),
        ("group/n1", "There is no group n1."),
        ("Web", "It is a feature: use `gitcfg modify feature 'Web'`."),
        ("rack/n1", "rack is not a kind to configure."),
    ],
)
def test_names_that_there_are_not(folder: Path, what: str, said: str) -> None:
    with talk(folder, what) as it:
        assert it.end() == 2
        assert said in it.seen


def test_the_documented_conversation_is_a_real_one(tmp_path: Path) -> None:
    page = (ROOT / "docs/configure.md").read_text()
    told = page.partition("```text\n")[2].partition("```")[0]
    files = {
        path.relative_to(SAMPLE).as_posix(): path.read_text() for path in SAMPLE.rglob("*") if path.is_file()
    }
    folder = committed(tmp_path / "pool", files)
    with talk(folder, "group/GPU workers", NO_COLOR="1") as it:
        for text, question in (
            ("a parallelw", MAIN),
            ("a Scratch", MAIN),
            ("c", "another name\\n> "),
            ("Fast local disks.", r"Description of Scratch [^\n]*: "),
            ("", r"separated by commas [^\n]*: "),
            ("i 0 Central", MAIN),
            ("cm1.pool.example.org", r"HAD_LIST \(Enter: leave it\) = "),
            ("", r"REPLICATION_LIST \(Enter: leave it\) = "),
            ("b", MAIN),
            ("b", MAIN),
            ("show snapshots", MAIN),
            ("le gpu04.pool.example.org", MAIN),
            ("w", MAIN),
            ("c", "continue\\n> "),
            ("", r"Message [^\n]*: "),
            ("y", "Enter for none: "),
        ):
            it.answer(text, question)
        assert it.end() == 0
        if "UPDATE_CASES" in os.environ:
            seen = re.sub(r" +$", "", it.seen, flags=re.MULTILINE)
            (ROOT / "docs/configure.md").write_text(page.replace(told, seen))
            return
        assert masked(it.seen) == masked(told)


def masked(text: str) -> str:
    """A conversation without the ids of commits and the blanks at line ends."""
    return "\n".join(line.rstrip() for line in re.sub(r"\b[0-9a-f]{10,}\b", "ID", text).splitlines())


def test_without_a_terminal_it_says_what_to_do(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gitcfg", "configure", "web"],
        cwd=folder,
        env=environment(folder.parent),
        input="a Base\nw\nw\n\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "`gitcfg configure` needs a terminal." in done.stderr
    assert left_as_it_was(folder)
