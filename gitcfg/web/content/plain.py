"""What small pages say: a file, the form to log in, a problem."""

import msgspec


class FilePage(msgspec.Struct, frozen=True):
    """A file of the repository at a commit, line by line."""

    path: str
    commit: str
    lines: tuple[str, ...]


class LoginPage(msgspec.Struct, frozen=True):
    """Where one says one's token; `onward` is where one wanted to go."""

    csrf: str
    onward: str
    wrong: str = ""


class OnwardPage(msgspec.Struct, frozen=True):
    """Leads to a page of the server, as from one of its own."""

    address: str


class ProblemPage(msgspec.Struct, frozen=True):
    """What went wrong."""

    status: int
    title: str
    detail: str = ""
