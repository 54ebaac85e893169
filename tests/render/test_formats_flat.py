"""Environment and INI files are read back as what was meant, by readers that are not ours."""

import shutil
import subprocess
from collections.abc import Mapping
from configparser import RawConfigParser
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitcfg.compile.values import split_list
from gitcfg.render.formats import formats

TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from([*"ab ,\t\\\"'`$#;=:[](){}%~!&|<>*?@é", "$(ZZ)", "${ZZ}", "@=", "\u2028", "\x85"])
    ).map("".join),
)
SCALARS = st.one_of(TEXTS, st.integers(), st.floats(), st.booleans())
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=4))
SEPARATORS = st.sampled_from(["comma", "blank-or-comma"])


def params(names: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(names, VALUES, max_size=5)


def written(format: str, values: Mapping[str, Any], separator: str) -> tuple[str, dict[str, Any]]:
    """What is written of the values that the format does not refuse, and those."""
    separators = dict.fromkeys(values, separator)
    refused = {name for unfit in formats()[format].unfit(values, separators) for name in unfit.subjects}
    left = {name: value for name, value in values.items() if name not in refused}
    assert list(formats()[format].unfit(left, separators)) == []
    text = formats()[format].write(left, separators)
    assert text == formats()[format].write(dict(reversed(left.items())), separators)
    return text, left


def check(read: Mapping[str, str], left: Mapping[str, Any], separator: str, words: tuple[str, str]) -> None:
    """Is what was read what was meant? `words` are false and true."""
    assert read.keys() == left.keys()
    for name, value in left.items():
        found: Any = split_list(read[name], separator) if isinstance(value, list) else read[name]
        expected = [_text(item, words) for item in value] if isinstance(value, list) else _text(value, words)
        assert found == expected, (name, read[name])


def _text(value: Any, words: tuple[str, str]) -> str:
    return words[value] if isinstance(value, bool) else str(value)


def of_ini(text: str) -> dict[str, str]:
    parser = RawConfigParser(strict=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_file(TextIOWrapper(BytesIO(b"[first section]\n" + text.encode()), encoding="utf-8"))
    places = [(section, key) for section in parser.sections() for key in parser.options(section)]
    return {_dotted(section, key): parser.get(section, key) for section, key in places}


def _dotted(section: str, key: str) -> str:
    return key if section == "first section" else f"{section}.{key}"


def of_shell(shell: str, file: Path, names: Mapping[str, Any]) -> dict[str, str]:
    """What a shell has in its environment after reading the file."""
    command = [shell, "-c", 'set -a; . "$1"; exec "$2" -0', shell, str(file), str(shutil.which("env"))]
    done = subprocess.run(command, env={}, capture_output=True, check=True, timeout=60)
    assert done.stderr == b""
    pairs = (row.partition("=") for row in done.stdout.decode().split("\0"))
    return {name: value for name, _, value in pairs if name in names}


def of_systemd(text: str) -> dict[str, str]:
    """By systemd.exec's rules: in double quotes a backslash escapes these four, elsewhere anything."""
    result: dict[str, str] = {}
    rest = text
    while rest:
        assert rest[0] not in "#;"
        name, _, rest = rest.partition("=")
        result[name], rest = _quoted(rest[1:]) if rest.startswith('"') else _plain(rest)
    return result


def _quoted(rest: str) -> tuple[str, str]:
    value = ""
    while rest[0] != '"':
        escaped = rest[0] == "\\" and rest[1] in '"\\$`'
        value += rest[escaped]
        rest = rest[1 + escaped :]
    assert rest[1] == "\n"
    return value, rest[2:]


def _plain(rest: str) -> tuple[str, str]:
    value, _, rest = rest.partition("\n")
    assert not set(value) & set("\\\"' \t\r")
    return value, rest


INI_NAMES = st.lists(
    st.sampled_from(["a", "b-c", "_1", "A", "DEFAULT", "", "-", "9"]), min_size=1, max_size=3
).map(".".join)


@given(params(INI_NAMES), SEPARATORS)
def test_ini(values: dict[str, Any], separator: str) -> None:
    text, left = written("ini", values, separator)
    check(of_ini(text), left, separator, ("false", "true"))


ENV_NAMES = st.sampled_from(
    ["a", "A", "B_1", "_b", "PATH", "HOME", "IFS", "PS1", "a.b", "a-b", "1", "UID", "OPTIND"]
)


@given(params(ENV_NAMES), SEPARATORS)
def test_env_in_systemd(values: dict[str, Any], separator: str) -> None:
    text, left = written("env", values, separator)
    check(of_systemd(text), left, separator, ("false", "true"))


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(values=params(ENV_NAMES), separator=SEPARATORS)
def test_env_in_a_shell(tmp_path: Path, shell: str, values: dict[str, Any], separator: str) -> None:
    program = shutil.which(shell) or pytest.skip(f"there is no {shell}")
    text, left = written("env", values, separator)
    file = tmp_path / "env"
    file.write_text(text, newline="")
    check(of_shell(program, file, left), left, separator, ("false", "true"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("a", " b"), ("a", "b\t"), ("a", "b\nc = d"), ("a", "b\rc = d"), ("DEFAULT.a", "b"), (".a", "b")],
)
def test_what_ini_refuses_would_be_read_otherwise(name: str, value: str) -> None:
    assert list(formats()["ini"].unfit({name: value}, {}))
    assert of_ini(formats()["ini"].write({name: value}, {})) != {name: value}
