"""agent.toml: what it may say, and who may have written it."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.config import Server, Settings, load_settings, parse_settings, parse_toml
from gitcfg.agent.errors import SettingsError
from gitcfg.install.policy import AGENT
from tests.agent.server import Book

KEY = Book().key
LEAST = {"server": "https://config.example.com", "server_key": KEY}


def made(**said: Any) -> Settings:
    return parse_settings({**LEAST, **said}, "agent.toml", lambda: "n1.example.com")


def test_the_least() -> None:
    found = made()
    assert found.servers == (Server("config.example.com", 443, True),)
    assert (found.node, found.drift, found.interval) == ("n1.example.com", "report", 60.0)
    assert (found.policy.paths, found.policy.commands, found.policy.never) == ((), (), AGENT)


def test_all_of_it() -> None:
    found = made(
        server=["https://a:8443", "http://127.0.0.1:80", "https://[::1]:443"],
        node="n2",
        paths=["/etc/condor/**"],
        commands=[["/usr/sbin/condor_reconfig", "**"], ["**"]],
        drift="repair",
        interval="2m",
        wait="0s",
        timeout="500ms",
        reach="0s",
        delay="1h",
        advertise=[
            {"htcondor": "/etc/condor/config.d/x", "run": ["/bin/true"]},
            {"run": ["/bin/false", "x"]},
        ],
    )
    assert [str(one) for one in found.servers] == ["https://a:8443", "http://127.0.0.1", "https://[::1]"]
    assert (found.interval, found.wait, found.timeout, found.delay) == (120.0, 0.0, 0.5, 3600.0)
    assert [one.command for one in found.advertise] == [("/bin/true",), ("/bin/false", "x")]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"server": []}, "`server` is missing"),
        ({"server_key": []}, "`server_key` is missing"),
        ({"server_key": "ed25519:AAAA"}, "`server_key` is"),
        ({"server_key": KEY[8:]}, "`server_key` is"),
        ({"server": "http://config.example.com"}, "is not encrypted"),
        ({"server": "https://a/b"}, "https://HOST"),
        ({"server": "https://u@a"}, "https://HOST"),
        ({"server": "https://a:99999"}, "https://HOST"),
        ({"server": "ftp://a"}, "https://HOST"),
        ({"node": "../x"}, "not a node's name"),
        ({"node": 5}, "must be text"),
        ({"paths": ["etc/x"]}, "absolute path"),
        ({"paths": ["/etc/../x"]}, "absolute path"),
        ({"commands": [["condor_reconfig"]]}, "absolute path"),
        ({"commands": ["/bin/true"]}, "as a list of words"),
        ({"drift": "mend"}, "one of report, repair"),
        ({"interval": "0s"}, "from 1s to 7d"),
        ({"interval": 60}, "duration"),
        ({"advertise": [{"path": "/x"}]}, "must be one path"),
        ({"advertise": [{"run": ["true"]}]}, "absolute path"),
        ({"intervall": "60s"}, "Did you mean `interval`"),
        ({"zzz": 1}, "Known keys: advertise, ca, commands, delay"),
        ({"plain": "yes"}, "true or false"),
    ],
)
def test_what_is_wrong_is_named(said: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=r"agent\.toml") as raised:
        made(**said)
    assert message in str(raised.value)


def test_an_open_line_must_be_wanted() -> None:
    assert made(server="http://config.example.com", plain=True).servers[0].tls is False


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(["server", "node", "paths", "commands", "wait", "advertise", "x"]),
        st.recursive(
            st.none() | st.integers() | st.text() | st.booleans(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    )
)
def test_whatever_it_says_is_read_or_refused(said: dict[str, Any]) -> None:
    with suppress(SettingsError):
        assert made(**said).server_keys


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "etc/gitcfg"
    folder.mkdir(parents=True)
    made = folder / "agent.toml"
    made.write_text(f'server = "https://a"\nserver_key = "{KEY}"\n')
    made.chmod(0o600)
    return made


def test_it_is_read_below_the_root(file: Path, tmp_path: Path) -> None:
    found = load_settings(str(tmp_path))
    assert found.servers[0].host == "a"
    assert "/etc/gitcfg/agent.toml" in found.policy.never


def test_others_must_not_be_able_to_write_it(file: Path, tmp_path: Path) -> None:
    file.chmod(0o620)
    with pytest.raises(SettingsError, match="is writable by other users"):
        load_settings(str(tmp_path))
    file.chmod(0o600)
    file.parent.chmod(0o777)
    with pytest.raises(SettingsError, match="is writable by other users"):
        load_settings(str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_it_must_be_roots(file: Path, tmp_path: Path) -> None:
    os.chown(file, 12345, 0)
    with pytest.raises(SettingsError, match="instead of root"):
        load_settings(str(tmp_path))


def test_a_link_a_pipe_and_nothing_are_refused(file: Path, tmp_path: Path) -> None:
    file.rename(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(str(tmp_path))
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="Cannot read"):
        load_settings(str(tmp_path))
    file.unlink()
    os.mkfifo(file, 0o600)
    with pytest.raises(SettingsError, match="is not a file"):
        load_settings(str(tmp_path))


@pytest.mark.parametrize("raw", [b"a = ", b"\xff", b"a = 1\na = 2\n"])
def test_what_is_no_toml(raw: bytes) -> None:
    with pytest.raises(SettingsError, match="is not TOML"):
        parse_toml(raw, "agent.toml")
