"""Who may change what, by real pushes of signed commits to a real server that reads rules."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.permitted_pushes import CASES, FILES, Push
from tests.gate.signing import Keys, made, ran

HOOK = f"#!/bin/sh\nexec {sys.executable} -m gitcfg --no-pager hook pre-receive\n"
SETTINGS = "format: 1\nprotected: [refs/heads/main, refs/heads/rel-*]\n"
SIGNERS = "ann@example.org {ann}\nbob@example.org {bob}\nbot@example.org {forge}\n"
WORDS = """
put() { mkdir -p "$(dirname "$1")"; echo "$2" > "$1"; }
save() { git add -A; git commit -qm "$1"; }
as() { git config user.signingkey "$KEYS/${1/bot/forge}"; git config commit.gpgsign true; shift; "$@"
       git config commit.gpgsign false; }
push() { git push -q origin "$@"; }
by() { export GITEA_PUSHER_NAME=$1; shift; git push -q origin "$@"; }
serve() { git -C ../srv.git config "$@"; }
"""
FINDING = re.compile(r"error\[GC405\] (.*)")
MORE = re.compile(r"\.\.\. and (\d+) more errors GC405")
OTHERS = {
    "unreadable": re.compile("the permission rules before this push cannot be read"),
    "rewound": re.compile("is not a descendant of"),
    "deleted": re.compile("it is protected and cannot be deleted"),
    "broken": re.compile(r"Cannot read the git object \w{40}"),
}
"""Other reasons for which a push is refused, by the words for them."""
WHO = re.compile(
    r"(?:(?:[\w.@]+ or )*(?P<who>\w+)(?:@example\.org)?, who (?:signed (?P<commit>\w+)|pushes),"
    r"|(?P<unsigned>\w+), which is [^,]+,|An unknown pusher)"
    r" may not change (?:the \w+ )?(?P<name>\S+):"
    r" the rule (?P<rule>\w+) \(rules/who\.yaml:\d+:3\) (?:forbids|allows) it"
)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return made(tmp_path_factory.getbasetemp() / "keys")


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Path:
    """A server with rules, and a desk that has pushed to it."""
    folder = tmp_path_factory.mktemp("permits")
    desk = folder / "desk"
    ran("git", "init", "-q", "--bare", "-b", "main", folder / "srv.git")
    ran("git", "init", "-q", "-b", "main", desk)
    ran("git", "config", "gpg.format", "ssh", where=desk)
    ran("git", "remote", "add", "origin", "../srv.git", where=desk)
    files = {"gitcfg.yaml": SETTINGS, "allowed_signers": keys.filled(SIGNERS), **FILES}
    for name, text in files.items():
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text(text)
    ran("git", "add", "-A", where=desk)
    ran("git", "commit", "-qm", "zero", where=desk)
    ran("git", "push", "-q", "-u", "origin", "main", where=desk)
    (folder / "srv.git/hooks/pre-receive").write_text(HOOK)
    (folder / "srv.git/hooks/pre-receive").chmod(0o755)
    return folder


def done(folder: Path, keys: Keys, does: str) -> tuple[bool, str]:
    """Was all done, and what was told."""
    who = {f"GIT_{role}_{key}": "ann" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    home = {"HOME": str(folder), "KEYS": str(keys.folder), "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "100"}
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    path |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    script = f"set -e\n{WORDS}\n{keys.filled(does)}"
    ended = subprocess.run(
        ["bash", "-c", script], cwd=folder / "desk", env=who | home | path, capture_output=True, text=True
    )
    return not ended.returncode, ended.stderr


def told(folder: Path, text: str) -> list[str]:
    """Who may not change what, by which rule; commits by their subjects."""
    subjects = ran("git", "log", "--all", "--reflog", "--format=%H %s", where=folder / "desk").decode()
    known = {line[:10]: line[41:] for line in subjects.splitlines()}
    lines = []
    for message in FINDING.findall(text):
        found = WHO.match(message)
        assert found, message
        commit = found["commit"] or found["unsigned"]
        place = f"@{known[commit]}" if commit else ""
        lines.append(f"{found['name']} {found['who'] or '?'}{place} {found['rule']}")
    return lines + [word for word, said in OTHERS.items() if said.search(text)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_only_who_may_change_something_does(start: Path, tmp_path: Path, keys: Keys, name: str) -> None:
    folder = tmp_path / "at"
    shutil.copytree(start, folder, symlinks=True)
    for push in CASES[name]:
        follow(folder, keys, push)


def follow(folder: Path, keys: Keys, push: Push) -> None:
    refs = ran("git", "for-each-ref", where=folder / "srv.git")
    ended, text = done(folder, keys, push.does)
    shown, more = told(folder, text), sum(map(int, MORE.findall(text)))
    # Of many at one commit the first are shown.
    expected = sorted(set(push.told) & set(shown)) if more else sorted(push.told)
    assert (ended, sorted(shown), len(shown) + more) == (not push.told, expected, len(push.told)), text
    assert (ran("git", "for-each-ref", where=folder / "srv.git") != refs) == (not push.told)
