"""The round trip: HTCondor reads the same values from the repository as from the files that were imported."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import settings as runs
from hypothesis import strategies as st

from gitcfg.convert.condor.host import ReadFile
from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.reader import find_names
from gitcfg.convert.condor.repository import import_condor, verify_hosts
from gitcfg.convert.condor.sources import Source
from gitcfg.convert.condor.syntax import parse_statements
from gitcfg.library import in_memory
from gitcfg.model import Severity
from tests.convert.condor_cases import AFTER, BEFORE, SETTINGS, alike, imported, rendered, said
from tests.parsers.oracle import needs_htcondor

pytestmark = needs_htcondor

NAMES = [
    "A",
    "DAEMON_LIST",
    "daemon_list",
    "START",
    "ALLOW_WRITE",
    "SCHEDD.A",
    "schedd.wn1.Start",
    "NUM_CPUS",
]
TEXTS = [
    "",
    "1",
    "TRUE",
    "true",
    "MASTER",
    "MASTER, STARTD",
    "MASTER STARTD",
    '"a b", c',
    "$(START) && (X > 3)",
    "/var/log $(A)",
    "$(OTHER:x, y)",
    "a \\\n   b \\\n# no \\\n c",
    "017",
    "1.50",
    "$$(Memory)",
]
TAILS = [" STARTD", ", SCHEDD", ",KBDD", " && FALSE", "/x"]
CONDITIONS = ["true", "false", "0", "version >= 9.0", "version < 8.0", "defined A", "! defined NOBODY_SAYS"]
USES = [
    "ROLE : Execute",
    "ROLE:Submit, CentralManager",
    "policy : Always_Run_Jobs",
    "FEATURE : PartitionableSlot(2, 50%)",
]
COMMENTS = ["# What it is.", "#A = 2 \\", "#### Jobs", "# - $(A), \\", "", "# DAEMON_LIST = MASTER"]
ANNOTATIONS = ["feature F", "feature G", "includes F", "depends F", "default", "feature", "nonsense"]

settings = st.builds(
    "{} {} {}\n".format, st.sampled_from(NAMES), st.sampled_from(["=", " = "]), st.sampled_from(TEXTS)
)


@st.composite
def selves(draw: st.DrawFn) -> str:
    """A setting of what it was and more."""
    name, tail = draw(st.sampled_from(NAMES)), draw(st.sampled_from(TAILS))
    own = draw(st.sampled_from([name, name.lower()]))
    if draw(st.booleans()) and draw(st.booleans()):
        return f"{own} += {tail.strip(' ,')}\n"
    return (
        f"{name} = $({own}){tail}\n" if draw(st.integers(0, 3)) else f"{name} = {tail.strip(' ,')} $({own})\n"
    )


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """An `if` with settings."""
    condition = draw(st.sampled_from(CONDITIONS))
    other = f"else\n{draw(settings)}" if draw(st.booleans()) else ""
    return f"if {condition}\n  {draw(st.one_of(settings, selves()))}{other}endif\n"


lines = st.one_of(
    settings,
    settings,
    selves(),
    selves(),
    blocks(),
    st.sampled_from(USES).map("use {}\n".format),
    st.sampled_from(ANNOTATIONS).map("# gitcfg: {}\n".format),
    st.sampled_from(COMMENTS).map("{}\n".format),
    st.sampled_from(NAMES).map("{} @=end\n one\n two\n@end\n".format),
)
configs = st.lists(lines, max_size=8).map("".join)


@pytest.fixture(scope="module")
def condor() -> Iterator[HTCondor]:
    with HTCondor() as installed:
        yield installed.begin()


@runs(max_examples=20)
@given(st.data())
def test_every_host_reads_the_same(condor: HTCondor, data: st.DataObject) -> None:
    common = data.draw(configs)
    hosts = {name: common + data.draw(configs) for name in ("a", "b", "c")[: data.draw(st.integers(1, 3))]}
    found = imported(condor, **hosts)
    for name, text in hosts.items():
        files = rendered(found, name)
        assert alike(condor.read([text]), condor.read([files[path] for path in sorted(files)]))
    assert found.alike == len(hosts), found.notes


@runs(max_examples=20)
@given(st.data())
def test_what_is_imported_has_no_errors(condor: HTCondor, data: st.DataObject) -> None:
    hosts = {name: data.draw(configs) for name in ("a", "b")}
    with in_memory(imported(condor, **hosts).files) as fleet:
        errors = [finding for finding in fleet.findings if finding.severity is Severity.ERROR]
    assert [error for error in errors if error.code not in ("GC301", "GC307")] == []


@runs(max_examples=20)
@given(st.data())
def test_an_import_is_deterministic(condor: HTCondor, data: st.DataObject) -> None:
    hosts = {name: (Source("x", data.draw(configs)),) for name in ("a", "b")}
    turned = dict(reversed(hosts.items()))
    assert import_condor(hosts, condor) == import_condor(turned, condor)


def test_the_proof_can_fail(condor: HTCondor) -> None:
    text = "A = 1\nB = x\n"
    found = imported(condor, one=text)
    wrong = {path: content.replace("A: 1", "A: 2") for path, content in found.files.items()}
    assert wrong != found.files
    notes: list = []  # type: ignore[type-arg]
    assert verify_hosts(wrong, {"one": (ReadFile(Source("x", text), {}),)}, condor, notes) == 0
    assert [note.field for note in notes] == ["A"]


def test_all_of_htcondors_own_defaults(condor: HTCondor) -> None:
    """What HTCondor has by itself, given as a file."""
    text = "".join(
        f"{one.name} = {one.value}\n"
        for one in condor.defaults.values()
        if one.value is not None and "\n" not in one.value
    )
    found = imported(condor, one=text)
    assert found.alike == 1, found.notes
    assert rendered(found, "one")[SETTINGS].count("\n") > 900


KNOBS = [
    *("ROLE:CentralManager", "ROLE:Personal", "FEATURE:GPUs", "FEATURE:PartitionableSlot"),
    *("FEATURE:StaticSlots", "FEATURE:Monitor", "FEATURE:StartdCronPeriodic", "FEATURE:HPC_Annex"),
    *("FEATURE:SetJobAttrFromUserMap", "FEATURE:AssignAccountingGroup", "POLICY:Desktop"),
    *("POLICY:Want_Hold_If", "POLICY:Hold_If_Memory_Exceeded"),
    *("SECURITY:Recommended", "SECURITY:User_Based", "SECURITY:Host_Based"),
]  # fmt: skip
ARGUMENTS = ["", "A", "3", "a, b", "A,1,2,/x/y,e f", 'x, "y, z", f(1, 2), $(A), w', "A, 10, $(B:1), p, q, r"]


@pytest.mark.parametrize("knob", KNOBS)
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_all_that_a_knob_sets_is_known(condor: HTCondor, knob: str, arguments: str) -> None:
    """HTCondor sets no name that is not among those that are taken for touched."""
    line = f"use {knob}({arguments})\n" if arguments else f"use {knob}\n"
    read = condor.read([line])
    touched = find_names(parse_statements(Source("x", line)), condor.knob)
    assert isinstance(read, str) or touched is None or set(read) <= touched
    if not arguments and not isinstance(read, str):
        assert touched is not None


def test_settings_beside_knobs_stay_settings(condor: HTCondor) -> None:
    text = "A = 1\nuse ROLE : Execute\nuse FEATURE : GPUs\nSTARTD_JOB_ATTRS = $(STARTD_JOB_ATTRS) B\n"
    found = imported(condor, one=f"{text}DAEMON_LIST = $(DAEMON_LIST) KBDD\n")
    files = rendered(found, "one")
    assert files[BEFORE] == "use ROLE : Execute\nuse FEATURE : GPUs\n"
    assert files[SETTINGS].count("\n") == 3
    assert AFTER not in files
    assert found.alike == 1, found.notes


def test_a_knob_that_changes_settings_is_written_out(condor: HTCondor) -> None:
    found = imported(condor, one="DAEMON_LIST = MASTER\nuse ROLE : Execute\nuse FEATURE : GPUs\n")
    assert rendered(found, "one") == {
        BEFORE: "use FEATURE : GPUs\n",
        SETTINGS: "DAEMON_LIST = MASTER STARTD\n",
    }
    assert said(found) == ["changed line site.config:2", "changed line site.config:3"]
    assert found.alike == 1, found.notes
