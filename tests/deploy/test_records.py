"""The file of a deploy: whatever is left of it can be read, and says nothing that did not happen."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.deploy import records
from gitcfg.deploy.records import (
    MOST_OUTPUT,
    Ended,
    NodeDone,
    Recorder,
    Run,
    encode_line,
    find_unfinished,
    parse_run,
    run_id,
)
from gitcfg.model import GitcfgError

COMMIT = "a" * 40
NODES = ("n1", "n2", "n3", "n4")
TEXTS = st.text(max_size=30)
DONE = st.builds(
    NodeDone,
    st.sampled_from(NODES),
    st.sampled_from(("ok", "unchanged", "failed", "unreachable", "skipped")),
    TEXTS,
    TEXTS,
    st.floats(0, 1e6),
    st.integers(0, 1000),
    st.sampled_from((None, COMMIT)),
    at=st.floats(1, 2e9),
)


def run(nodes: tuple[str, ...] = NODES, ident: str = "1234567abc") -> Run:
    return Run(ident, COMMIT, "alice", "", 5.0, nodes)


def recorder(folder: Path) -> Recorder:
    return Recorder(folder, lambda: 7.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = records.runs_folder(tmp_path)
    assert found == tmp_path / "gitcfg-deploys"
    return found


@given(st.lists(DONE, max_size=8), st.booleans(), st.integers(0, 10**6))
def test_any_prefix_tells_the_nodes_whose_lines_are_whole(done: list[NodeDone], end: bool, cut: int) -> None:
    lines = [encode_line(run()), *map(encode_line, done), *([encode_line(Ended("done", 9.0))] if end else [])]
    whole = b"".join(lines)
    data = whole[: cut % (len(whole) + 1)]
    kept = parse_run(data)
    if len(data) < len(lines[0]):
        assert kept is None
        return
    assert kept is not None
    count = data.count(b"\n") - 1
    assert kept.run == run()
    assert kept.done == {one.node: one for one in done[:count]}
    assert (kept.end is not None) == (len(data) == len(whole) and end)
    assert not kept.broken
    well = {one.node for one in kept.done.values() if one.outcome in ("ok", "unchanged")}
    assert find_unfinished(kept) == tuple(name for name in NODES if name not in well)


@given(st.lists(DONE, max_size=4), st.binary(max_size=60), st.integers(0, 3))
def test_whatever_stands_between_lines_is_counted_and_passed_over(
    done: list[NodeDone], rubbish: bytes, at: int
) -> None:
    lines = [*map(encode_line, done)]
    rubbish = rubbish.replace(b"\n", b" ")
    lines.insert(min(at, len(lines)), rubbish + b"\n")
    kept = parse_run(b"".join([encode_line(run()), *lines]))
    assert kept is not None
    assert kept.done == {one.node: one for one in done}
    assert kept.broken == bool(rubbish)


@given(st.binary(max_size=200))
def test_a_foreign_file_is_told(data: bytes) -> None:
    first = data.partition(b"\n")
    if not first[1]:
        assert parse_run(data) is None
        return
    with pytest.raises(ValueError, match="does not begin"):
        parse_run(data)


@pytest.mark.parametrize(
    ("output", "before", "kept"),
    [
        ("x" * MOST_OUTPUT, None, "x" * MOST_OUTPUT),
        ("first\n" + "y" * MOST_OUTPUT, 6, "y" * MOST_OUTPUT),
        ("first\nsecond\n" + "y\n" * (MOST_OUTPUT // 2 - 1), 13, "y\n" * (MOST_OUTPUT // 2 - 1)),
        ("first\nsecond\n" * MOST_OUTPUT, 12 * MOST_OUTPUT + 7, None),
        ("x" * MOST_OUTPUT + "\nshort\n", 7, "x" * (MOST_OUTPUT - 7) + "\nshort\n"),
    ],
)
def test_the_end_of_an_output_begins_where_a_line_does(
    output: str, before: int | None, kept: str | None
) -> None:
    """Unless the last line alone is too long; how much stood before it is told."""
    found = parse_run(encode_line(run()) + encode_line(NodeDone("n1", "failed", output=output)))
    assert found is not None
    said = found.done["n1"].output
    head, _, rest = said.partition("\n")
    if before is None:
        assert said == kept
    elif kept is not None:
        assert (head, rest) == (f"... {before} characters before", kept)
    else:
        number = int(head.split()[1])
        assert head == f"... {number} characters before"
        assert output[number - 1] == "\n"
        assert rest == output[number:]
        assert MOST_OUTPUT - 7 <= len(rest) <= MOST_OUTPUT


def test_a_file_of_another_version_is_none_of_ours() -> None:
    line = encode_line(run()).replace(b"deploy-run/1", b"deploy-run/2")
    with pytest.raises(ValueError, match="does not begin"):
        parse_run(line)


def test_a_run_is_kept_line_by_line(folder: Path) -> None:
    made = recorder(folder)
    made.begun(run())
    file = folder / "1234567abc.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    (kept,) = records.runs(folder)
    assert (kept.ended, dict(kept.done)) == ("running", {})
    made.node(NodeDone("n2", "failed", "check", "\udc80" + "x" * MOST_OUTPUT * 2, commit=COMMIT))
    (kept,) = records.runs(folder)
    assert kept.done["n2"].output == f"... {MOST_OUTPUT + 1} characters before\n" + "x" * MOST_OUTPUT
    assert kept.done["n2"].at == 7.0
    made.node(NodeDone("n1", "ok", output="\udc80", at=6.5))
    made.ended("limit")
    (kept,) = records.runs(folder)
    assert (kept.ended, kept.done["n1"].at, kept.done["n1"].output) == ("limit", 6.5, "?")
    assert find_unfinished(kept) == ("n2", "n3", "n4")
    assert made.fault == ""


def test_many_threads_write_whole_lines(folder: Path) -> None:
    names = tuple(f"n{number}" for number in range(400))
    made = recorder(folder)
    made.begun(run(names))

    def work(part: int) -> None:
        for name in names[part::8]:
            made.node(NodeDone(name, "ok", output=name * 100))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made.ended("done")
    (kept,) = records.runs(folder)
    assert kept.broken == 0
    assert set(kept.done) == set(names)


def test_a_run_is_not_written_into_another_ones_file(folder: Path) -> None:
    recorder(folder).begun(run())
    before = (folder / "1234567abc.jsonl").read_bytes()
    with pytest.raises(GitcfgError, match="Cannot record the deploy"):
        recorder(folder).begun(run(("other",)))
    assert (folder / "1234567abc.jsonl").read_bytes() == before


def test_what_cannot_be_written_is_told_and_written_later(folder: Path) -> None:
    made = recorder(folder)
    made.begun(run())
    file = folder / "1234567abc.jsonl"
    with _at_most(file.stat().st_size + 20):
        made.node(NodeDone("n1", "ok"))
        assert made.fault
        made.node(NodeDone("n2", "ok"))
        assert made.fault
    (kept,) = records.runs(folder)
    assert not kept.done
    made.node(NodeDone("n3", "ok"))
    made.ended("done")
    assert made.fault == ""
    (kept,) = records.runs(folder)
    assert (set(kept.done), kept.ended, kept.broken) == ({"n1", "n2", "n3"}, "done", 1)


def test_nothing_begins_where_nothing_can_be_kept(folder: Path) -> None:
    folder.mkdir(parents=True)
    with _at_most(10), pytest.raises(GitcfgError, match="Cannot record the deploy"):
        recorder(folder).begun(run())
    assert not list(folder.iterdir())
    folder.rmdir()
    folder.write_text("")
    with pytest.raises(GitcfgError, match="Cannot record the deploy"):
        recorder(folder).begun(run())


@contextlib.contextmanager
def _at_most(size: int) -> Iterator[None]:
    """Files cannot grow beyond a size, as on a full disk: a line is written in part, and then none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


PROGRAM = """
import sys, time
from pathlib import Path
from gitcfg.deploy.records import NodeDone, Recorder, Run
made = Recorder(Path(sys.argv[1]), lambda: 7.0)
made.begun(Run("1234567abc", "a" * 40, "alice", "", 5.0, ("n1", "n2")))
made.node(NodeDone("n1", "ok"))
print("ready", flush=True)
time.sleep(60)
"""


def test_a_killed_run_is_broken_off_and_can_be_resumed(folder: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (kept,) = records.runs(folder)
        assert kept.ended == "running"
        records.prune_runs(folder, 0)
        assert records.list_ids(folder) == ["1234567abc"]
        process.kill()
    (kept,) = records.runs(folder)
    assert (kept.ended, find_unfinished(kept)) == ("broken off", ("n2",))
    records.prune_runs(folder, 0)
    assert records.list_ids(folder) == []


def test_ids_sort_by_time_and_the_oldest_are_dropped(folder: Path) -> None:
    now = time.time()
    within = [run_id(now + number / 100) for number in range(100)]  # short ones end in the second they began
    assert within == sorted(within)
    made = [run_id(now + number) for number in range(110)]
    assert made == sorted(made)
    assert {len(one) for one in made} == {10}
    for one in made:
        kept = recorder(folder)
        kept.begun(run(ident=one))
        kept.ended("done")
    assert records.list_ids(folder) == made[:-101:-1]


def test_a_run_is_named_by_either_end_of_its_id(folder: Path) -> None:
    for ident in ("1234567abc", "1234568xyz"):
        made = recorder(folder)
        made.begun(run(ident=ident))
        made.ended("done")
    assert records.find_run(folder, "XYZ").run.id == "1234568xyz"
    assert records.find_run(folder, "1234567").run.id == "1234567abc"
    for text, said in (
        ("123", "matches 2 deploys"),
        ("9999", "There is no deploy"),
        ("yz", "There is no deploy"),
        ("", "There is no deploy"),
    ):
        with pytest.raises(GitcfgError, match=said):
            records.find_run(folder, text)


def test_damaged_and_foreign_files_are_told(folder: Path) -> None:
    made = recorder(folder)
    made.begun(run())
    made.ended("done")
    (folder / "1234568000.jsonl").write_bytes(b"\x00\xff\n")
    (folder / "1234568001.jsonl").write_bytes(encode_line(run()))
    (folder / "1234568002.jsonl").write_bytes(encode_line(run())[:20])
    (folder / "1234568003.jsonl").symlink_to("/etc/passwd")
    os.mkfifo(folder / "1234568004.jsonl")
    (folder / "1234568005.jsonl").mkdir()
    (folder / "notes.jsonl").write_text("mine")
    found = {one.id: one for one in records.read_runs(folder)}
    assert [one.id for one in found.values() if one.record] == ["1234567abc"]
    problems = {one.id for one in found.values() if one.problem}
    assert problems == {f"123456800{number}" for number in (0, 1, 3, 4, 5)}
    assert "never began" in _refusal(folder, "1234568002")
    assert "another deploy" in _refusal(folder, "1234568001")


def _refusal(folder: Path, text: str) -> str:
    with pytest.raises(GitcfgError) as caught:
        records.find_run(folder, text)
    return caught.value.message


def test_whom_a_run_was_told_stands_by_itself(folder: Path) -> None:
    made = recorder(folder)
    made.begun(run())
    made.close()
    with (folder / "1234567abc.jsonl").open("ab") as file:
        file.write(b'{"what":"no')
    records.note_reported(folder, "1234567abc", "https://server", 8.0)
    (kept,) = records.runs(folder)
    assert kept.reported is not None
    assert (kept.reported.place, kept.broken) == ("https://server", 1)


def test_who_was_not_told_yet_is_found(folder: Path) -> None:
    kept = {}
    for number, end in enumerate(("told", "", "told", "going", "damaged")):
        ident = f"123456{number}abc"
        made = recorder(folder)
        made.begun(run(ident=ident))
        # What a node says is not taken for more than that.
        made.node(NodeDone("n1", "ok", output='\n{"what":"told","place":"x"}\n'))
        if end != "going":
            made.ended("done")
        if end == "told":
            records.note_reported(folder, ident, "https://server", 8.0)
        if end == "damaged":
            (folder / f"{ident}.jsonl").write_text("")
        kept[ident] = made
    assert [one.run.id for one in records.find_unreported(folder)] == ["1234561abc"]
