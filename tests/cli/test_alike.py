"""What nodes say alike, but for what is each one's own."""

import pytest

from gitcfg.cli.alike import alike, folded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Another is at work: a@b, process 4711.", "Another is at work: a@b, process PROCESS."),
        ("sshd[123]: pid=9 of n1", "sshd[PROCESS]: pid=PROCESS of NODE"),
        (
            "n1.example.org and n1, not n12, n1-a, x.n1 or n1.other",
            "NODE and NODE, not n12, n1-a, x.n1 or n1.other",
        ),
        ("It does not answer at 10.0.0.17: no.", "It does not answer at ADDRESS: no."),
        ("from fe80::1 and 2001:db8:0:0:0:0:0:9.", "from ADDRESS and ADDRESS."),
        (
            "line 12 at 12:30:45 of version 1.2.3, list[x] 7",
            "line 12 at 12:30:45 of version 1.2.3, list[x] 7",
        ),
    ],
)
def test_what_is_a_nodes_own_is_taken_out(text: str, expected: str) -> None:
    assert alike(text, "n1.example.org") == expected


def test_one_node_alone_is_told_as_it_is() -> None:
    said = [("n1", (("process 1 on n1", ""),)), ("n2", (("process 2 on n2", ""),)), ("n3", (("pid 3", ""),))]
    assert folded(said, trouble=True) == [
        ((("process PROCESS on NODE", ""),), ["n1", "n2"]),
        ((("pid 3", ""),), ["n3"]),
    ]
    assert [names for _, names in folded(said, trouble=False)] == [["n1"], ["n2"], ["n3"]]
