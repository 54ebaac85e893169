"""What is told when something is wrong: a sentence that says what, and a hint that says what to do."""

import json
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.agent.client import ServerClock, check_accepted, find_hints
from gitcfg.agent.config import EXAMPLE, load_settings
from gitcfg.agent.errors import Declined, SettingsError
from gitcfg.agent.keys import Answer, Identity, load_identity
from gitcfg.agent.main import main
from gitcfg.agent.memory import times
from gitcfg.install.disk import Disk
from gitcfg.install.outcome import Refused
from gitcfg.install.store import Place, open_store
from tests.agent.site import PROGRAM

NOBODY = 65534


@pytest.fixture
def who(tmp_path: Path) -> Identity:
    return load_identity(Place(str(tmp_path)), "n1")


def declined(who: Identity, status: int, kind: str, **said: str) -> Declined:
    body = json.dumps({"type": f"urn:gitcfg:problem:{kind}", "status": status, **said}).encode()
    with pytest.raises(Declined) as raised:
        check_accepted(Answer(status, {}, body), who, 0.0)
    return raised.value


def test_a_key_that_is_not_accepted_yet(who: Identity) -> None:
    found = declined(
        who, 403, "pending", detail="Run `gitcfg node accept` to accept its key.", fingerprint="x"
    )
    assert found.message == "This node's key is not accepted yet."
    assert found.hints == (
        f"Run `gitcfg node accept n1` in a clone of the repository to accept {who.fingerprint}.",
    )


def test_a_node_that_git_has_a_key_of_and_no_more(who: Identity) -> None:
    found = declined(who, 403, "pending", detail="git has a key for this node, but does not describe it.")
    assert (found.message, found.hints) == ("git has a key for this node, but does not describe it.", ())


def test_another_key(who: Identity) -> None:
    found = declined(who, 401, "unauthorized", title="The request has no valid token or signature.")
    assert "it knows another key of the node, or the request was changed" in found.message
    assert "`gitcfg node accept n1 --replace`" in found.hints[0]
    assert who.fingerprint in found.hints[0]
    assert found.code == 4


def test_a_server_that_is_not_ready(who: Identity) -> None:
    found = declined(who, 503, "unavailable", detail="No commit has been accepted yet.")
    assert found.message == "The server is not ready: No commit has been accepted yet."
    assert found.code == 5


def test_what_else_a_server_declines(who: Identity) -> None:
    found = declined(who, 410, "gone", title="git no longer knows the node.")
    assert (found.message, found.code) == (
        "The server rejected the request: git no longer knows the node.",
        4,
    )


def test_there_is_no_agent_toml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "etc/gitcfg"
    folder.mkdir(parents=True)
    assert main(["key", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"error: {folder}/agent.toml does not exist.\n" in said
    assert f"hint: Start with the example in {EXAMPLE}.\n" in said


def test_the_example_is_an_agent_toml(tmp_path: Path) -> None:
    folder = tmp_path / "etc/gitcfg"
    folder.mkdir(parents=True)
    text = Path(EXAMPLE).read_text()
    (folder / "agent.toml").write_text(text)
    (folder / "agent.toml").chmod(0o600)
    found = load_settings(str(tmp_path))
    assert (found.servers[0].port, found.policy.paths) == (8421, ("/etc/condor/**",))
    shown = [line.partition("#")[2].partition("#")[0] for line in text.splitlines() if line.startswith("# ")]
    keys = [line for line in shown if " = " in line and "FILE" not in line and "..." not in line]
    (folder / "agent.toml").write_text("\n".join([text, *keys]))
    assert load_settings(str(tmp_path)) == found


def test_agent_toml_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "etc/gitcfg/agent.toml"
    folder.mkdir(parents=True)
    with pytest.raises(SettingsError, match=f"{folder} is not a file"):
        load_settings(str(tmp_path))


def test_a_state_folder_that_is_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "var/lib/gitcfg"
    state.mkdir(parents=True)
    owner = state.stat().st_uid
    if owner != 0:
        pytest.skip("only root has such a folder")
    monkeypatch.setattr("os.geteuid", lambda: NOBODY)
    with (
        pytest.raises(Refused, match="/var/lib/gitcfg belongs to root") as raised,
        open_store(Place(str(tmp_path))),
    ):
        pass
    assert raised.value.hints == ("Run it as root.",)


class Closed(Disk):
    """Others may not make a folder here."""

    def make_folder(self, at: int, name: str, mode: int) -> None:
        raise PermissionError(13, "Permission denied", name)


def test_a_state_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: NOBODY)
    place = Place(str(tmp_path), disk=Closed())
    with (
        pytest.raises(Refused, match="/var/lib/gitcfg: Permission") as raised,
        open_store(place),
    ):
        pass
    assert raised.value.hints == ("Run it as root.",)


def test_a_file_that_cannot_be_made_is_named_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*said: object) -> int:
        raise PermissionError(13, "Permission denied", "node.key.7")

    monkeypatch.setattr("gitcfg.agent.main.COMMANDS", {"key": refused})
    assert main(["key", "--root", str(tmp_path)]) == 4
    assert f"error: {tmp_path}/var/lib/gitcfg/node.key.7: Permission denied.\n" in capsys.readouterr().err


def unverified(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError()
    error.verify_code = code
    return error


@pytest.mark.parametrize(
    ("code", "hint"), [(10, "clock"), (9, "clock"), (62, "name"), (64, "name"), (20, "ca ="), (18, "ca =")]
)
def test_hints_about_certificates(code: int, hint: str) -> None:
    (said,) = find_hints(unverified(code))
    assert hint in said


def test_other_errors_have_no_hint_about_certificates() -> None:
    assert find_hints(OSError(111, "Connection refused")) == ()


def test_a_clock_that_is_about_right_is_not_told_as_off() -> None:
    clock = ServerClock(wall=lambda: 1000.9)
    for server in (999.0, 1000.0, 1002.0):
        clock.observe(server)
        assert clock.offset == 0.0
    clock.observe(1004.0)
    assert clock.offset == 3.0


def test_times() -> None:
    assert [times(1), times(2)] == ["once", "2 times"]


@pytest.mark.parametrize("root", ["//", "/.", "///", "/etc/.."])
def test_one_root_has_one_name(root: str) -> None:
    from gitcfg.agent.main import parse_arguments

    assert parse_arguments(["key", "--root", root], "x", "0").root == "/"


def test_the_start_imports_no_ssl() -> None:
    script = f"import sys\nsys.argv = ['x', '--version']\n{PROGRAM}\nassert 'ssl' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
