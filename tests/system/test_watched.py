"""Somebody looks on in a browser: a release on its way, and what a node makes of it."""

from pathlib import Path

import pytest

from tests import browser
from tests.browser import Window
from tests.system.pool import Pool

pytestmark = pytest.mark.slow


def test_a_release_is_watched(pool: Pool, tmp_path: Path) -> None:
    pool.start()
    with browser.running() as chromium, Window(chromium, pool.urls[1], pool.token) as window:
        page = window.page
        page.evaluate("document.body.dataset.same = 'yes'")
        gates = [node.daemon.block("check") for node in pool.nodes.values()]
        commit = pool.change(LABEL="watched", MEMORY="2048")
        release = page.locator("#releases article", has_text=commit[:10])
        release.get_by_text("stage 1 of 3").wait_for(timeout=60_000)
        page.screenshot(path=tmp_path / "release.png", full_page=True)
        for gate in gates:
            gate.unlink()
        release.get_by_text("done", exact=True).wait_for(timeout=60_000)
        row = page.locator("#commits tr", has_text=commit[:10])
        row.get_by_role("link", name="4", exact=True).wait_for(timeout=60_000)
        page.locator("footer").get_by_text(commit[:10]).wait_for(timeout=60_000)
        assert page.evaluate("document.body.dataset.same") == "yes"  # it was never loaded anew
        first, *_ = pool.order(commit)
        page.locator("table.nodes").get_by_role("link", name=first.name).click()
        window.heading(first.name)
        page.locator("#stands").get_by_text("ok").first.wait_for()
        page.locator("#stands").get_by_text(commit[:10]).first.wait_for()
        page.locator("#results summary").get_by_text("ok").first.wait_for()
        param = page.locator("#param-LABEL")
        param.locator("summary").click()
        assert "watched" in param.locator(".trail").inner_text()
        page.screenshot(path=tmp_path / "node.png", full_page=True)
        assert not window.wrong
