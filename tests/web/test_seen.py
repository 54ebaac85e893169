"""Pages as they are shown can be read and used by everybody: WCAG's level AA, where a program can tell."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests import browser
from tests.browser import Window
from tests.web.place import DOMAIN, DRIFTS, FAILS, FIRST, Place
from tests.web.seen import seen

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.running() as found:
        yield found


def targets(place: Place) -> tuple[str, ...]:
    last = place.commits[1]
    nodes = (f"{FAILS}{DOMAIN}", f"{DRIFTS}{DOMAIN}", "stranger.example.org")
    history = f"/nodes/{FIRST}{DOMAIN}/history"
    return (
        *("/", "/?q=nothing", "/commits", "/releases", "/search", "/search?q=condor", "/nowhere"),
        *(f"/nodes/{name}" for name in nodes),
        *(history, f"{history}?param=DAEMON_LIST", f"/commits/{last}"),
        f"/commits/{last}/files/groups/default.yaml",
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_read_and_use_the_pages(chromium: Any, place: Place, scheme: str, width: int) -> None:
    how = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    wrong = {}
    with Window(chromium, place.server.url, place.operate, **how) as window:
        for target in targets(place):
            window.page.goto(target)
            wrong[target] = seen(window.page)
            assert window.page.evaluate("document.documentElement.scrollWidth") <= width, target
        window.page.get_by_role("button", name="Log out").click()
        window.page.get_by_label("Token").fill("nobody's")
        window.page.keyboard.press("Enter")
        window.page.get_by_role("alert").wait_for()
        wrong["/login"] = seen(window.page)
    assert not {target: each for target, each in wrong.items() if each}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("document.querySelector('h1').style.color = '#999'", "too little contrast: Commits"),
        ("document.querySelector('h1').outerHTML = '<h3>Commits</h3>'", "h3 comes after"),
        ("document.querySelector('nav a').textContent = ''", "no name"),
        ("document.querySelector('.search label').remove()", "no label"),
        ("document.title = ''", "the title"),
        ("document.body.textContent = ''", "nothing is written"),
    ],
)
def test_what_is_wrong_is_seen(chromium: Any, place: Place, change: str, said: str) -> None:
    with Window(chromium, place.server.url, place.read) as window:
        window.page.goto("/commits")
        window.page.evaluate(change)
        assert any(said in one for one in seen(window.page))
