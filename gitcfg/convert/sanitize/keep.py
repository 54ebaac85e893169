"""What a sanitized repository may keep: apart from what sanitizes, as a command line reads it quickly."""

from enum import StrEnum


class Keep(StrEnum):
    """What can stay as it is."""

    PARAMETERS = "parameters"
    NUMBERS = "numbers"
