"""Tabs: they may stand in a value's text or a comment, not between things."""


def first_tab(text: str, spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Line and column of the first tab outside the spans of values and outside comments."""
    done = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        between = text[done : max(done, start)]
        offset = done
        for line in between.split("\n"):
            tab = line.partition("#")[0].find("\t")
            if tab >= 0:
                return _place(text, offset + tab)
            offset += len(line) + 1
        done = max(done, end)
    return None


def _place(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
