"""Pushes with signatures and what the gate says of each, as data: who may sign, and what is refused why."""

import msgspec

SIGN = (
    "hint: Run `git config gpg.format ssh` and `git config user.signingkey FILE`. Then sign the last commit "
    "with `git commit --amend --no-edit -S`, or all commits after BASE with `git rebase -f -S BASE`."
)
LIST = "hint: The allowed signers are those of allowed_signers before this push, or of the server's own list."
ANEW = "hint: Sign it again: `git commit --amend --no-edit -S`."
NOW = (
    "hint: The key must be valid when a commit is pushed, not when it was made. "
    "Sign it again with another key."
)
REVOKED = "hint: The server's gpg.ssh.revocationFile lists the key, or cannot be parsed."
NOBODY = (
    "error: refs/heads/main: commits must be signed, but no one may sign.",
    "hint: The server's administrator can name the signers in a file: "
    "`git config gitcfg.allowedSigners FILE`.",
)
LOCKED = "allowed_signers: it names no signers, so protected refs reject all pushes from now on"
MAIN = "error: refs/heads/main:"
STRICT = "warning: The previous gitcfg.yaml cannot be read, so the strictest settings apply."


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
        taken("git switch -q main; as ann git merge -q --no-ff -m two rel-1; push main"),
        taken("git switch -q rel-1; as ann commit three; push rel-1"),
        refused(
            "list 'forge {forge}'; git switch -q main;"
            " as forge git merge -q --no-ff -m four rel-1; push main",
            f"{MAIN} <three> is signed with a key that may not sign ([ann]).",
            LIST,
        ),
    ),
    "main follows a branch that was taken": (
        taken("git switch -qc rel-1; as ann commit one; push rel-1"),
        refused(
            "list 'forge {forge}'; push rel-1:main",
            f"{MAIN} <one> is signed with a key that may not sign ([ann]).",
            LIST,
        ),
    ),
    "another branch follows main": (
        taken("as ann commit one; push main; list 'forge {forge}'; push main:rel-1"),
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
        taken(
            "sed -i s/off/require/ gitcfg.yaml; unsigned commit three; push rel-1",
            "gitcfg.yaml: signatures: off -> require",
        ),
        refused("push rel-1:main", f"{MAIN} <two>, <three> are not signed.", SIGN),
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
            "error: gpg.ssh.revocationFile in git's configuration names '[folder]/desk/../gone': "
            "No such file or directory.",
            "hint: Until the list of revoked keys can be read, no signature counts.",
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
            "warning: refs/heads/side: 1 error that a protected branch would reject.",
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
            "error: gitcfg.allowedSigners in git's configuration of this repository names "
            "'[folder]/desk/../list': No such file or directory.",
            "hint: Name a file that this user can read.",
        ),
    ),
    "nobody requires it yet": (
        taken("push main"),
        refused("commit one; push main", f"{MAIN} <one> is not signed.", SIGN),
    ),
}
