"""Workflow commands: read as GitHub's runner reads them, they name the lines that findings are about."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.cli.forges import github_commands, quality_record, whole
from gitcfg.cli.main import run
from gitcfg.model import Finding, Origin, Severity
from tests.cli.reports import FINDINGS, WRITTEN, follows, make
from tests.properties.runs import QUICK


class Command(msgspec.Struct, frozen=True):
    """A command as the runner has it."""

    name: str
    properties: dict[str, str]
    data: str


def read(line: str) -> Command:
    """As the runner does: `::` to the next `::`, properties split at commas, each at its first `=`."""
    line = line.lstrip()
    assert line.startswith("::")
    about, found, data = line[2:].partition("::")
    assert found
    name, _, rest = about.partition(" ")
    pairs = (part.split("=", 1) for part in rest.strip().split(",") if part)
    return Command(name, {key: _plain(value, property=True) for key, value in pairs}, _plain(data))


def _plain(text: str, property: bool = False) -> str:
    for code, token in (("%0D", "\r"), ("%0A", "\n")):
        text = text.replace(code, token)
    if property:
        text = text.replace("%3A", ":").replace("%2C", ",")
    return text.replace("%25", "%")


def test_a_finding_is_a_command() -> None:
    finding = Finding(
        "GC301",
        ("Master",),
        "It is 100% missing.\nReally.",
        (Origin("features/a,b:c.yaml", 3, 7), Origin("groups/g.yaml", 1, 2)),
        ("n1", "n2"),
        hint="Add it.",
    )
    (line,) = github_commands([finding], "pool")
    assert line == (
        "::error file=pool/features/a%2Cb%3Ac.yaml,line=3,col=7,"
        "title=GC301 A node has every feature that its features depend on."
        "::pool/features/a,b:c.yaml:3:7: It is 100%25 missing.\\nReally.%0Aon 2 nodes: n[1-2]%0Ahint: Add it."
        "%0Aalso pool/groups/g.yaml:1:2"
    )


@QUICK
@given(findings=st.lists(FINDINGS, max_size=3), prefix=st.sampled_from(["", "a b", "x,y/100%"]))
def test_the_runner_reads_what_was_meant(findings: list[Finding], prefix: str) -> None:
    lines = list(github_commands(findings, prefix))
    text = "".join(f"{line}\n" for line in lines)
    assert text.encode().decode().split("\n") == [*lines, ""]
    assert not set(text) & set("\r\0\x1b") - set("".join(o.file for f in findings for o in f.origins[:1]))
    ordered = sorted(findings, key=lambda finding: finding.severity is Severity.WARNING)
    for line, finding in zip(lines, ordered, strict=True):
        command = read(line)
        origin = finding.origins[0] if finding.origins else Origin("gitcfg.yaml")
        file = f"{prefix}/{origin.file}" if prefix else origin.file
        assert command.name == finding.severity
        assert command.properties["file"] == whole(file)
        assert (command.properties["line"], command.properties["col"]) == (
            str(origin.line),
            str(origin.column),
        )
        assert command.properties["title"].startswith(f"{finding.code} ")
        assert command.properties.keys() == {"file", "line", "col", "title"}
        assert len(command.data.split("\n")) == (
            1 + bool(finding.nodes) + bool(finding.hint) + len(finding.origins[1:])
        )


@pytest.mark.parametrize("prefix", ["", "pool", "sites/a b, c"])
def test_it_points_at_what_is_wrong(prefix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = make(tmp_path, prefix)
    assert run(["-C", str(root), "check", "-o", "github"]) == 1
    out, err = capfd.readouterr()
    found = {}
    for line in out.splitlines():
        said = read(line).properties
        assert (tmp_path / said["file"]).is_file()
        inside = str((tmp_path / said["file"]).relative_to(root))
        place = follows(tmp_path, said["file"], int(said["line"]), int(said["col"]))
        found[said["title"][:5], inside] = place
    assert found.keys() >= WRITTEN.keys()
    assert not {at: found[at] for at, text in WRITTEN.items() if not found[at].startswith(text)}
    assert "errors, " in err


@pytest.mark.parametrize("prefix", ["", "sites/a b, c"])
def test_gitlab_reads_the_same_places(prefix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = make(tmp_path, prefix)
    assert run(["-C", str(root), "check", "-o", "gitlab"]) == 1
    entries = msgspec.json.decode(capfd.readouterr().out)
    seen = {
        (entry["check_name"], str((tmp_path / entry["location"]["path"]).relative_to(root)))
        for entry in entries
        if any(
            text in follows(tmp_path, entry["location"]["path"], entry["location"]["lines"]["begin"], 1)
            for text in WRITTEN.values()
        )
    }
    assert seen >= WRITTEN.keys()


@QUICK
@given(findings=st.lists(FINDINGS, max_size=4))
def test_a_quality_report_has_what_gitlab_asks_for(findings: list[Finding]) -> None:
    entries: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(quality_record(findings, "")))
    assert len({entry["fingerprint"] for entry in entries}) == len(findings)
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not entry["location"]["path"].startswith(("/", "./"))
        assert entry["location"]["lines"]["begin"] >= 1
        assert entry["description"].isprintable()


def test_nothing_wrong_is_no_command_and_an_empty_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    for form, expected in (("github", ""), ("gitlab", "[]\n")):
        assert run(["-C", str(tmp_path), "check", "-o", form]) == 0
        assert capfd.readouterr().out == expected
