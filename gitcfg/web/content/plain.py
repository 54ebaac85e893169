"""The contents of small pages: a file, the form to log in, a problem."""

import msgspec


class FilePage(msgspec.Struct, frozen=True):
    """A file of the repository at a commit, line by line."""

    path: str
    commit: str
    lines: tuple[str, ...]


class LoginPage(msgspec.Struct, frozen=True):
    """The form for a token; `onward` is where the visitor goes then."""

    csrf: str
    onward: str
    wrong: str = ""


class RedirectPage(msgspec.Struct, frozen=True):
    """A page that leads to another page of the server, as its own links do."""

    address: str


class ProblemPage(msgspec.Struct, frozen=True):
    """What went wrong."""

    status: int
    title: str
    detail: str = ""
