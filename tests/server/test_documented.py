"""What a server can be told, and what it logs, stands in its page; a unit can be told all of it."""

import re
import shlex
from pathlib import Path

from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.reference import read

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/server.md").read_text(encoding="utf-8")
UNIT = (ROOT / "hooks/systemd/gitcfg-serve.service").read_text(encoding="utf-8")
_LOGGED = re.compile(r'\blog\w*\.(?:info|warning|error|exception|log)\(\s*(?:\w+, )?"([^"]+)"')


def variables() -> set[str]:
    """The environment variables of `gitcfg serve`."""
    (serve,) = [command for command in read(COMMANDS).all() if command.words[1:] == ("serve",)]
    found = {option.names[-1]: option.environment for option in serve.options if option.names[-1] != "--help"}
    assert len(found) >= 7
    assert all(found.values()), found
    return set(found.values())


def test_all_can_be_set_in_the_environment_and_is_told() -> None:
    for name in variables():
        assert f"`{name}`" in PAGE, name
        assert name in UNIT, name


def test_what_the_unit_sets_is_what_the_program_reads() -> None:
    known = {*variables(), "GITCFG_REPO"}
    assert set(re.findall(r"GITCFG_\w+", UNIT)) <= known
    assert set(re.findall(r"GITCFG_\w+", PAGE)) <= {*known, "GITCFG_TOKEN", "GITCFG_SERVER"}


def test_every_message_of_the_log_is_told() -> None:
    files = [*(ROOT / "gitcfg/server").rglob("*.py"), *(ROOT / "gitcfg/cli").glob("serve*.py")]
    messages = {found for file in files for found in _LOGGED.findall(file.read_text(encoding="utf-8"))}
    assert len(messages) >= 14
    assert {message for message in messages if f"`{message}`" not in PAGE} == set()


def test_the_page_names_one_port_and_no_published_package() -> None:
    both = PAGE + (ROOT / "docs/agent.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:\.com|0\.0\.0\.0|127\.0\.0\.1):(\d+)", both)) == {"8421"}
    words = [
        shlex.split(line, comments=True)
        for line in re.findall(r"^(?:\S*/)?pip install .*$", both, re.MULTILINE)
    ]
    assert words
    assert not [line for line in words if line[2:3] in (["gitcfg[server]"], ["gitcfg-agent"])]
