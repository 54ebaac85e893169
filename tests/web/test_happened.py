"""Recent events, told shortly."""

from gitcfg.state.records import Event
from gitcfg.web.content import group_events


def test_what_is_alike_is_told_once_and_the_newest_first() -> None:
    events = [
        Event(number, float(number), "checkin", f"n{number}", {"outcome": "ok"}) for number in range(1, 5)
    ]
    events.append(Event(5, 5.0, "checkin", "n9", {"outcome": "failed"}))
    events.append(Event(6, 6.0, "commit", "", {"commit": "c"}))
    found = group_events(events, 10)
    assert [(one.kind, one.nodes, one.count, one.at) for one in found] == [
        ("commit", "", 0, 6.0),
        ("checkin", "n9", 1, 5.0),
        ("checkin", "n[1-4]", 4, 4.0),
    ]
    assert len(group_events(events, 2)) == 2
