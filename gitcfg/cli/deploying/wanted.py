"""A deploy as it is asked for: read from its options, which must go together."""

import re
from itertools import pairwise

import msgspec

from gitcfg.cli.deploying.say import Consent, Which
from gitcfg.model import GitcfgError, Share
from gitcfg.model.names import shown
from gitcfg.model.text import seconds

_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%?)")
_WHOLE = 100


class Limits(msgspec.Struct, frozen=True):
    """How many at once, in which batches, and after how much that goes wrong nobody else."""

    batches: tuple[Share, ...]
    jobs: int
    failures: Share | None
    unreached: Share | None

    @classmethod
    def read(cls, batch: str | None, jobs: int, failures: str | None, unreached: str | None) -> "Limits":
        """From what is said. GitcfgError: it cannot be meant."""
        sizes = tuple(_share("--batch", word, 1) for word in batch.split(",")) if batch is not None else ()
        _growing(sizes)
        return cls(
            sizes,
            jobs,
            None if failures is None else _share("--max-failures", failures, 0),
            None if unreached is None else _share("--max-unreachable", unreached, 0),
        )


class Ways(msgspec.Struct, frozen=True):
    """How nodes are reached and entered; times are in seconds."""

    timeout: float
    connect_timeout: float
    user: str | None
    ssh_config: str | None
    accept_new: bool
    sudo: bool | None
    ask_sudo: bool
    root: str
    state: str

    @classmethod
    def read(
        cls,
        times: tuple[str, str],
        login: tuple[str | None, str | None, bool],
        sudo: tuple[bool | None, bool],
        folders: tuple[str, str],
    ) -> "Ways":
        """From what is said. GitcfgError: it cannot be meant."""
        if sudo == (False, True):
            raise GitcfgError("--no-sudo and --ask-sudo do not go together.", "Say one of them.")
        for option, folder in zip(("--root", "--state-dir"), folders, strict=True):
            if not folder.startswith("/") or ".." in folder.split("/") or not folder.isprintable():
                raise GitcfgError(f"{option} must be a whole path, and {shown(folder)} is none.")
        timeout = _time("--timeout", times[0])
        return cls(timeout, _time("--connect-timeout", times[1]), *login, *sudo, *folders)


class Wanted(msgspec.Struct, frozen=True):
    """All that is asked for."""

    which: Which
    consent: Consent
    limits: Limits
    ways: Ways


def wanted(which: Which, consent: Consent, limits: Limits, ways: Ways) -> Wanted:
    """All of it together. GitcfgError: parts of it cannot both be meant."""
    if which.resume is not None and (which.words or which.where is not None or which.at is not None):
        message = "--resume goes on with the nodes and the commit of a run."
        raise GitcfgError(message, "Name no nodes and no commit with it.")
    if consent.unreviewed and consent.reason is None and which.resume is None:
        message = "--unreviewed needs a reason."
        raise GitcfgError(message, "--reason TEXT says why it cannot wait for a review; it is recorded.")
    if consent.reason is not None and not consent.unreviewed:
        raise GitcfgError("--reason is for --unreviewed.", "What was reviewed has its reason in git.")
    return Wanted(which, consent, limits, ways)


def _share(option: str, text: str, least: int) -> Share:
    found = _SHARE.fullmatch(text.strip())
    number = float(found[1]) if found else -1.0
    percent = bool(found and found[2])
    if (number < least and not (percent and number > 0)) or (percent and number > _WHOLE):
        raise GitcfgError(f"{option}: {shown(text)} is no number of nodes.", "Write 3, or a share: 10%.")
    if not percent and number != int(number):
        raise GitcfgError(
            f"{option}: {shown(text)} is no whole number of nodes.", "Write 3, or a share: 10%."
        )
    return Share(number if percent else int(number), percent)


def _growing(sizes: tuple[Share, ...]) -> None:
    for before, after in pairwise(sizes):
        if before.percent == after.percent and before.number >= after.number:
            message = f"--batch: {after.written} has no more nodes than {before.written} before it."
            raise GitcfgError(message, "Batches count from the first one on: 1,10%,50%.")


def _time(option: str, text: str) -> float:
    found = seconds(text)
    if not found:
        raise GitcfgError(f"{option}: {shown(text)} is no length of time.", "Write 90s, 10m or 2h.")
    return found
