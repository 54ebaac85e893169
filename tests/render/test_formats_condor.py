"""HTCondor's own parser reads back what was meant, and what is refused it reads otherwise."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitcfg.render.formats import formats
from tests.render.test_formats_flat import SEPARATORS, check, params, written

pytestmark = pytest.mark.skipif(not find_spec("htcondor2"), reason="HTCondor's parser is not installed")

# Reads requests, lines of JSON: a configuration and names. A bad configuration ends the process that reads
# it, and a circle of macros hangs it: so each is read in a process of its own. Python's binding gives
# expanded values only; the library below it has the raw ones.
CHILD = r"""
import ctypes, json, os, re, signal, sys
import htcondor2

library = re.search(r"\S*/libcondor_utils\S*", open("/proc/self/maps").read())[0]
raw = ctypes.CDLL(library)["_Z16param_unexpandedPKc"]
raw.restype, raw.argtypes = ctypes.c_char_p, [ctypes.c_char_p]

def answer(file, names):
    os.environ["CONDOR_CONFIG"] = file
    htcondor2.reload_config()
    found = {name: raw(name.encode()) for name in names}
    print(json.dumps({name: (value or b"").decode() for name, value in found.items()}), flush=True)

for line in sys.stdin:
    child = os.fork()
    if not child:
        signal.alarm(10)
        try:
            answer(*json.loads(line))
        finally:
            os._exit(0 if not sys.exc_info()[0] else 1)
    if os.waitpid(child, 0)[1]:
        print("null", flush=True)
"""


class Reader:
    """HTCondor's parser in a process of its own."""

    def __init__(self, file: Path) -> None:
        self.file = file
        command = [sys.executable, "-c", CHILD]
        environment = {"CONDOR_CONFIG": "/dev/null"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
        )

    def read(self, text: str, names: Mapping[str, Any]) -> dict[str, str] | None:
        """The raw values, "" where there is none; None: the parser refuses the file."""
        self.file.write_text(text, encoding="utf-8", newline="")
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps([str(self.file), list(names)]), file=self.process.stdin, flush=True)
        found: dict[str, str] | None = json.loads(self.process.stdout.readline())
        return found


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("condor") / "condor_config")
    yield reader
    reader.process.communicate(timeout=60)


# None that HTCondor has a default for: of a boolean that equals the default it keeps the case of its own.
NAMES = st.one_of(
    st.sampled_from(["XA", "xa", "XB_1", "_x", "XA.XB", "XA.", "XA..XB", "XC", "INCLUDES", "if.x", "x-y"]),
    st.sampled_from(["use", "include", "if", "elif", "else", "endif", "error", "warning"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=params(NAMES), separator=SEPARATORS)
def test_values_are_read_back(reader: Reader, values: dict[str, Any], separator: str) -> None:
    text, left = written("condor", values, separator)
    found = reader.read(text, left)
    assert found is not None
    check(found, left, separator, ("FALSE", "TRUE"))


CARRIED = """
#x | x # y | @=end | @=end x | = x | : x | [x] | { | "x | it's | if true | include : x | a\\b | \\\\b
$ | $$ | $( | $(ZZ | $(ZZ) | $$(ZZ) | $$([ x ]) | $(DOLLAR) | $(ZZ:$(YY)) | $F(ZZ) | $INT(ZZ) | $ENV(HOME)
"""


def test_what_looks_odd_is_read_back(reader: Reader) -> None:
    texts = [text.strip() for line in CARRIED.strip().splitlines() for text in line.split(" | ")]
    texts += [
        "x\ty",
        "x\vy",
        "\u00a0x\u00a0",
        "x\u2028",
        "\x85",
        "é",
        "\ufeff",
        "\x01",
        "\x7f",
        "x" * 3_000_000,
    ]
    values = {f"X_{index}": text for index, text in enumerate(texts)}
    assert list(formats()["condor"].unfit(values, {})) == []
    assert reader.read(formats()["condor"].write(values, {}), values) == values


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, "x") for name in ("if", "ElIf", "ELSE", "endif", "X-Y", "X+Y", "é", "X Y", "#X", "X\\")),
        *(
            ("X", value)
            for value in (" x", "x ", "\tx", "x\v", "x\f", "x\ny", "x\nY = z", "x\r", "x\\", "x\\\\", "x\0y")
        ),
    ],
)
def test_what_is_refused_would_be_read_otherwise(reader: Reader, name: str, value: str) -> None:
    values = {"A_0": "before", name: value, "ZZ_1": "after"}
    assert [unfit.subjects for unfit in formats()["condor"].unfit(values, {})] == [(name,)]
    assert reader.read(formats()["condor"].write(values, {}), values) != values


def test_case_makes_no_name(reader: Reader) -> None:
    values = {"XA": "1", "Xa": "2"}
    assert [unfit.subjects for unfit in formats()["condor"].unfit(values, {})] == [("Xa",)]
    assert reader.read(formats()["condor"].write(values, {}), values) == {"XA": "2", "Xa": "2"}
