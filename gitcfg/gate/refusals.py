"""Why refs may not move, in words: each is a contract with who reads it in a terminal."""

from gitcfg.gate.ruling import Refusal, Seen
from gitcfg.git.signatures import Flaw, Signed
from gitcfg.load.root import FILE

SHORT = 10
"""So many digits of a commit's id are told."""

DELETED = Refusal(
    "it is protected and may not be deleted.",
    "The server's administrator allows it with `git config gitcfg.allowDeletion true`.",
)
NO_COMMIT = Refusal("it is protected and must lead to a commit.")
NO_SETTINGS = Refusal(
    f"there is no {FILE} at the root of what is pushed.", "`gitcfg init` makes a repository."
)
NO_SIGNERS = Refusal(
    "commits must be signed, and nobody may sign.",
    "The server's administrator names who may in a file: `git config gitcfg.allowedSigners FILE`.",
)


def rewound(before: str, commit: str) -> Refusal:
    """What is pushed does not come after what was there."""
    return Refusal(
        f"{commit[:SHORT]} does not come after {before[:SHORT]}.",
        "Merge what was pushed before. The server's administrator allows rewinding with "
        "`git config gitcfg.allowRewind true`.",
    )


def wrong(seen: Seen, base: str | None) -> Refusal:
    """A commit has errors; `base` is what does not have them, if only new ones count."""
    new = f" that {base[:SHORT]} did not have" if base is not None else ""
    number = f"{seen.errors} error" if seen.errors == 1 else f"{seen.errors} errors"
    return Refusal(f"{seen.commit[:SHORT]} has {number}{new}.")


def unsigned(commit: str, signed: Signed, flaw: Flaw) -> Refusal:
    """A commit's signature does not count."""
    key = f" ({signed.key})" if signed.key else ""
    return Refusal(f"{commit[:SHORT]} {flaw.value}{key}.", _HINTS.get(flaw, ""))


_SIGN = "`git config gpg.format ssh`, `git config user.signingkey FILE`, then `git commit --amend -S`."
_HINTS = {
    Flaw.NONE: _SIGN,
    Flaw.FOREIGN: _SIGN,
    Flaw.UNKNOWN: "Who may sign stands in allowed_signers, as it was before this push.",
    Flaw.UNTIMELY: "It counts when a commit is pushed, not when it was made: sign it anew with another key.",
    Flaw.NAMESPACE: 'Its line in allowed_signers must allow the namespace "git".',
}
