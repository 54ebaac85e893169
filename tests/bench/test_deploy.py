"""The benchmark of deploys: all that a tool uses is counted, and what is wrong is said."""

import sys
from pathlib import Path

import pytest

from bench.deploy.run import CHANGED, Row, Size, launched, measured
from bench.deploy.shown import tables
from bench.deploy.tools import FABRIC, FABRIC_PUT, GITCFG
from bench.measure import Record
from bench.report import Table, document, keep, keep_deploys, read, text
from tests.system.sshd import PROGRAM

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="there is no sshd")
def test_a_handful_of_hosts(tmp_path: Path) -> None:
    size = Size(counts=(3,), runs=1, only=("ssh", FABRIC))
    found = {(row.tool, row.state): row for row in measured(size, tmp_path, lambda said: None)}
    assert {key: row.note for key, row in found.items() if row.note} == {}
    assert {(row.right, len(row.cpu)) for row in found.values()} == {(3, 1)}
    assert {key[1] for key in found if key[0] == GITCFG} == {"first", CHANGED, "unchanged", "dry run"}
    made = tables(list(found.values()))
    assert [table.title for table in made] == ["Deploys: goals", "Deploys: 3 hosts"]


def test_what_is_left_behind_counts_and_is_ended(tmp_path: Path) -> None:
    left = tmp_path / "left"
    code = f"import os, time\nif not os.fork():\n  os.setsid()\n  {BURN.replace(chr(10), chr(10) + '  ')}"
    code += f"open({str(left)!r}, 'w').write(str(os.getpid()))\n  time.sleep(60)\n"
    code += f"while not os.path.exists({str(left)!r}): time.sleep(0.01)\n"
    used = launched([sys.executable, "-c", code], tmp_path, {}, 30)
    assert (used.exit, used.late) == (0, False)
    assert used.cpu > 0.25
    assert not Path("/proc", left.read_text()).exists()


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    used = launched(["/bin/sleep", "60"], tmp_path, {}, 0.1)
    assert (used.exit, used.late) == (-9, True)


def test_what_was_not_done_has_no_figures() -> None:
    rows = [
        Row("ssh", "", CHANGED, 10, note="exit 1, 9 of 10 right: no"),
        Row(FABRIC, "", CHANGED, 10, [0.2, 0.1, 0.3], [1.0], [40.0], 10),
        Row(FABRIC_PUT, "", CHANGED, 10, [0.25], [1.0], [40.0], 10),
        Row(GITCFG, "", CHANGED, 10, [0.3], [1.0], [60.0], 10),
    ]
    goals, shown = tables(rows)
    assert [row[1:3] for row in goals.rows] == [
        ("1.3 x fabric, put and run", "1.20"),
        ("- (fabric, one command)", "1.50"),
    ]
    assert goals.rows[0][3] == "reached"
    assert [row[0] for row in shown.rows] == [FABRIC, FABRIC_PUT, "ssh", GITCFG]
    assert shown.rows[2][4:] == ("-", "-", "-", "-", "0", "exit 1, 9 of 10 right: no")
    assert shown.rows[3][4:6] == ("30.0", "1.50")


def test_memory_that_grows_with_hosts_is_told() -> None:
    rows = [Row(GITCFG, "", CHANGED, count, [1.0], [1.0], [60.0 + count / 8], 1) for count in (50, 600)]
    assert [row[2:] for row in tables(rows)[0].rows] == [
        ("128 KiB a host more, from 50 to 600", "not reached")
    ]


def test_figures_are_kept_beside_the_others(tmp_path: Path) -> None:
    place, table = tmp_path / "results.json", Table("Deploys: 3 hosts", ("tool",), (("ssh",),))
    keep([Record(fleet="small", tool="gitcfg", work="check", cpu=(1.0,), wall=(1.0,), rss=(1.0,))], {}, place)
    keep_deploys([table], "commit 1", {}, place)
    kept = keep([], {"cores": "2"}, place)
    assert kept == read(place)
    assert (len(kept.records), kept.deploys, kept.deploys_version) == (1, (table,), "commit 1")
    assert "### Deploys: 3 hosts" in document(kept, "")
    assert "ssh" in text(table)
