"""Signatures at the gate, by real pushes to a real server: who may sign, and what every refusal says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gitcfg.gate.refusals import unsigned
from gitcfg.git.envelope import Flaw
from gitcfg.git.signatures import Signed
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

SIGN = (
    "hint: `git config gpg.format ssh` and `git config user.signingkey FILE`; then "
    "`git commit --amend --no-edit -S` signs the last commit, `git rebase -f -S BASE` all after BASE."
)
LIST = (
    "hint: Who may sign is told by allowed_signers, as it was before this push, or by the server's own list."
)
ANEW = "hint: Sign it anew: `git commit --amend --no-edit -S`."
NOW = "hint: It counts when a commit is pushed, not when it was made: sign it anew with another key."
REVOKED = "hint: The server's gpg.ssh.revocationFile says so, or cannot be understood."
NOBODY = (
    "error: refs/heads/main: commits must be signed, and nobody may sign.",
    "hint: The server's administrator names who may in a file: `git config gitcfg.allowedSigners FILE`.",
)
LOCKED = "allowed_signers: it names nobody, so protected refs take no push from now on"
MAIN = "error: refs/heads/main:"
STRICT = "warning: gitcfg.yaml could not be read as it was, so the strictest settings count."


class Push(msgspec.Struct, frozen=True):
    """What somebody does, and what the gate says of it: nothing where it is taken."""

    does: str
    told: tuple[str, ...] = ()
    taken: bool = False


def taken(does: str, *told: str) -> Push:
    return Push(does, told, True)


def refused(does: str, *told: str) -> Push:
    return Push(does, told)


CASES: dict[str, tuple[Push, ...]] = {
    "signed": (taken("as ann commit one; push main"), taken("as forge commit two; push main")),
    "not signed": (
        refused("commit one; push main", f"{MAIN} <one> is not signed.", SIGN),
        refused("commit two; push main", f"{MAIN} <one>, <two> are not signed.", SIGN),
        refused("as ann commit three; push main", f"{MAIN} <one>, <two> are not signed.", SIGN),
        taken("as ann git rebase -q -f -S origin/main; push main"),
    ),
    "a stranger": (
        refused(
            "as eve commit one; push main",
            f"{MAIN} <one> is signed with a key that may not sign ([eve]).",
            LIST,
        ),
        refused(
            "unsigned commit two; as eve commit three; push main",
            f"{MAIN} <one>, <three> are signed with a key that may not sign ([eve]).",
            LIST,
            f"{MAIN} <two> is not signed.",
            SIGN,
        ),
    ),
    "a merge of what is not signed": (
        taken("git switch -qc side; commit one; push side"),
        refused(
            "git switch -q main; as ann git merge -q --no-ff -m two side; push main",
            f"{MAIN} <one> is not signed.",
            SIGN,
        ),
    ),
    "a merge that is not signed": (
        refused(
            "git switch -qc side; as ann commit one; git switch -q main;"
            " unsigned git merge -q --no-ff -m two side; push main",
            f"{MAIN} <two> is not signed.",
            SIGN,
        ),
        taken("as ann git commit -q --amend -m two; push main"),
    ),
    "a merge of a branch that was taken": (
        taken("git switch -qc rel-1; as ann commit one; push rel-1"),
        taken(
            "list 'forge {forge}'; git switch -q main; as forge git merge -q --no-ff -m two rel-1; push main"
        ),
    ),
    "main follows a branch that was taken": (
        taken("git switch -qc rel-1; as ann commit one; push rel-1; list 'forge {forge}'; push rel-1:main"),
    ),
    "commits of a protected branch on which nobody need sign": (
        taken(
            "git switch -qc rel-1; sed -i s/require/off/ gitcfg.yaml; as ann commit one; push rel-1",
            "gitcfg.yaml: signatures: require -> off",
        ),
        taken("unsigned commit two; push rel-1"),
        refused(
            "push rel-1:main", "gitcfg.yaml: signatures: require -> off", f"{MAIN} <two> is not signed.", SIGN
        ),
    ),
    "main follows a branch that nobody judged": (
        taken("git switch -qc side; commit one; push side"),
        refused("push side:main", f"{MAIN} <one> is not signed.", SIGN),
        refused("push side:rel-1", "error: refs/heads/rel-1: <one> is not signed.", SIGN),
    ),
    "a rebase": (
        taken(
            "git switch -qc side; as ann commit one; git switch -q main;"
            " as ann git commit -q --allow-empty -m two; push main"
        ),
        refused(
            "git switch -q side; unsigned git rebase -q main; push side:main",
            f"{MAIN} <one> is not signed.",
            SIGN,
        ),
        refused(
            "as eve git rebase -q -f main; push side:main",
            f"{MAIN} <one> is signed with a key that may not sign ([eve]).",
            LIST,
        ),
        taken("as forge git rebase -q -f main; push side:main"),
    ),
    "a squash merge by the forge": (
        taken("git switch -qc side; commit one; as eve commit two; push side"),
        taken("git switch -q main; git merge -q --squash side; as forge git commit -qm three; push main"),
    ),
    "a signer who signs himself in": (
        refused(
            "echo 'eve {eve}' >> allowed_signers; as eve commit one; push main",
            "allowed_signers: +1 -0 lines",
            f"{MAIN} <one> is signed with a key that may not sign ([eve]).",
            LIST,
        ),
        refused(
            "unsigned git commit -q --amend -m one; push main",
            "allowed_signers: +1 -0 lines",
            f"{MAIN} <one> is not signed.",
            SIGN,
        ),
    ),
    "a signer whom another one signs in": (
        refused(
            "echo 'eve {eve}' >> allowed_signers; as ann commit one; as eve commit two; push main",
            "allowed_signers: +1 -0 lines",
            f"{MAIN} <two> is signed with a key that may not sign ([eve]).",
            LIST,
        ),
        taken("push HEAD~1:main", "allowed_signers: +1 -0 lines"),
        taken("push main"),
    ),
    "a signer who was removed": (
        taken(
            "git switch -qc side; as forge commit one; git switch -q main;"
            " sed -i /forge/d allowed_signers; as ann git commit -qam two; push main",
            "allowed_signers: +0 -1 lines",
        ),
        refused(
            "as ann git merge -q -m three side; push main",
            f"{MAIN} <one> is signed with a key that may not sign ([forge]).",
            LIST,
        ),
    ),
    "a key that has expired": (
        refused(
            """list "ann valid-before=\\"$PASSED\\" {ann}"; as ann commit one; push main""",
            f"{MAIN} <one> is signed with a key that may not sign at this time ([ann]).",
            NOW,
        ),
        taken("""list "ann valid-before=\\"$TO_COME\\" {ann}"; push main"""),
    ),
    "a date in a commit opens nothing": (
        refused(
            """list "ann valid-before=\\"$PASSED\\" {ann}"; export GIT_COMMITTER_DATE="@900000000 +0000";"""
            " as ann commit one; push main",
            f"{MAIN} <one> is signed with a key that may not sign at this time ([ann]).",
            NOW,
        ),
    ),
    "a key that is not valid yet": (
        refused(
            """list "ann valid-after=\\"$TO_COME\\" {ann}"; as ann commit one; push main""",
            f"{MAIN} <one> is signed with a key that may not sign at this time ([ann]).",
            NOW,
        ),
    ),
    "a key for files": (
        refused(
            """list 'ann namespaces="file" {ann}'; as ann commit one; push main""",
            f"{MAIN} <one> is signed with a key that may not sign commits ([ann]).",
            'hint: Its line in allowed_signers must allow the namespace "git".',
        ),
    ),
    "a key that was revoked": (
        refused(
            "echo '{ann}' > ../gone; serve gpg.ssh.revocationFile $PWD/../gone; as ann commit one; push main",
            f"{MAIN} <one> is signed with a key that was revoked ([ann]).",
            REVOKED,
        ),
        taken("as forge git commit -q --amend --no-edit -S; push main"),
        refused(
            "rm ../gone; as forge commit two; push main",
            "error: gpg.ssh.revocationFile is '[folder]/desk/../gone' in git's configuration: "
            "No such file or directory.",
            "hint: No signature counts until the list of revoked keys can be read.",
        ),
    ),
    "another text than what was signed": (
        refused(
            "as ann commit one; raw '$ s/one/two/'; push main", f"{MAIN} <two> is not what was signed.", ANEW
        ),
    ),
    "another tree than what was signed": (
        refused(
            "as ann commit one; raw 's/^tree .*/tree '$(git rev-parse HEAD^^{tree})/; push main",
            f"{MAIN} <one> is not what was signed.",
            ANEW,
        ),
    ),
    "a signature of another kind": (
        refused(
            "as ann commit one; raw 's/BEGIN SSH/BEGIN PGP/'; push main",
            f"{MAIN} <one> is not signed with an SSH key.",
            SIGN,
        ),
    ),
    "tags": (
        refused(
            "commit one; as ann git tag -s -m signed v1; push v1",
            "error: refs/tags/v1: <one> is not signed.",
            SIGN,
        ),
        taken("git tag -d v1 > ../out; unsigned git tag -m plain v1 HEAD~1; push v1"),
        refused("git tag light; push light", "error: refs/tags/light: <one> is not signed.", SIGN),
    ),
    "new branches": (
        taken("push main:rel-1"),
        refused("commit one; push main:rel-2", "error: refs/heads/rel-2: <one> is not signed.", SIGN),
        taken("push main:side"),
        refused("push main:rel-2", "error: refs/heads/rel-2: <one> is not signed.", SIGN),
    ),
    "several refs at once": (
        taken("git switch -qc side; commit one; git switch -q main; as ann commit two; push main side"),
        refused(
            "as ann commit three; push main side:rel-1 side:rel-2",
            "error: refs/heads/rel-1, refs/heads/rel-2: <one> is not signed.",
            SIGN,
        ),
        taken("push main"),
    ),
    "switched off by whom nobody knows": (
        refused(
            "sed -i s/require/off/ gitcfg.yaml; commit one; push main",
            "gitcfg.yaml: signatures: require -> off",
            f"{MAIN} <one> is not signed.",
            SIGN,
        ),
    ),
    "switched off by a signer": (
        taken(
            "sed -i s/require/off/ gitcfg.yaml; as ann commit one; push main",
            "gitcfg.yaml: signatures: require -> off",
        ),
        taken("unsigned commit two; push main"),
        taken(
            "sed -i s/off/require/ gitcfg.yaml; commit three; push main",
            "gitcfg.yaml: signatures: off -> require",
        ),
        refused("commit four; push main", f"{MAIN} <four> is not signed.", SIGN),
    ),
    "switched off by a signer, and used at once": (
        refused(
            "sed -i s/require/off/ gitcfg.yaml; as ann commit one; unsigned commit two; push main",
            "gitcfg.yaml: signatures: require -> off",
            f"{MAIN} <two> is not signed.",
            SIGN,
        ),
    ),
    "required by the server, whatever the tip says": (
        taken(
            "sed -i s/require/off/ gitcfg.yaml; as ann commit one; push main",
            "gitcfg.yaml: signatures: require -> off",
        ),
        refused(
            "serve gitcfg.signatures require; unsigned commit two; push main",
            f"{MAIN} <two> is not signed.",
            SIGN,
        ),
        taken("serve gitcfg.signatures off; push main"),
    ),
    "the list goes": (
        taken(
            "git rm -q allowed_signers; as ann commit one; push main", "allowed_signers: +0 -2 lines", LOCKED
        ),
        refused("as ann commit two; push main", *NOBODY),
        taken("list 'ann {ann}'; push main"),
    ),
    "a list that names nobody": (refused("list '# ann'; as ann commit one; push main", *NOBODY),),
    "a link instead of a list": (
        taken(
            "ln -sf ../list allowed_signers; as ann commit one; push main",
            "allowed_signers: +0 -2 lines",
            LOCKED,
        ),
        refused("echo 'ann {ann}' > ../list; as ann commit two; push main", *NOBODY),
    ),
    "a list with a line that cannot be read": (
        refused(
            "list '* ssh-ed25519 AAAA'; as ann commit one; push main",
            f"{MAIN} <one> is signed with a key that may not sign ([ann]).",
            f"{LIST} Its line 1 cannot be read.",
        ),
        refused(
            "printf '# who\\nann\\n* bogus {ann}' > ../list; push main",
            f"{MAIN} <one> is signed with a key that may not sign ([ann]).",
            f"{LIST} 2 of its lines cannot be read, the first is line 2.",
        ),
    ),
    "the server's list counts instead of the tip's": (
        refused(
            "list 'eve {eve}'; as ann commit one; push main",
            f"{MAIN} <one> is signed with a key that may not sign ([ann]).",
            LIST,
        ),
        taken("as eve git commit -q --amend --no-edit; push main"),
    ),
    "settings that cannot be read": (
        taken(
            "git switch -qc side; echo '[' > gitcfg.yaml; commit one; push side",
            "gitcfg.yaml: protected: [refs/heads/main, refs/heads/rel-*, refs/tags/*] -> [refs/heads/main]",
            "gitcfg.yaml: signatures: require -> off",
            "warning: refs/heads/side: 1 error, which no protected branch would take.",
        ),
        refused(
            "git checkout -q HEAD~1 gitcfg.yaml; commit two; push side",
            STRICT,
            "gitcfg.yaml: protected: [refs/heads/main] -> [refs/heads/main, refs/heads/rel-*, refs/tags/*]",
            "gitcfg.yaml: signatures: off -> require",
            "error: refs/heads/side: <two> is not signed.",
            SIGN,
        ),
        taken(
            "as ann git commit -q --amend --no-edit; push side",
            STRICT,
            "gitcfg.yaml: protected: [refs/heads/main] -> [refs/heads/main, refs/heads/rel-*, refs/tags/*]",
            "gitcfg.yaml: signatures: off -> require",
        ),
    ),
}


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


FIRST: dict[str, tuple[Push, ...]] = {
    "the server names who may sign": (
        refused(
            "serve gitcfg.signatures require; list 'ann {ann}'; push main",
            f"{MAIN} <zero> is not signed.",
            SIGN,
        ),
        taken("as ann git commit -q --amend --no-edit; push main"),
        taken(
            "serve --unset gitcfg.signatures; serve --unset gitcfg.allowedSigners;"
            " as forge commit one; push main"
        ),
        refused("unsigned commit two; push main", f"{MAIN} <two> is not signed.", SIGN),
    ),
    "what is pushed names who may sign": (
        refused(
            "serve gitcfg.signatures require; as ann git commit -q --amend --no-edit; push main", *NOBODY
        ),
    ),
    "no file where the server says": (
        refused(
            "list x; rm ../list; push main",
            "error: gitcfg.allowedSigners is '[folder]/desk/../list' in git's configuration of this "
            "repository: No such file or directory.",
            "hint: Name a file that this user can read.",
        ),
    ),
    "nobody requires it yet": (
        taken("push main"),
        refused("commit one; push main", f"{MAIN} <one> is not signed.", SIGN),
    ),
}


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
    assert "remote: error: ssh-keygen cannot judge a signature: gone." in text
    assert "remote: hint: No commit counts as signed until it answers: OpenSSH 8.8 or later" in text
    assert refs(folder) == before


TEXTS = {
    Flaw.NONE: ("is not signed.", SIGN),
    Flaw.FOREIGN: ("is not signed with an SSH key.", SIGN),
    Flaw.LARGE: ("is larger than 1 MiB.", "hint: Only smaller commits are judged."),
    Flaw.BROKEN: ("is not what was signed.", ANEW),
    Flaw.PURPOSE: (
        "is signed as something else than a commit.",
        "hint: Sign it with git: `git commit --amend --no-edit -S`.",
    ),
    Flaw.UNKNOWN: ("is signed with a key that may not sign.", LIST),
    Flaw.UNTIMELY: ("is signed with a key that may not sign at this time.", NOW),
    Flaw.CERTIFICATE: (
        "is signed with a certificate that does not count.",
        "hint: It must not have expired, and must be for somebody whom allowed_signers names.",
    ),
    Flaw.NAMESPACE: (
        "is signed with a key that may not sign commits.",
        'hint: Its line in allowed_signers must allow the namespace "git".',
    ),
    Flaw.REVOKED: ("is signed with a key that was revoked.", REVOKED),
}


@pytest.mark.parametrize("flaw", Flaw)
def test_every_flaw_is_told(flaw: Flaw) -> None:
    (refusal,) = unsigned(["0123456789abcdef"], [Signed(flaw=flaw)])
    assert (refusal.why, f"hint: {refusal.hint}") == (f"0123456789 {TEXTS[flaw][0]}", TEXTS[flaw][1])


def test_what_is_signed_is_not_told() -> None:
    assert not list(unsigned(["0" * 40, "1" * 40], [Signed(("ann",), "SHA256:x")] * 2))
