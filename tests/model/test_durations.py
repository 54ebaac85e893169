"""Lengths of time: what is written is read, and what is read is written alike."""

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.model.text import duration, seconds


@given(st.integers(0, 10**6), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_what_is_written_is_the_same_time(number: int, unit: str) -> None:
    found = seconds(f"{number}{unit}")
    assert found is not None
    assert seconds(duration(found)) == found


def test_as_one_writes_them() -> None:
    assert [duration(number) for number in (0, 0.5, 60, 90, 600, 7200, 604800)] == [
        *("0s", "500ms", "1m", "90s", "10m", "2h", "7d")
    ]
    assert [seconds(text) for text in ("", "m", "10", "-1s", "1.5h", "10 m", "١s")] == [None] * 7
