"""What a sanitized repository may keep; a module of its own, so that command lines load little."""

from enum import StrEnum


class Keep(StrEnum):
    """What can be kept as it is."""

    PARAMETERS = "parameters"
    NUMBERS = "numbers"
