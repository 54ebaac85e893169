"""Makes the pictures of the server's pages, docs/pictures/page-*.png: `python -m docs.pictures_pages`.

A pool of three hundred nodes is served for real, and looked at with Chromium: that takes about a minute.
"""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from docs.pictures_small import small
from tests import browser
from tests.browser import Window
from tests.web.fleet import DOMAIN, Fleet

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 1080


class Picture(NamedTuple):
    """A page, and how much of it is shown."""

    target: str
    height: int


def pictures(fleet: Fleet) -> dict[str, Picture]:
    """All of them by name."""
    return {
        "page-fleet": Picture("/", 960),
        "page-node": Picture(f"/nodes/{fleet.failed[0]}", 760),
        "page-why": Picture(f"/nodes/gpu05{DOMAIN}/history?param=START", 880),
    }


def taken(page: Any, picture: Picture) -> bytes:
    """A picture as PNG."""
    page.goto(picture.target)
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": picture.height}
    shot: bytes = page.screenshot(clip=clip, full_page=True)
    return small(shot)


def main() -> None:
    """Write all pictures."""
    with tempfile.TemporaryDirectory() as place, browser.running() as chromium:
        fleet = Fleet(Path(place))
        token = fleet.server.token("ada")
        size = {"width": WIDTH, "height": 900}
        with fleet.server, Window(chromium, fleet.server.url, token, viewport=size) as window:
            for name, picture in pictures(fleet).items():
                (FOLDER / f"{name}.png").write_bytes(taken(window.page, picture))


if __name__ == "__main__":
    main()
