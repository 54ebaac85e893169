"""A real browser, without a screen, goes through the pages: with their script and without it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import browser
from tests.browser import Window
from tests.web.place import DOMAIN, DRIFTS, FAILS, SECOND, Place

pytestmark = pytest.mark.slow
SIZES = ((1280, 900), (400, 800))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.running() as found:
        yield found


@pytest.mark.parametrize("script", [True, False], ids=["with its script", "without"])
def test_one_goes_through_the_pages(chromium: Any, place: Place, script: bool) -> None:
    with Window(chromium, place.server.url, place.operate, java_script_enabled=script) as window:
        page = window.page
        page.get_by_role("link", name="1 reverted").click()
        rows = page.locator("table.nodes tbody tr")
        rows.nth(1).wait_for(state="detached")
        assert rows.count() == 1
        rows.get_by_role("link", name=FAILS + DOMAIN).click()
        window.heading(FAILS + DOMAIN)
        param = page.locator("#param-DAEMON_LIST")
        assert not param.locator(".trail").is_visible()
        param.locator("summary").click()
        assert param.locator(".trail").is_visible()
        param.locator(".where a").first.click()
        page.locator("ol.lines").wait_for()
        assert "#L" in page.url
        page.get_by_role("link", name=place.commits[1][:10]).first.click()
        window.heading("A new line <script>alert(1)</script>")
        page.get_by_role("searchbox").fill("daemon_list")
        page.get_by_role("searchbox").press("Enter")
        window.heading("Search")
        assert page.locator("mark").first.inner_text().lower() == "daemon_list"
        page.get_by_role("link", name="Releases").click()
        window.heading("Releases")
        page.get_by_text("Abort…").click()
        assert page.get_by_role("button", name="Abort").is_visible()
        page.get_by_role("button", name="Log out").click()
        window.heading("Log in")
        page.goto("/releases")
        window.heading("Log in")
        assert not window.wrong


def test_without_its_script_the_table_is_filtered_and_sorted_all_the_same(
    chromium: Any, place: Place
) -> None:
    with Window(chromium, place.server.url, place.read, java_script_enabled=False) as window:
        page = window.page
        page.get_by_label("Name or group").fill("gpu")
        page.get_by_role("button", name="Filter").click()
        page.get_by_text("4 nodes.").wait_for()
        page.get_by_role("columnheader", name="Node").get_by_role("link").click()
        page.locator("th[aria-sort=descending]").wait_for()
        names = page.locator("table.nodes tbody th").all_inner_texts()
        assert [name.partition(".")[0] for name in names] == ["gpu04", "gpu03", "gpu02", "gpu01"]
        page.get_by_text("As a node set").click()
        assert page.get_by_text(f"gpu[01-04]{DOMAIN}").is_visible()


def test_the_script_filters_while_one_types_and_shows_what_happens(chromium: Any, place: Place) -> None:
    with Window(chromium, place.server.url, place.read) as window:
        page = window.page
        page.evaluate("document.body.dataset.same = 'yes'")
        page.get_by_text("live", exact=False).last.wait_for()
        page.get_by_label("Name or group").press_sequentially("exec0")
        page.get_by_text("9 nodes.").wait_for()
        assert page.get_by_label("Name or group").evaluate("one => one === document.activeElement")
        assert "q=exec0" in page.url
        row = page.locator("tr", has_text=SECOND)
        assert "drifted" not in row.inner_text()
        drift = {"path": "/etc/motd", "kind": "missing", "diff": ""}
        runs = place.nodes[SECOND + DOMAIN].config().json()
        said = {name: runs[name] for name in ("commit", "digest")}
        place.nodes[SECOND + DOMAIN].checkin(running={**said, "since": 1.0}, drift=[drift])
        row.get_by_text("drifted").wait_for(timeout=20_000)
        place.nodes[SECOND + DOMAIN].checkin(running={**said, "since": 1.0})
        row.get_by_text("drifted").wait_for(state="detached", timeout=20_000)
        assert page.evaluate("document.body.dataset.same") == "yes"  # it was never loaded anew
        assert not window.wrong


def test_one_needs_no_mouse(chromium: Any, place: Place) -> None:
    with Window(chromium, place.server.url, place.operate) as window:
        page = window.page
        page.reload()
        page.keyboard.press("Tab")
        focus = page.locator(":focus")
        assert focus.inner_text() == "Skip to the content"
        assert focus.bounding_box()["x"] >= 0  # it can be seen now
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.locator("main :focus").count() == 1
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        seen = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
        assert len(seen) > 55  # the focus is caught nowhere


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_every_page_fits(
    chromium: Any, place: Place, tmp_path: Path, scheme: str, size: tuple[int, int]
) -> None:
    targets = {
        "fleet": "/",
        "node": f"/nodes/{FAILS}{DOMAIN}",
        "drift": f"/nodes/{DRIFTS}{DOMAIN}",
        "commit": f"/commits/{place.commits[1]}",
        "commits": "/commits",
        "releases": "/releases",
        "search": "/search?q=condor",
        "file": f"/commits/{place.commits[1]}/files/groups/default.yaml",
    }
    how = {"viewport": {"width": size[0], "height": size[1]}, "color_scheme": scheme}
    with Window(chromium, place.server.url, place.operate, **how) as window:
        page = window.page
        for name, target in targets.items():
            page.goto(target)
            page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], name
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
        assert not window.wrong


def test_nothing_on_a_page_can_load_or_run_anything_else(chromium: Any, place: Place) -> None:
    with Window(chromium, place.server.url, place.read) as window:
        page = window.page
        page.evaluate(
            """() => {
              window.ran = false;
              const script = document.createElement("script");
              script.textContent = "window.ran = true";
              document.body.append(script);
              document.body.insertAdjacentHTML("beforeend", "<img src=/healthz onerror='window.ran = true'>");
            }"""
        )
        page.wait_for_timeout(300)
        assert page.evaluate("window.ran") is False
        assert any("Content Security Policy" in said for said in window.wrong)


def test_who_follows_a_link_from_elsewhere_is_still_logged_in(chromium: Any, place: Place) -> None:
    with Window(chromium, place.server.url, place.read) as window:
        page = window.page
        there = place.server.url.replace("127.0.0.1", "localhost")  # for a browser that is another site
        page.goto(f"{there}/login")
        page.evaluate(
            "address => { const link = document.createElement('a'); link.href = address; link.id = 'leads';"
            " link.textContent = 'leads'; document.body.prepend(link); }",
            f"{place.server.url}/commits",
        )
        page.locator("#leads").click()
        window.heading("Commits")
