"""What can be told of a page only where it is shown: contrast, names, order of headings."""

from typing import Any

SEEN = """() => {
  const wrong = [];
  const numbers = color => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(one => one / 255)
      .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = one => {
    for (; one; one = one.parentElement) {
      const color = numbers(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const contrast = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
  };
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), one = walker.currentNode.parentElement;
    if (!text || !one.getClientRects().length || one.closest(".aside")) continue;
    texts += 1;
    const style = getComputedStyle(one), size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const found = contrast(numbers(style.color), ground(one));
    if (found < least) wrong.push(`${found.toFixed(2)} is too little contrast: ${text.slice(0, 40)}`);
  }
  if (!texts) wrong.push("nothing is written on it");
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map(one => Number(one.tagName[1]));
  levels.forEach((level, at) => {
    if (level > (at ? levels[at - 1] : 0) + 1) wrong.push(`h${level} comes after h${levels[at - 1]}`);
  });
  for (const one of document.querySelectorAll("a, button, summary")) {
    if (!one.textContent.trim() && !one.getAttribute("aria-label")) wrong.push(`no name: ${one.outerHTML}`);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select")) {
    if (!one.labels.length) wrong.push(`no label: ${one.outerHTML}`);
  }
  for (const one of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
    const ids = `${one.getAttribute("aria-describedby") || ""} ${one.getAttribute("aria-labelledby") || ""}`;
    for (const id of ids.split(" ").filter(Boolean)) {
      if (!document.getElementById(id)) wrong.push(`there is no ${id}`);
    }
  }
  for (const pre of document.querySelectorAll("pre")) {
    if (pre.scrollHeight > pre.clientHeight + 1 && pre.tabIndex < 0) wrong.push("no key scrolls a text");
  }
  if (!document.title.endsWith(" · gitcfg")) wrong.push(`the title is ${document.title}`);
  return wrong;
}"""


def seen(page: Any) -> list[str]:
    """What is wrong with a page as a browser shows it, all of it unfolded."""
    found: list[str] = page.evaluate(SEEN)
    return found
