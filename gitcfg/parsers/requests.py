"""What a child is asked about a text, and what its answers say."""

import hashlib
from typing import Any

import msgspec

from gitcfg.check.judge import Meant, Question, Verdict, Verdicts
from gitcfg.sandbox import GuardError, encoded


def written(text: str) -> bytes:
    """Is an HTCondor text read as it is written? GuardError: it cannot be sent."""
    return encoded({"written": text})


def whole(question: Question) -> bytes:
    """What is wrong with a text in a format, beside what it was written from? GuardError: it cannot be sent.

    Values go as JSON, which knows integers of any size.
    """
    meant = question.meant() if question.meant is not None else None
    values = None if meant is None else _as_json(meant)
    apart = {} if meant is None else _apart(meant)
    return encoded({"format": question.format, "text": question.text, "values": values, "separators": apart})


def look(wanted: str) -> bytes:
    """Is HTCondor's parser there (`condor`), and its way to write out what it read (`table`)?"""
    return encoded({"look": wanted})


def key(request: bytes, version: bytes) -> bytes:
    """What a request is known by, for one version of the parsers."""
    return hashlib.sha256(version + request).digest()


def verdicts(found: Any) -> Verdicts:
    """What is wrong, as a child says it."""
    return tuple(
        Verdict(reason, line, tuple(params), hint, grave) for reason, line, params, hint, grave in found
    )


def _as_json(meant: Meant) -> bytes:
    try:
        return msgspec.json.encode(meant.values)
    except UnicodeEncodeError as error:
        raise GuardError(f"cannot be given a value: {error}") from error


def _apart(meant: Meant) -> dict[str, str | None]:
    return {
        name: meant.separators.get(name) for name, value in meant.values.items() if isinstance(value, list)
    }
