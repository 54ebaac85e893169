"""What a check found, on its way to a forge."""

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from gitcfg.cli.session import write
from gitcfg.model import Finding


def write_report(form: str, findings: Iterable[Finding], prefix: str) -> None:
    """Write findings as `github`, `gitlab` or `sarif`; `prefix` is the repository's place in git's tree."""
    if form == "github":
        from gitcfg.cli.github import github_commands

        write("".join(f"{line}\n" for line in github_commands(findings, prefix)))
    elif form == "gitlab":
        from gitcfg.cli.codequality import quality_record

        write(_document(quality_record(findings, prefix)))
    else:
        from gitcfg.cli.sarif import sarif_record

        write(_document(sarif_record(findings, prefix)))
    sys.stdout.flush()  # a job's log has both streams: how it stands comes last


def _document(record: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"
