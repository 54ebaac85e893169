"""What is found out over another cache is forgotten, unless it is spilled."""

from gitcfg.cache import Scratch
from tests.load.keeping import Dictionary


def test_only_what_is_spilled_is_kept() -> None:
    below = Dictionary()
    above = Scratch(below)
    above.put("one", {"a": b"1"})
    assert above.get("one", dict[str, bytes]) == {"a": b"1"}
    assert Scratch(below).get("one", dict[str, bytes]) is None
    above.spill()
    assert Scratch(below).get("one", dict[str, bytes]) == {"a": b"1"}
