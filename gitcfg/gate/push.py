"""A push as git tells its hooks: refs that move, push options, the pusher, and whether the gate is
held open.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from gitcfg.git.repository import Config
from gitcfg.model import REFUSED, GitcfgError

REASON = "gitcfg.reason="
_PUSHERS = ("GITEA_PUSHER_NAME", "GL_USERNAME", "GL_USER", "REMOTE_USER")
"""What Gitea and Forgejo, GitLab, gitolite, and servers of HTTP call who pushes, in this order."""


class Update(msgspec.Struct, frozen=True):
    """A ref that is to move. `old` is None where it is new, `new` where it is deleted."""

    ref: str
    old: str | None
    new: str | None


def parse_updates(lines: Iterable[str]) -> tuple[Update, ...]:
    """Parse what git writes to pre-receive and post-receive, a line `OLD NEW REF` each. Raise GitcfgError if
    it is none.
    """
    return tuple(_update(line.rstrip("\n")) for line in lines)


def _update(line: str) -> Update:
    words = line.split(" ", 2)
    if len(words) != 3 or not all(map(_is_id, words[:2])):
        raise GitcfgError(f"This is no update of a ref: {line!r}.", "git writes `OLD NEW REF` to its hooks.")
    old, new, ref = words
    return Update(ref, _id(old), _id(new))


def _is_id(word: str) -> bool:
    return len(word) in (40, 64) and all(character in "0123456789abcdef" for character in word)


def _id(word: str) -> str | None:
    return word if word.strip("0") else None


def find_reason(environment: Mapping[str, str]) -> str | None:
    """Return why the push is made: `git push --push-option=gitcfg.reason=TEXT`."""
    count = environment.get("GIT_PUSH_OPTION_COUNT", "0")
    options = (
        environment.get(f"GIT_PUSH_OPTION_{n}", "") for n in range(int(count) if count.isdigit() else 0)
    )
    said = [option.removeprefix(REASON) for option in options if option.startswith(REASON)]
    return "\n".join(said).strip() or None


def find_pusher(environment: Mapping[str, str], variable: str | None = None) -> tuple[str, ...] | None:
    """Return the pusher's name as the server knows it, or None if the server says nothing.

    With a variable, which the server's administrator names, that alone counts: without it the pusher is
    unknown.
    """
    if variable is not None:
        said = environment.get(variable, "")
        return (said,) if said else ()
    found = next((environment[name] for name in _PUSHERS if environment.get(name)), None)
    return (found,) if found is not None else None


# A bypass holds the gate open.

BYPASS = "gitcfg.bypass"


class Bypass(msgspec.Struct, frozen=True):
    """Until when every push is accepted whatever is in it, and why."""

    until: datetime
    reason: str


def find_bypass(config: Config, now: datetime) -> Bypass | None:
    """Return the bypass of `git config gitcfg.bypass "2027-01-31T18:00 REASON"`, or None if there is none or
    it is over.

    Without an offset it is the server's own time. Raise GitcfgError if the end or the reason is missing.
    """
    said = config.last(BYPASS)
    if said is None:
        return None
    end, _, reason = said.strip().partition(" ")
    try:
        until = datetime.fromisoformat(end).astimezone()
    except ValueError:
        until = None
    if until is None or not reason.strip():
        hint = f'Say until when and why: `git config {BYPASS} "2027-01-31T18:00 REASON"`, or unset it.'
        raise GitcfgError(
            f"{BYPASS} is {said!r} in git's configuration of this repository.", hint, code=REFUSED
        )
    return Bypass(until, reason.strip()) if now < until else None
