"""Write a text as gitcfg's comment on a pull or merge request, or update the existing one.

    python comment.py github|forgejo|gitlab FILE

The environment has the settings: GITCFG_API (the API's address), GITCFG_PROJECT (OWNER/NAME, or GitLab's
number), GITCFG_NUMBER (of the request), GITCFG_TOKEN. GITCFG_MARK is a word that distinguishes this comment
from those of other repositories in the same project. GITCFG_ELSEWHERE is a sentence for a text that is too
long for a comment. The script needs only Python.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

BOTS = ("github-actions[bot]", "forgejo-actions", "gitea-actions")
SECONDS = 60


@dataclass(frozen=True)
class Forge:
    """The paths and methods of a forge for comments, its header for the token, and the longest comment."""

    all: str
    one: str
    change: str
    header: str
    credential: str
    longest: int


_ISSUES = "/repos/{project}/issues"
FORGES = {
    "github": Forge(
        f"{_ISSUES}/{{number}}/comments",
        f"{_ISSUES}/comments/{{id}}",
        "PATCH",
        "Authorization",
        "Bearer {}",
        60_000,
    ),
    "forgejo": Forge(
        f"{_ISSUES}/{{number}}/comments",
        f"{_ISSUES}/comments/{{id}}",
        "PATCH",
        "Authorization",
        "token {}",
        900_000,
    ),
    "gitlab": Forge(
        "/projects/{project}/merge_requests/{number}/notes",
        "/projects/{project}/merge_requests/{number}/notes/{id}",
        "PUT",
        "PRIVATE-TOKEN",
        "{}",
        900_000,
    ),
}


class Api:
    """A forge's API, with a token."""

    def __init__(self, forge: Forge, said: Mapping[str, str]) -> None:
        self.forge = forge
        self._base = said["GITCFG_API"].rstrip("/")
        self._names = {"project": said["GITCFG_PROJECT"], "number": said["GITCFG_NUMBER"]}
        self._token = said["GITCFG_TOKEN"]

    def ask(self, method: str, path: str, body: str | None = None, **names: object) -> Any:
        """Return the forge's answer. Raise HTTPError if it refuses."""
        data = None if body is None else json.dumps({"body": body}).encode()
        headers = {
            self.forge.header: self.forge.credential.format(self._token),
            "Content-Type": "application/json",
            "User-Agent": "gitcfg",
        }
        url = self._base + path.format(**self._names, **names)
        with urlopen(Request(url, data, headers, method=method), timeout=SECONDS) as answer:
            return json.load(answer)

    def comments(self) -> Iterator[dict[str, Any]]:
        """Yield all comments. Forgejo returns all of them for any page."""
        known: set[int] = set()
        page = 1
        while True:
            found = self.ask("GET", f"{self.forge.all}?per_page=100&page={page}")
            new = [comment for comment in found if comment["id"] not in known]
            if not new:
                return
            yield from new
            known.update(comment["id"] for comment in new)
            page += 1

    def user(self) -> str | None:
        """Return the owner of the token; None if the forge does not show it, as for tokens of workflows."""
        try:
            answer = self.ask("GET", "/user")
        except HTTPError:
            return None
        return str(answer.get("login") or answer.get("username"))


def put(api: Api, mark: str, text: str) -> str:
    """Change the comment that begins with the mark, or write one; return which."""
    user = api.user()
    for comment in api.comments():
        if comment["body"].startswith(mark) and _is_ours(comment, user):
            api.ask(api.forge.change, api.forge.one, mark + text, id=comment["id"])
            return "changed"
    api.ask("POST", api.forge.all, mark + text)
    return "written"


def _is_ours(comment: Mapping[str, Any], user: str | None) -> bool:
    """Return whether a comment is gitcfg's own: others may write the mark, too."""
    author = comment.get("user") or comment.get("author") or {}
    name = author.get("login") or author.get("username")
    return name == user if user is not None else name in BOTS or author.get("type") == "Bot"


def shortened(text: str, longest: int, elsewhere: str) -> str:
    """Return the text; if it is too long, only the part before its details."""
    if len(text.encode()) <= longest:
        return text
    head = text.partition("<details")[0].rstrip()
    return f"{head}\n\nThe details are too long for a comment. {elsewhere}\n"


def main(arguments: list[str], said: Mapping[str, str]) -> int:
    """Write the comment; return 1 if the forge refuses."""
    forge, file = FORGES[arguments[0]], Path(arguments[1])
    text = shortened(file.read_text(encoding="utf-8"), forge.longest, said.get("GITCFG_ELSEWHERE", ""))
    try:
        done = put(Api(forge, said), f"<!-- gitcfg {said.get('GITCFG_MARK', '.')} -->\n", text)
    except (HTTPError, URLError, TimeoutError) as error:
        print(f"error: Cannot write the comment: {error}.", file=sys.stderr)
        print("hint: Use a token that may write comments; tokens of forks may not.", file=sys.stderr)
        return 1
    print(f"The comment is {done}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
