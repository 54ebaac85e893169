"""Signatures at the gate, by real pushes to a real server: who may sign, and what every refusal says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.gate.rulings import refuse_unsigned
from gitcfg.git.signatures import Flaw, Signed
from tests.gate.signed_pushes import ANEW, CASES, FIRST, LIST, NOW, REVOKED, SIGN, Push
from tests.gate.signing import KINDS, PASSED, TO_COME, Keys, made, ran

HOOK = Path(__file__).parents[2] / "hooks/pre-receive"
SETTINGS = "format: 1\nprotected: [refs/heads/main, refs/heads/rel-*, refs/tags/*]\n"

WORDS = f"""
commit() {{ mkdir -p groups; echo "description: $1" > groups/web.yaml; git add -A; git commit -qm "$1"; }}
as() {{ git config user.signingkey "$KEYS/$1"; git config commit.gpgsign true; shift; "$@"; }}
unsigned() {{ git config commit.gpgsign false; "$@"; }}
push() {{ git push -q origin "$@"; }}
serve() {{ git -C ../srv.git config "$@"; }}
list() {{ echo "$1" > ../list; serve gitcfg.allowedSigners "$PWD/../list"; }}
write() {{ git hash-object -t commit -w --stdin --literally; }}
raw() {{ git update-ref HEAD $(git cat-file commit HEAD | sed "$1" | write); }}
PASSED={PASSED} TO_COME={TO_COME}
"""


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return made(tmp_path_factory.getbasetemp() / "keys")


@pytest.fixture(scope="session")
def prints(keys: Keys) -> dict[str, str]:
    """Fingerprints, and whose they are."""
    told = {name: ran("ssh-keygen", "-l", "-f", keys.folder / f"{name}.pub").decode() for name in KINDS}
    return {line.split()[1]: name for name, line in told.items()}


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Path:
    """A server that requires signatures of ann or the forge, and a desk that has pushed to it."""
    return begun(tmp_path_factory.mktemp("start"), keys, f"{SETTINGS}signatures: require\n", push=True)


def begun(folder: Path, keys: Keys, settings: str, push: bool) -> Path:
    """A server, and a desk with one commit."""
    ran("git", "init", "-q", "--bare", "-b", "main", folder / "srv.git")
    ran("git", "init", "-q", "-b", "main", folder / "desk")
    ran("git", "config", "gpg.format", "ssh", where=folder / "desk")
    ran("git", "remote", "add", "origin", "../srv.git", where=folder / "desk")
    (folder / "desk/gitcfg.yaml").write_text(settings)
    (folder / "desk/allowed_signers").write_text(keys.filled("ann {ann}\nforge {forge}\n"))
    ran("git", "add", "-A", where=folder / "desk")
    ran("git", "commit", "-qm", "zero", where=folder / "desk")
    if push:
        ran("git", "push", "-q", "-u", "origin", "main", where=folder / "desk")
    shutil.copy(HOOK, folder / "srv.git/hooks/pre-receive")
    (folder / "srv.git/hooks/pre-receive").chmod(0o755)
    return folder


def done(folder: Path, keys: Keys, does: str) -> tuple[bool, str]:
    """Was all done, and what was told."""
    who = {f"GIT_{role}_{key}": "ann" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    home = {"HOME": str(folder), "KEYS": str(keys.folder), "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "100"}
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = f"set -e\n{WORDS}\n{keys.filled(does)}"
    ended = subprocess.run(
        ["bash", "-c", script], cwd=folder / "desk", env=who | home | path, capture_output=True, text=True
    )
    return not ended.returncode, ended.stderr


def told(folder: Path, prints: dict[str, str], text: str) -> list[str]:
    """What the gate says but for findings, reach and numbers: commits by subjects, keys by names."""
    said = (
        line.removeprefix("remote: ").rstrip() for line in text.splitlines() if line.startswith("remote: ")
    )
    subjects = ran("git", "log", "--all", "--reflog", "--format=%H %s", where=folder / "desk").decode()
    known = {line[:10]: line[41:] for line in subjects.splitlines()}
    lines = []
    for line in said:
        if re.match(r"error: |hint: |warning: |gitcfg.yaml: |allowed_signers: ", line):
            line = re.sub(r"\b[0-9a-f]{10}\b", lambda found: f"<{known[found[0]]}>", line)
            line = re.sub(r"SHA256:[A-Za-z0-9+/]+", lambda found: f"[{prints[found[0]]}]", line)
            lines.append(line.replace(str(folder), "[folder]"))
    return lines


def refs(folder: Path) -> bytes:
    return ran("git", "for-each-ref", where=folder / "srv.git")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_only_who_may_sign_gets_in(
    start: Path, tmp_path: Path, keys: Keys, prints: dict[str, str], name: str
) -> None:
    folder = tmp_path / "at"
    shutil.copytree(start, folder, symlinks=True)
    follow(folder, keys, prints, CASES[name])


def follow(folder: Path, keys: Keys, prints: dict[str, str], pushes: tuple[Push, ...]) -> None:
    for push in pushes:
        before = refs(folder)
        ended, text = done(folder, keys, push.does)
        assert (ended, told(folder, prints, text)) == (push.taken, list(push.told)), text
        assert (refs(folder) != before) == push.taken


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_the_first_push(tmp_path: Path, keys: Keys, prints: dict[str, str], name: str) -> None:
    folder = begun(tmp_path, keys, f"{SETTINGS}signatures: require\n", push=False)
    follow(folder, keys, prints, FIRST[name])


def test_one_says_no_ssh_keygen_and_nothing_gets_in(start: Path, tmp_path: Path, keys: Keys) -> None:
    folder = tmp_path / "at"
    shutil.copytree(start, folder)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ssh-keygen").write_text("#!/bin/sh\necho gone >&2\nexit 127\n")
    (tmp_path / "bin/ssh-keygen").chmod(0o755)
    before = refs(folder)
    ended, text = done(folder, keys, f"as ann commit one; PATH={tmp_path}/bin:$PATH; push main")
    assert not ended
    assert "remote: error: ssh-keygen cannot verify a signature: gone." in text
    assert "remote: hint: Install OpenSSH 8.8 or later. Until ssh-keygen works" in text
    assert refs(folder) == before


TEXTS = {
    Flaw.NONE: ("is not signed.", SIGN),
    Flaw.FOREIGN: ("is not signed with an SSH key.", SIGN),
    Flaw.LARGE: ("is larger than 1 MiB.", "hint: The gate judges only smaller commits."),
    Flaw.BROKEN: ("is not what was signed.", ANEW),
    Flaw.PURPOSE: (
        "is signed as something other than a commit.",
        "hint: Sign it with git: `git commit --amend --no-edit -S`.",
    ),
    Flaw.UNKNOWN: ("is signed with a key that may not sign.", LIST),
    Flaw.UNTIMELY: ("is signed with a key that may not sign at this time.", NOW),
    Flaw.CERTIFICATE: (
        "is signed with a certificate that is not valid.",
        "hint: The certificate must not have expired, and must be for a name in allowed_signers.",
    ),
    Flaw.NAMESPACE: (
        "is signed with a key that may not sign commits.",
        'hint: Its line in allowed_signers must allow the namespace "git".',
    ),
    Flaw.REVOKED: ("is signed with a key that was revoked.", REVOKED),
}


@pytest.mark.parametrize("flaw", Flaw)
def test_every_flaw_is_told(flaw: Flaw) -> None:
    (refusal,) = refuse_unsigned(["0123456789abcdef"], [Signed(flaw=flaw)])
    assert (refusal.why, f"hint: {refusal.hint}") == (f"0123456789 {TEXTS[flaw][0]}", TEXTS[flaw][1])


def test_what_is_signed_is_not_told() -> None:
    assert not list(refuse_unsigned(["0" * 40, "1" * 40], [Signed(("ann",), "SHA256:x")] * 2))
