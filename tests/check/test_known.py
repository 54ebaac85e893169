"""What is new among findings: other words, or other nodes than it had been told of."""

from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.check.results import Known, unlike
from gitcfg.model import Finding, Origin, Severity

NODES = tuple("".join(part) for part in chain.from_iterable(combinations("abc", n) for n in range(4)))
findings = st.builds(
    Finding,
    st.sampled_from(["GC201", "GC502"]),
    st.sampled_from([("p",), ("q",)]),
    st.sampled_from(["It is wrong.", "It is odd."]),
    origins=st.sampled_from([(), (Origin("groups/g.yaml", 1, 1),)]),
    nodes=st.sampled_from(NODES).map(tuple),
    severity=st.sampled_from(Severity),
)


@given(st.lists(findings), st.lists(findings))
def test_a_finding_is_known_if_the_same_was_told_of_all_its_nodes(
    found: list[Finding], before: list[Finding]
) -> None:
    known = Known(before)
    for finding in found:
        alike = [each for each in before if _words(each) == _words(finding)]
        told = {node for each in alike for node in each.nodes}
        assert (finding in known) == (bool(alike) and set(finding.nodes) <= told)
    assert unlike(found, before) == tuple(finding for finding in found if finding not in known)
    assert unlike(found, found) == ()


def test_only_an_error_is_one() -> None:
    assert Finding("GC201", (), "It is wrong.").is_error
    assert not Finding("GC502", (), "It is odd.", severity=Severity.WARNING).is_error


def _words(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.subjects, finding.message
