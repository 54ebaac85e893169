"""Which files of a host are read, and in which order: HTCondor itself, with real files, is the oracle."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as runs
from hypothesis import strategies as st

from gitcfg.cli.main import run
from gitcfg.convert.base import Note
from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.repository import CondorImport, import_condor
from gitcfg.convert.condor.sources import find_hosts, read_hosts
from gitcfg.model import GitcfgError
from tests.convert.condor_cases import AFTER, rendered, settings
from tests.parsers.oracle import needs_htcondor

NONE = HTCondor()  # nothing was asked: as if HTCondor were not installed
Files = dict[str, str]

# Each file adds its name to READ: what is read, and in which order, is its value.
CONFIG = "LOCAL_CONFIG_DIR = /etc/condor/config.d\n"
BOTH = "LOCAL_CONFIG_DIR = /usr/share/condor/config.d, /etc/condor/config.d\n"
FILE = "LOCAL_CONFIG_FILE = /etc/condor/condor_config.local\n"

LAYOUTS: list[tuple[str, Files, str, list[str]]] = [
    ("a file", {"": ""}, "main", []),
    ("a file with an ending", {".conf": ""}, "main", []),
    ("a main file", {"/condor_config": ""}, "condor_config", []),
    ("a main file alone, that names more", {"/condor_config": BOTH}, "condor_config", ["dropped", "dropped"]),
    (
        "config.d beside it",
        {"/condor_config": CONFIG, "/config.d/20-b": "", "/config.d/10-a": ""},
        "condor_config 10-a 20-b",
        [],
    ),
    (
        "the folders of the machine",
        {
            "/etc/condor/condor_config": BOTH,
            "/etc/condor/config.d/1": "",
            "/usr/share/condor/config.d/2": "",
        },
        "condor_config 2 1",
        [],
    ),
    (
        "one of two folders of that name",
        {"/condor_config": BOTH, "/config.d/1": ""},
        "condor_config 1",
        ["dropped"],
    ),
    (
        "a local file",
        {"/condor_config": FILE + CONFIG, "/condor_config.local": "", "/config.d/1": ""},
        "condor_config 1 condor_config.local",
        ["look"],
    ),
    (
        "local files from elsewhere",
        {"/condor_config": "LOCAL_CONFIG_FILE = /home/x, $(LOCAL_DIR)/$(HOSTNAME).local\n", "/h.local": ""},
        "condor_config h.local",
        ["dropped", "look", "look"],
    ),
    (
        "no main file",
        {"/config.d/1": "", "/condor_config.local": ""},
        "1 condor_config.local",
        ["look", "look"],
    ),
    ("no main file, deeper", {"/etc/condor/config.d/1": ""}, "1", ["look"]),
    ("files alone", {"/20-b.config": "", "/10-a.config": ""}, "10-a.config 20-b.config", []),
    (
        "hidden files and copies",
        {
            "/config.d/10-a": "",
            "/config.d/10-a~": "",
            "/config.d/.a": "",
            "/config.d/b.rpmsave": "",
            "/config.d/c.bak": "",
        },
        "10-a c.bak",
        ["dropped"] * 3 + ["look"],
    ),
    (
        "an exclusion of its own",
        {
            "/condor_config": CONFIG + "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP = ^x|y$\n",
            "/config.d/xa": "",
            "/config.d/b~": "",
            "/config.d/by": "",
        },
        "condor_config b~",
        ["dropped"] * 2,
    ),
    (
        "what nothing names",
        {"/condor_config": CONFIG, "/config.d/1": "", "/config.d/old/2": "", "/second.d/3": ""},
        "condor_config 1",
        ["dropped"] * 2,
    ),
    (
        "a main file that names no folder",
        {"/condor_config": "", "/config.d/1": ""},
        "condor_config",
        ["dropped"],
    ),
    (
        "include",
        {
            "/condor_config": "include : /etc/condor/more\n",
            "/more": "include ifexist: $(CONFIG_ROOT)/deep\n",
            "/deep": "",
        },
        "deep more condor_config",
        [],
    ),
    ("include of what is not there", {"/condor_config": "include : /x\n"}, "condor_config", ["dropped"]),
    ("include of a program", {"/condor_config": "include : /x |\n"}, "condor_config", ["dropped"]),
    ("a program", {"/condor_config": "LOCAL_CONFIG_FILE = /x y|\n"}, "condor_config", ["dropped"]),
    (
        "include in a condition",
        {
            "/condor_config": "if false\ninclude : /etc/condor/a\nelse\ninclude : /etc/condor/b\nendif\n",
            "/a": "",
            "/b": "",
        },
        "b condor_config",
        ["dropped"],
    ),
]


def saved(place: Path, files: Files) -> Path:
    """A folder with a host h."""
    for path, text in files.items():
        file = place / f"h{path}"
        file.parent.mkdir(parents=True, exist_ok=True)
        name = "main" if file.parent == place else file.name
        file.write_bytes(f"{text}READ = $(READ) {name}\n".encode(errors="surrogateescape"))
    return place


def imported(place: Path, condor: HTCondor = NONE) -> CondorImport:
    notes: list[Note] = []
    return import_condor(read_hosts([], find_hosts(place, notes)), condor, notes)


def read(found: CondorImport, name: str = "h") -> str:
    """The files that were read, in order."""
    return " ".join(settings(found, name)["READ"].replace("$(READ)", "").split())


def weights(found: CondorImport) -> list[str]:
    return [str(note.weight) for note in found.notes if note.kind != "host" or note.name]


@pytest.mark.parametrize(
    ("files", "wanted", "notes"), [case[1:] for case in LAYOUTS], ids=[case[0] for case in LAYOUTS]
)
def test_a_layout(files: Files, wanted: str, notes: list[str], tmp_path: Path) -> None:
    found = imported(saved(tmp_path, files))
    assert read(found) == wanted
    assert weights(found) == notes
    assert found.read == len(wanted.split())


def test_include_in_what_stays_text(tmp_path: Path) -> None:
    text = "if version > 9.0\n  include : /etc/condor/more\nendif\n"
    found = imported(saved(tmp_path, {"/condor_config": text, "/more": "A = 1\n"}))
    assert rendered(found, "h")[AFTER.replace("60", "40")] == (
        "if version > 9.0\nA = 1\nREAD = $(READ) more\nendif\n"
    )
    assert read(found) == "condor_config"


def test_a_file_that_all_read_first_names_what_each_has(tmp_path: Path) -> None:
    first = tmp_path / "condor_config"
    first.write_text(f"{FILE}{CONFIG}READ = first\n")
    saved(tmp_path / "saved", {"/config.d/1": "", "/condor_config.local": "", "/2": ""})
    notes: list[Note] = []
    found = import_condor(read_hosts([first], find_hosts(tmp_path / "saved", notes)), NONE, notes)
    assert read(found) == "first 1 condor_config.local"
    assert weights(found) == ["dropped", "look", "look"]


def test_files_and_folders_one_by_one(tmp_path: Path) -> None:
    saved(tmp_path, {"/condor_config": CONFIG, "/config.d/1": "", "/config.d/.x": ""})
    found = import_condor(
        read_hosts([tmp_path / "h/condor_config", tmp_path / "h/config.d"], {"h": []}), NONE
    )
    assert read(found) == "condor_config 1"
    assert weights(found) == ["dropped"]


def including(*names: object) -> str:
    return "".join(f"include : /etc/condor/{name}\n" for name in names)


DOUBLING = {f"/{number}": including(*range(number)) * 4 for number in range(9)}
REFUSED: list[tuple[str, Files, str]] = [
    ("an empty folder", {"/spool/none/.keep": ""}, "Found no configuration file of h."),
    ("copies only", {"/config.d/a~": ""}, "Found no configuration file of h."),
    ("two of one host", {"/condor_config": "", ".conf": ""}, "h and PLACE/h.conf both belong to the host h."),
    ("an include of itself", {"/condor_config": including("condor_config")}, "This is nested too deeply"),
    ("includes that double", {"/condor_config": including(8), **DOUBLING}, "more than 10000 files to read"),
    (
        "no expression",
        {"/condor_config": "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP = (\n"},
        "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP: (",
    ),
    ("no text", {"/config.d/1": "\udcff"}, "h/config.d/1:1: It is not UTF-8"),
]


@pytest.mark.parametrize(
    ("files", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_is_refused(files: Files, message: str, tmp_path: Path) -> None:
    with pytest.raises(GitcfgError) as raised:
        imported(saved(tmp_path, files))
    assert message.replace("PLACE", str(tmp_path)) in raised.value.message


def test_a_link_out_of_a_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("A = 1\n")
    saved(tmp_path / "saved", {"/condor_config": "include : /etc/condor/x\nLOCAL_CONFIG_FILE = /../secret\n"})
    (tmp_path / "saved/h/x").symlink_to(tmp_path / "secret")
    assert set(settings(imported(tmp_path / "saved"), "h")) == {"LOCAL_CONFIG_FILE", "READ"}
    (tmp_path / "saved/h/config.d").mkdir()
    (tmp_path / "saved/h/config.d/1").symlink_to(tmp_path / "secret")
    (tmp_path / "saved/h/condor_config").unlink()
    with pytest.raises(GitcfgError, match="outside of the folder"):
        imported(tmp_path / "saved")


def test_hosts_are_folders_or_files(tmp_path: Path) -> None:
    (tmp_path / "exec01").mkdir()
    for name in ("exec02.config", "exec03~", ".git"):
        (tmp_path / name).write_text("A = 1\n")
    notes: list[Note] = []
    assert sorted(find_hosts(tmp_path, notes)) == ["exec01", "exec02"]
    assert [note.name for note in notes] == [str(tmp_path / ".git"), str(tmp_path / "exec03~")]
    with pytest.raises(GitcfgError, match="not a host name"):
        read_hosts([], {"a b": []})


def test_no_proof_without_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path / "saved", {"/config.d/10-a": ""})
    (tmp_path / "saved/exec02").mkdir()
    assert run(["import", "condor", "--hosts", str(tmp_path / "saved"), str(tmp_path / "pool")]) == 2
    told = capfd.readouterr().err
    assert told.startswith("error: Found no configuration file of exec02 (1 of 2 hosts).\nhint: Save ")
    assert "reads the same" not in told
    assert not (tmp_path / "pool").exists()


# HTCondor itself, asked what READ is after it read a whole configuration from its main file.
ORACLE = r"""
import json, os, sys
import htcondor2
for line in sys.stdin:
    os.environ["CONDOR_CONFIG"] = json.loads(line)
    htcondor2.reload_config()
    print(json.dumps(htcondor2.param.get("READ")), flush=True)
"""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    place = tmp_path_factory.mktemp("oracle")
    process = subprocess.Popen(
        [sys.executable, "-c", ORACLE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"CONDOR_CONFIG": "/dev/null", "HOME": str(place)},
        cwd=place,
        encoding="utf-8",
    )

    def ask(main: Path) -> str:
        assert process.stdin
        assert process.stdout
        print(json.dumps(str(main)), file=process.stdin, flush=True)
        return str(json.loads(process.stdout.readline()) or "")

    yield ask
    process.communicate(timeout=60)


NAMES = ["1", "2", "10-a", "B", "a.config", "a~", ".a", "#a", "a.py", "a.bak", "a.rpmnew", "a.dpkg-new", "ä"]
PATHS = st.lists(st.sampled_from(["config.d", "second.d", "none.d"]), min_size=1, max_size=2, unique=True)
LOCALS = st.lists(st.sampled_from(["condor_config.local", "b.local", "none.d/1"]), max_size=3, unique=True)
SEPARATED = st.sampled_from([",", ", ", " "])


@st.composite
def machines(draw: st.DrawFn) -> Files:
    """Files below a root, `@` in their text; each may include others, and name other folders and files."""

    def text(name: str) -> str:
        lines = [f"READ = $(READ) {name}\n"]
        if draw(st.integers(0, 3)) == 0 or name == "condor_config":
            paths = draw(SEPARATED).join(f"@/{path}" for path in draw(PATHS))
            lines.append(f"LOCAL_CONFIG_DIR = {paths}\n")
        if draw(st.integers(0, 3)) == 0:
            paths = draw(SEPARATED).join(f"@/{path}" for path in draw(LOCALS))
            lines.append(f"LOCAL_CONFIG_FILE = {paths}\n")
        if draw(st.integers(0, 3)) == 0 and name != "extra":
            lines.append(
                draw(st.sampled_from(["include : @/extra\n", "include ifexist : $(CONFIG_ROOT)/none\n"]))
            )
        return "".join(draw(st.permutations(lines)))

    names = st.lists(st.sampled_from(NAMES), max_size=5, unique=True)
    files = {"condor_config": "REQUIRE_LOCAL_CONFIG_FILE = false\n" + text("condor_config")}
    for name in ("condor_config.local", "b.local", "extra"):
        files[name] = text(name)
    for folder in ("config.d", "second.d"):
        files[f"{folder}/.keep"] = ""
        files.update({f"{folder}/{name}": text(f"{folder}/{name}") for name in draw(names)})
    return files


@needs_htcondor
@runs(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(machines(), st.sampled_from(["etc/condor", "."]))
def test_htcondor_reads_the_same_files_in_the_same_order(
    oracle: Callable[[Path], str], tmp_path: Path, files: Files, below: str
) -> None:
    """Real files at their own paths, and the same ones saved from /etc/condor of another machine."""
    real, other = tmp_path / "real", tmp_path / "saved/h"
    for place, root in ((real, str(real)), (other / below, "/etc/condor")):
        shutil.rmtree(place, ignore_errors=True)
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text.replace("@", root))
    wanted = oracle(real / "condor_config").split()
    assert read(import_condor(read_hosts([real], {"h": []}), NONE)).split() == wanted
    assert read(imported(tmp_path / "saved")).split() == wanted
