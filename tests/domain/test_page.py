"""docs/domains.md is true: every list of items in its tables is read, or refused, as it says."""

import json
import re
from pathlib import Path

import pytest

from gitcfg.domain import LONGEST_ITEM, MOST_ITEMS, DomainProblem, parse

PAGE = (Path(__file__).parents[2] / "docs/domains.md").read_text(encoding="utf-8")
ACCEPTED = re.findall(r"^\| `(\[.*\])` \| .* \| ([0-9]+) \|$", PAGE, re.MULTILINE)
REFUSED = re.findall(r"^\| `(\[.*\])` \| ([^|]*) \|$", PAGE, re.MULTILINE)
FORMS = re.findall(r"^\| (?:numbers|addresses|networks|dates) \| (.*) \| `(.*)` \|$", PAGE, re.MULTILINE)


def test_every_list_of_items_is_looked_at() -> None:
    assert len(ACCEPTED) + len(REFUSED) == len(re.findall(r"^\| `\[", PAGE, re.MULTILINE))
    assert min(len(ACCEPTED), len(REFUSED)) > 10
    assert len(FORMS) == 4


@pytest.mark.parametrize(("items", "size"), ACCEPTED)
def test_accepted(items: str, size: str) -> None:
    assert parse(json.loads(items)).size == int(size)


@pytest.mark.parametrize(("items", "message"), REFUSED)
def test_refused(items: str, message: str) -> None:
    with pytest.raises(DomainProblem) as told:
        parse(json.loads(items))
    assert told.value.message == message


@pytest.mark.parametrize(("forms", "written"), FORMS)
def test_forms_of_a_value(forms: str, written: str) -> None:
    _, slash, length = written.partition("/")
    values = parse(
        [f"{written} in /{length}" if slash else written], "integer" if written.isdecimal() else None
    )
    assert [str(value) for value in values] == [written]
    for form in re.findall("`([^`]*)`", forms):
        assert str(values.normal(form.strip('"'))) == written


def test_limits() -> None:
    assert f"at most {MOST_ITEMS:,} items, an item {LONGEST_ITEM:,} characters" in PAGE
