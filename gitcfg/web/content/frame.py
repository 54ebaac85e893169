"""What surrounds every page: the visitor, and warnings."""

import msgspec


class Visitor(msgspec.Struct, frozen=True):
    """A logged-in visitor, by their token's name. `csrf` stands in every form of their pages."""

    name: str
    operates: bool
    csrf: str


class Frame(msgspec.Struct, frozen=True):
    """What surrounds every page. `warning` says what is wrong with the branch or the server.

    `invalid` is the branch's newest commit, where it does not count.
    """

    now: float
    visitor: Visitor | None = None
    accepted: str | None = None
    warning: str = ""
    invalid: str = ""
    sought: str = ""
