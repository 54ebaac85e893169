"""Answers judged by the OpenAPI description that the server serves."""

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from gitcfg.server.http import FILE
from tests.server.agent import Answer

DOCUMENT: dict[str, Any] = json.loads(FILE.read_text())


def resolved(said: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    while "$ref" in said:
        found: Any = DOCUMENT
        for part in said["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        said = found
    return said


@cache
def validator(text: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(text), "components": DOCUMENT["components"]})


def operation(method: str, target: str) -> dict[str, Any]:
    """What is described for a request."""
    path = target.partition("?")[0]
    plain = [one for one in DOCUMENT["paths"] if one == path]
    matching = [
        one for one in DOCUMENT["paths"] if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(one)), path)
    ]
    found: dict[str, Any] = DOCUMENT["paths"][(plain or matching)[0]][method.lower()]
    return found


def judge(method: str, target: str, answer: Answer) -> None:
    """AssertionError: the answer is not as it is described."""
    said = operation(method, target)["responses"]
    assert str(answer.status) in said, (target, answer.status, answer.body)
    response = resolved(said[str(answer.status)])
    if answer.status == 304:
        assert not answer.body
        return
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in response["content"], (target, kind)
    if kind.endswith("json"):
        problems = list(validator(json.dumps(response["content"][kind]["schema"])).iter_errors(answer.json()))
        assert not problems, (target, answer.body, problems[0].message)
