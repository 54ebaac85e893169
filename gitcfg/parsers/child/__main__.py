"""The child process that runs parsers: whether HTCondor's is installed, and a parser's verdict on a text."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gitcfg.parsers.child.data import Meant
from gitcfg.sandbox import serve_many

_HTCONDOR = ("classad", "condor")
"""Formats that HTCondor's own libraries read; the others are read by libraries for data."""


def answer(request: Mapping[str, Any]) -> Any:
    """Answer a request.

    `look`: whether HTCondor's parser works. `written`: whether HTCondor reads this text as it is written.
    Otherwise: the verdicts on a `text`.
    """
    if "written" in request:
        from gitcfg.parsers.child.condor import as_written

        return as_written(request["written"])
    if "look" in request:
        from gitcfg.parsers.child.htcondor import htcondor, table

        return (htcondor() if request["look"] == "condor" else table()) is not None
    values = request["values"]
    meant = None if values is None else Meant(json.loads(values), request["separators"])
    format = request["format"]
    module = "condor" if format in _HTCONDOR else "data"
    judge = getattr(import_module(f"gitcfg.parsers.child.{module}"), f"judge_{format}")
    return list(judge(request["text"], meant))


if __name__ == "__main__":
    serve_many(answer)
