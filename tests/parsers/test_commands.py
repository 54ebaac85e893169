"""What HTCondor's parser is never given: commands that reach beyond the text, however they are hidden."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitcfg.parsers.child import condor
from tests.parsers.oracle import Oracle, needs_htcondor


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    oracle = Oracle(tmp_path_factory.mktemp("condor"))
    yield oracle
    oracle.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("A = 1\ninclude : /etc/passwd\n", "`include` at line 2"),
        ("INCLUDE command : /bin/true |\n", "`include` at line 1"),
        ("include ifexist:x", "`include` at line 1"),
        ("  @use ROLE : Execute\n", "`use` at line 1"),
        ("if true\n:use ROLE : Execute\nendif\n", "`use` at line 2"),
        ("incl\\\nude : x\n", "`include` at line 2"),
        ("incl\\\n# no\\\nude : x\n", "`include` at line 3"),
        ("us\\\n\t e : x\n", "`use` at line 2"),
        ("# comment \\\ninclude : x\n", "`include` at line 2"),
        ("use\\\n ROLE:Execute", "`use` at line 2"),
        ("A @=end\ninclude : x\n@end\n", "`@=` at line 1"),
        ("A = 1\nB\\\n @=\\\nend\n", "`@=` at line 3"),
        ("inc\0\nlude : x\n", "NUL character at line 1"),
        ("A = 1\n\0", "NUL character at line 2"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    said = condor.refused(text)
    assert said is not None
    assert why in said.reason
    assert not said.grave
    assert said.params == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A = 1\n",
        "# include : x\n # use y : z\n",
        "INCLUDES = 1\nUSERS = 2\nuse_this : 3\n",
        "A = include : x\n",
        "A = x @=end\n",
        "use= 1\n",
        "error : no\nif defined A\nendif\n",
    ],
)
def test_what_is_not(text: str) -> None:
    assert condor.refused(text) is None


def test_settings() -> None:
    text = "# X = 1\nA = 1\nB : $(A) \\\n  more\na = 2\n[section]\nnonsense\nC =\n\tD=x=y\n"
    assert condor.settings(text) == {"a": "2", "B": "$(A) more", "C": "", "D": "x=y"}
    assert condor.settings("A = 1\nif x\nB = 2\nendif\n") == {}


PIECES = [
    "incl",
    "ude",
    "include",
    "us",
    "e",
    "use",
    " ",
    "\t",
    "\v",
    ":",
    "=",
    "@",
    "@=",
    "\\",
    "\\\n",
    "\n",
]
TEXTS = st.lists(
    st.sampled_from([*PIECES, "#", "# x\\\n", "\r\n", "A", "x:y", "command ", "NOPE:x", "if true\n", "\\ \n"])
).map("".join)
REACHED = ("Include Depth", "after include", "at use ", "Error: use")


@needs_htcondor
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(text=TEXTS)
@example(text="incl\\\n#ude\\\nude:missing\n")
@example(text="use\\\n NOPE:x")
@example(text="#opt:oldcomment\n# x\\\nincl\\\n  ude:missing\n")
def test_htcondor_never_finds_one_where_none_was_refused(oracle: Oracle, text: str) -> None:
    if condor.refused(text) is None:
        said = oracle.ask(text, [])[1]
        assert not any(words in said for words in REACHED), said


@needs_htcondor
@pytest.mark.parametrize("text", ["incl\\\nude : x\n", "if true\n:use NOPE:x\nendif\n", "@include x y : z\n"])
def test_htcondor_says_when_it_finds_one(oracle: Oracle, text: str) -> None:
    """Else the test above could not fail."""
    assert any(words in oracle.ask(text, [])[1] for words in REACHED)
