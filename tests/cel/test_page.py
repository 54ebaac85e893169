"""What docs/expressions.md writes as expressions are some."""

import re
from pathlib import Path

import pytest

from gitcfg.cel import NODE_VARIABLES, compile_condition

PAGE = Path(__file__).parents[2] / "docs" / "expressions.md"
CODE = re.findall(
    r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
)
EXPRESSIONS = [
    text
    for text in CODE
    if re.search(r"^(?!has).*(\(\S.*\)| [<>=]=? )", text) and not re.search("[A-Z]{3}|\\.\\.\\.", text)
]


def test_there_are_some() -> None:
    assert len(EXPRESSIONS) > 12


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_it_is_an_expression(text: str) -> None:
    assert compile_condition(text, NODE_VARIABLES)
