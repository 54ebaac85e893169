"""The child's requests: is HTCondor's parser there, and what does a parser say of a text?"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gitcfg.parsers.child.said import Meant
from gitcfg.sandbox import serve_many

_FORMATS = ("classad", "condor", "ini", "json", "toml", "yaml")
MODULES = {name: f"gitcfg.parsers.child.{name}" for name in _FORMATS}
"""Each has `judge(text, meant)`: what its parser has against a text."""


def answer(request: Mapping[str, Any]) -> Any:
    """Look for HTCondor's parser (`look`), say whether it reads a text as `written`, or judge a `text`."""
    if "written" in request:
        from gitcfg.parsers.child.written import as_written

        return as_written(request["written"])
    if "look" in request:
        return _look(request["look"])
    values = request["values"]
    meant = None if values is None else Meant(json.loads(values), request["separators"])
    return list(import_module(MODULES[request["format"]]).judge(request["text"], meant))


def _look(wanted: str) -> bool:
    from gitcfg.parsers.child.htcondor import htcondor
    from gitcfg.parsers.child.table import table

    return (htcondor() if wanted == "condor" else table()) is not None


if __name__ == "__main__":
    serve_many(answer)
