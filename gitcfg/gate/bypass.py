"""The gate held open by the server's administrator: until when, and why."""

from datetime import datetime

import msgspec

from gitcfg.git.repository import Config
from gitcfg.model import REFUSED, GitcfgError

BYPASS = "gitcfg.bypass"


class Bypass(msgspec.Struct, frozen=True):
    """Until then, every push is taken, whatever is in it."""

    until: datetime
    reason: str


def find_bypass(config: Config, now: datetime) -> Bypass | None:
    """`git config gitcfg.bypass "2027-01-31T18:00 REASON"`; None: the gate is shut, perhaps again.

    Without an offset it is the server's own time. GitcfgError: the end or the reason is missing.
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
