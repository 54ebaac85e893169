"""Histories with merges, and what each commit of them is charged with, as data.

A line a commit: its name (with `*` it was accepted before), who made it, its parents, and what it says: of
the parameters A and B a value, of a node set its members. ann may change all of it, cat only A, bob nothing.
"""

from textwrap import dedent

import msgspec


class Commit(msgspec.Struct, frozen=True):
    """A commit by the numbers of its parents. `says` has a value for each key that is there."""

    who: str
    parents: tuple[int, ...]
    says: dict[str, str]
    accepted: bool = False


History = tuple[Commit, ...]
MAY = {"ann": {"A", "B", "n1", "n2", "*"}, "cat": {"A"}, "bob": set[str]()}


def history(text: str) -> tuple[dict[str, int], History]:
    """The commits by name, and what they are."""
    names: dict[str, int] = {}
    commits: list[Commit] = []
    for line in dedent(text).strip().splitlines():
        name, who, parents, *said = line.split()
        says = {key: value or "in" for key, _, value in (word.partition("=") for word in said)}
        ends = tuple(names[parent] for parent in parents.split(",")) if parents != "-" else ()
        names[name.strip("*")] = len(commits)
        commits.append(Commit(who, ends, says, name.endswith("*")))
    return names, tuple(commits)


CASES = {
    "a topic of somebody who may": (
        """
        base  ann -          A=1
        main  ann base       A=1 B=1
        topic ann base       A=2
        merge bob main,topic A=2 B=1
        """,
        "",
    ),
    "the old version of it": (
        """
        base  ann -          A=1
        topic ann base       A=2
        empty bob base       A=1
        merge bob empty,topic A=1
        """,
        "merge A",
    ),
    "the old version in a merge of three": (
        """
        base  ann -          A=1
        main  ann base       A=2
        topic ann base       A=3
        empty bob base       A=1
        merge bob main,topic,empty A=1
        """,
        "merge A",
    ),
    "the old version by two merges": (
        """
        base  ann -          A=1
        main  ann base       A=2
        topic ann base       A=3
        empty bob base       A=1
        one   bob empty,topic A=1
        two   bob one,main   A=1
        """,
        "one A, two A",
    ),
    "the old version for the new side of a merge": (
        """
        base  ann -          A=1
        new   ann base       A=2
        newer ann new        A=3
        empty bob base       A=1
        one   bob empty,new  A=2
        two   bob newer,one  A=2
        """,
        "two A",
    ),
    "what no parent has": (
        """
        base  ann -          A=1
        one   ann base       A=2
        two   ann base       A=3
        merge bob one,two    A=4
        """,
        "merge A",
    ),
    "what both parents had, and have no more": (
        """
        base  ann -          A=1
        one   ann base       A=4
        uno   ann one        A=2
        two   ann base       A=4
        due   ann two        A=3
        merge bob uno,due    A=4
        """,
        "merge A",
    ),
    "either of two versions of those who may": (
        """
        base  ann -          A=1
        one   ann base       A=2
        two   ann base       A=3
        ours  bob one,two    A=2
        theirs bob one,two   A=3
        """,
        "",
    ),
    "a version that was set, and taken back": (
        """
        base  ann -          A=1
        main  ann base       A=2
        one   ann base       A=3
        two   ann one        A=1
        merge bob main,two   A=1
        """,
        "",
    ),
    "a version that was set, taken back and set again": (
        """
        base  ann -          A=1
        one   ann base       A=2
        two   ann one        A=1
        three ann two        A=2
        empty bob base       A=1
        merge bob empty,three A=2
        evil  bob empty,three A=1
        """,
        "evil A",
    ),
    "what is gone is a version as well": (
        """
        base  ann -          A=1 B=1
        topic ann base       B=1
        empty bob base       A=1 B=1
        merge bob empty,topic B=1
        evil  bob empty,topic
        """,
        "evil B",
    ),
    "a topic that is a merge": (
        """
        base  ann -          A=1
        one   ann base       A=2
        two   cat base       A=1
        three cat two,one    A=2
        empty bob base       A=1
        merge bob empty,three A=2
        """,
        "",
    ),
    "a merge of somebody who may take the old version": (
        """
        base  ann -          A=1
        one   ann base       A=2
        empty bob base       A=1
        two   cat empty,one  A=1
        merge bob one,two    A=1
        """,
        "",
    ),
    "a commit that is not allowed itself": (
        """
        base  ann -          A=1 B=1
        topic cat base       A=2 B=2
        empty bob base       A=1 B=1
        merge bob empty,topic A=2 B=1
        """,
        "topic B, merge A B",
    ),
    "what was accepted": (
        """
        base* bob -          A=1
        main* bob base       A=2
        topic bob base       A=1
        merge bob topic,main A=2
        """,
        "",
    ),
    "what was accepted and is the older": (
        """
        base* ann -          A=1
        one*  ann base       A=2
        two*  ann one        A=3
        topic bob base       A=1
        merge bob topic,one  A=2
        evil  bob two,merge  A=2
        """,
        "evil A",
    ),
    "merges that cross": (
        """
        base  ann -          A=1 B=1
        one   ann base       A=2 B=1
        two   ann base       A=1 B=2
        uno   bob one,two    A=2 B=2
        due   bob two,one    A=2 B=2
        three ann uno        A=3 B=2
        merge bob three,due  A=3 B=2
        evil  bob three,due  A=2 B=2
        """,
        "evil A",
    ),
    "histories that have nothing in common": (
        """
        base  ann -          A=1
        other ann -          A=2
        evil  bob -          A=1
        one   bob base,other A=2
        two   bob base,other A=1
        three bob other,evil A=1
        """,
        "evil A *, three A",
    ),
    "members of a set that both sides add": (
        """
        base  ann -          A=1
        one   ann base       A=1 n1
        two   ann base       A=1 n2
        merge bob one,two    A=1 n1 n2
        evil  bob one,two    A=1 n1
        """,
        "evil n2",
    ),
}
"""What is charged that its signer may not change, by commit."""
