"""A generated repository has no errors, and a planted mistake gives its code and no other error."""

from datetime import date

import msgspec
import pytest

import gitcfg
from gitcfg.check.findings import CODES
from gitcfg.generate import MISTAKES, Operations, Options, Types, large, repository, small, stress
from gitcfg.model import Finding, Severity

replace = msgspec.structs.replace
SHAPES = {
    **{f"seed {seed}": Options(seed=seed) for seed in range(8)},
    "no nodes": Options(nodes=0),
    "no features": Options(features=0, conflicts=0, instances=0),
    "no parameters": Options(parameters=0, conflicts=0),
    "no memberships": Options(groups=0, memberships=0, conflicts=0),
    "all related": Options(features=40, depends=60, conflicts=8, groups=12, memberships=3, parameters=80),
    "all own": Options(identity=1, without=1, sets=0.5, set_files=1, overrides=9),
    "all formats": Options(files=6, types=Types(list=30, map=30, number=30, path=30)),
    "all composed": Options(operations=Operations(set=1, unset=30, null=30, default=30, fact=30)),
    "all instances": Options(instances=0.7, features=30, instance_count=4),
    "all types of secrets": Options(secrets=14, files=6, parameters=10),
    "one level": Options(include_depth=1),
    "small": small(),
    "stress": replace(stress(), nodes=20),
    "large": replace(large(), nodes=20),
}

ONLY_OF_CHANGES = {"GC405"}
"""What no repository has wrong, whatever stands in it: a push does (tests/gate/permitted_pushes.py)."""


def errors(options: Options) -> list[Finding]:
    """What is wrong with the repository."""
    with gitcfg.in_memory(repository(options), date(2026, 11, 20)) as fleet:
        return [finding for finding in fleet.all_findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("shape", SHAPES)
def test_repository_has_no_errors(shape: str) -> None:
    assert errors(SHAPES[shape]) == []


@pytest.mark.parametrize("code", MISTAKES)
@pytest.mark.parametrize("seed", [0, 1])
def test_mistake_gives_its_code_and_no_other_error(code: str, seed: int) -> None:
    assert {finding.code for finding in errors(Options(seed=seed, mistakes=(code,)))} == {code}


@pytest.mark.parametrize("hiding", [{"GC401", "GC402", "GC404", "GC406"}, {"GC101", "GC102", "GC106"}])
def test_all_mistakes_at_once_are_all_found(hiding: set[str]) -> None:
    """But for the format: of one that it cannot read, gitcfg reads nothing more. And beside files that
    cannot be read it does not say what rules lack: it does not know what nodes have."""
    together = tuple(code for code in MISTAKES if code not in {"GC104", *hiding})
    assert {finding.code for finding in errors(Options(mistakes=together))} == {*together}


def test_there_is_a_mistake_for_every_error_that_gitcfg_reports_of_a_repository() -> None:
    """GC405 is of a push: no repository has it by itself."""
    reported = {name for name, code in CODES.items() if code.severity is Severity.ERROR}
    assert set(MISTAKES) == reported - ONLY_OF_CHANGES
