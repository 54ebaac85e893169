"""What nodes say alike, but for what is each one's own."""

import pytest

from gitcfg.cli.deploy.output import fold_messages, generalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Another is at work: a@b, process 4711.", "Another is at work: a@b, process PROCESS."),
        ("sshd[123]: pid=9 of n1", "sshd[PROCESS]: pid=PROCESS of NODE"),
        (
            "n1.example.org and n1, n1-a, x.n1 or n1.other, not n12, xn1 or 4n1",
            "NODE and NODE, NODE-a, x.NODE or NODE.other, not n12, xn1 or 4n1",
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
    assert generalize(text, "n1.example.org") == expected


@pytest.mark.parametrize(
    ("node", "text", "expected"),
    [
        (
            "n1",
            "poold-n1, poold_n1@x and /run/n1.pid failed",
            "poold-NODE, poold_NODE@x and /run/NODE.pid failed",
        ),
        ("n1", "n10, en1, n1x and \u00e4n1", "n10, en1, n1x and \u00e4n1"),
        ("web", "web-server and webserver", "NODE-server and webserver"),
        ("in", "log-in, sign_in, in.f; in", "log-in, sign_in, in.f; NODE"),
        ("7", "version 1.7, a-7; on 7", "version 1.7, a-7; on NODE"),
        ("a", "a-b, x.a, on a.", "a-b, x.a, on NODE."),
        ("n1.a.b", "x-n1.a.b.conf", "x-NODE.conf"),
    ],
)
def test_a_name_counts_within_a_word_where_it_can_mean_nothing_else(
    node: str, text: str, expected: str
) -> None:
    assert generalize(text, node) == expected


def test_what_differs_by_names_within_words_is_told_together() -> None:
    said = [(name, ((f"`systemctl restart poold-{name}` failed.", ""),)) for name in ("n1", "n2")]
    assert fold_messages(said, trouble=True) == [
        ((("`systemctl restart poold-NODE` failed.", ""),), ["n1", "n2"])
    ]


def test_one_node_alone_is_told_as_it_is() -> None:
    said = [("n1", (("process 1 on n1", ""),)), ("n2", (("process 2 on n2", ""),)), ("n3", (("pid 3", ""),))]
    assert fold_messages(said, trouble=True) == [
        ((("process PROCESS on NODE", ""),), ["n1", "n2"]),
        ((("pid 3", ""),), ["n3"]),
    ]
    assert [names for _, names in fold_messages(said, trouble=False)] == [["n1"], ["n2"], ["n3"]]
