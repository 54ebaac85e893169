"""The child's requests: is HTCondor's parser there, and what does a parser say of a text?"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gitcfg.guard import serve
from gitcfg.parsers.child.said import Meant

MODULES = {
    name: f"gitcfg.parsers.child.{name}" for name in ("condor", "condor_text", "ini", "json", "toml", "yaml")
}
"""Each has `judge(text, meant)`: what its parser has against a text."""


def answer(request: Mapping[str, Any]) -> Any:
    """Look for HTCondor's parser (`look`), or judge a `text` in a `format`."""
    if "look" in request:
        from gitcfg.parsers.child.htcondor import htcondor

        return htcondor() is not None
    values = request["values"]
    meant = None if values is None else Meant(json.loads(values), request["separators"])
    return list(import_module(MODULES[request["format"]]).judge(request["text"], meant))


if __name__ == "__main__":
    serve(answer)
