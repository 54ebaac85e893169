"""Columns: about a square, and what lines join stands together."""

from gitcfg.pictures.picture import Edge, Relation, columns


def shares(*pairs: str) -> list[Edge]:
    return [Edge(Relation.SHARES, *pair) for pair in pairs]


def test_what_is_joined_comes_first_and_together() -> None:
    found = columns("abcdefgh", shares("fb", "hf", "gc"))
    assert [id_ for column in found for id_ in column] == list("bfhcgade")


def test_many_make_a_square_and_few_one_column() -> None:
    assert columns("abc", []) == (("a", "b", "c"),)
    ids = [f"{n:03}" for n in range(100)]
    found = columns(ids, [])
    assert [len(column) for column in found] == [27, 27, 27, 19]
    assert [id_ for column in found for id_ in column] == ids


def test_nothing_has_no_columns() -> None:
    assert columns((), ()) == ()
