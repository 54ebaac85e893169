"""Why a parser's process ended: what HTCondor says of a file before it exits, or a limit."""

import re

from gitcfg.check.judge import Meant, Verdict
from gitcfg.model.names import shown
from gitcfg.parsers.child.htcondor import CONFIG, MARK
from gitcfg.sandbox import GuardError

_NAMES = {
    "classad": "HTCondor's parser for expressions",
    "condor": "HTCondor's own parser",
    "ini": "the parser for INI files",
    "yaml": "libyaml",
}
_REFUSAL = re.compile(rf"^Configuration Error Line (\d+) while reading file {CONFIG}$\n?", re.MULTILINE)
_WARNINGS = re.compile(rf"^Config source Warning \"{CONFIG}\", Line \d+: .*\n?", re.MULTILINE)
_WHERE = re.compile(rf"^Config source (?:Error \"{CONFIG}\", Line \d+: ?)?", re.MULTILINE)
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.]*)\s*=")


def refused(error: GuardError, text: str, meant: Meant | None) -> Verdict | None:
    """The verdict if it was HTCondor that ended the process, since it does not take the text."""
    stderr = error.stderr.rpartition(MARK)[2]
    refusal = _REFUSAL.search(stderr)
    if refusal is None:
        return None
    line = max(int(refusal[1]), 1)
    content = text.split("\n", line)[line - 1 : line]
    said = " ".join(_WHERE.sub("", _WARNINGS.sub("", _REFUSAL.sub("", stderr))).split())
    why = f"which says: {shown(said, 200)}" if said else f"which reads: {shown(''.join(content))}"
    params = _named("".join(content), meant)
    return Verdict(f"is refused by HTCondor's own parser at line {line}, {why}", line, params)


def _named(content: str, meant: Meant | None) -> tuple[str, ...]:
    """The parameter that a line sets."""
    name = _NAME.match(content)
    return (name[1],) if name and meant and name[1] in meant.values else ()


def ended(error: GuardError, format: str) -> Verdict:
    """The verdict on a text whose parser came to any other end."""
    name = _NAMES.get(format, f"the parser for {format.upper()}")
    return Verdict(f"cannot be judged: {name} {error.reason}")
