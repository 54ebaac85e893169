"""Every law on small random repositories: quickly always, deeply where there is time (`slow`)."""

import pytest
from hypothesis import given

from gitcfg.check.run import check
from gitcfg.model import Severity
from tests.properties import laws
from tests.properties.runs import DEEP, QUICK
from tests.properties.strategies import Files, valid, wild

LAWS = (
    laws.rendering_is_naive,
    laws.trails_are_naive,
    laws.last_step_is_the_value,
    laws.findings_are_naive,
    laws.nothing_is_said_twice,
    laws.order_changes_nothing,
)
every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)


@pytest.mark.slow
@every_law
@QUICK
@given(files=valid())
def test_valid_repositories(law: laws.Law, files: Files) -> None:
    law(files)


@pytest.mark.slow
@every_law
@QUICK
@given(files=wild())
def test_wild_repositories(law: laws.Law, files: Files) -> None:
    law(files)


@pytest.mark.slow
@every_law
@DEEP
@given(files=valid() | wild())
def test_many_repositories(law: laws.Law, files: Files) -> None:
    law(files)


@QUICK
@given(files=valid())
def test_valid_repositories_have_no_errors(files: Files) -> None:
    errors = [found for found in check(laws.compiled(files)) if found.severity is Severity.ERROR]
    assert errors == []


@QUICK
@given(files=wild())
def test_wild_repositories_are_well_formed(files: Files) -> None:
    """Wildness begins behind the loader: otherwise the laws above would judge empty repositories."""
    assert [found for found in check(laws.compiled(files)) if found.code < "GC2"] == []
