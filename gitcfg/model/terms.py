"""What holds for some time, as overrides and holds do: how it stands to its last day."""

from datetime import date, timedelta

SOON = timedelta(days=7)
"""What ends in so many days or fewer ends soon."""


def is_over(until: date, today: date) -> bool:
    """Has the last day passed?"""
    return today > until


def in_words(until: date, today: date) -> str:
    """How long something applies, or since when it should not."""
    return f"overdue since {until}" if is_over(until, today) else f"until {until}"


def ends_soon(until: date, today: date) -> bool:
    """Is the last day near, and not over yet?"""
    return not is_over(until, today) and until - today <= SOON
