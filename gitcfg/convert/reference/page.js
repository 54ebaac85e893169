
"use strict";
(() => {
  const label = document.querySelector(".filter");
  const box = label.querySelector("input");
  const none = document.querySelector(".none");
  const folds = [...document.querySelectorAll("nav details")];
  const opened = folds.map(fold => fold.open);
  const entries = [...document.querySelectorAll("nav li")].map(item => {
    const article = document.getElementById(item.firstElementChild.getAttribute("href").slice(1));
    const about = article.querySelector(".about");
    const text = item.textContent + "\n" + (about ? about.textContent : "");
    return { item, article, text: text.toLowerCase() };
  });
  const chapters = [...document.querySelectorAll(".chapter")];
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const entry of entries) {
      const fits = words.every(word => entry.text.includes(word));
      entry.item.hidden = entry.article.hidden = !fits;
      found += fits;
    }
    document.body.classList.toggle("filtered", words.length > 0);
    none.hidden = found > 0;
    folds.forEach((fold, at) => {
      fold.hidden = !fold.querySelector("li:not([hidden])");
      fold.open = words.length > 0 || opened[at];
    });
    for (const chapter of chapters) chapter.hidden = !chapter.querySelector("article:not([hidden])");
  };
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.closest("[hidden]")) {
      box.value = "";
      filter();
      target.scrollIntoView();
    }
  };
  label.hidden = false;
  box.addEventListener("input", filter);
  addEventListener("hashchange", reveal);
  filter();
})();
