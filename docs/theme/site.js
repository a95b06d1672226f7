/* The search field, the copy buttons and the menu of a phone. */
"use strict";

/* Entries are [title, address, text, is a public name]. Exact names come first, then names that
   begin with what was typed, names that contain it, headings, and texts that have every word. */
function rank(query, entries, most = 20) {
  const wanted = query.trim().replace(/^(mindspore|mycel|ms)\./, "");
  const low = wanted.toLowerCase();
  const words = low.split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const entry of entries) {
    const score = scoreOf(entry, wanted, low, words);
    if (score < Infinity) found.push([score, entry[0].length, entry]);
  }
  found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2][0] < b[2][0] ? -1 : 1));
  return found.slice(0, most).map(([, , entry]) => entry);
}

function scoreOf([title, , text, isName], wanted, low, words) {
  const name = (isName ? title.replace(/^mycel\./, "") : title).toLowerCase();
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (isName) {
    const otherCase = title.endsWith(wanted) ? 0 : 0.5;
    if (name === low) return otherCase;
    if (last === low) return 1 + otherCase;
    if (name.startsWith(low) || last.startsWith(low)) return 3;
    if (name.includes(low)) return 4;
  } else if (name === low) {
    return 2;
  } else if (words.every((word) => name.includes(word))) {
    return title.includes(" · ") ? 3.5 : 2.5;
  }
  const body = name + " " + text.toLowerCase();
  return words.every((word) => body.includes(word)) ? (isName ? 5 : 6) : Infinity;
}

/* What a session shows behind its prompts, or all of a block that is none. */
function runnable(text) {
  if (!/^>>> /m.test(text)) return text;
  const typed = text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
  return typed.map((line) => line.slice(4)).join("\n") + "\n";
}

function addCopyButtons() {
  if (!navigator.clipboard) return; // browsers have none for pages that come over plain HTTP
  for (const block of document.querySelectorAll(".codehilite")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(runnable(block.querySelector("pre").textContent));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
}

function addMenu() {
  const button = document.querySelector(".menu");
  button.addEventListener("click", () => {
    const open = document.getElementById("pages").classList.toggle("open");
    button.setAttribute("aria-expanded", open);
  });
}

function addSearch() {
  const base = document.body.dataset.base;
  const input = document.querySelector(".search input");
  const list = document.querySelector(".found");
  let chosen = 0;

  function choose(next) {
    const links = list.querySelectorAll("a");
    chosen = Math.max(0, Math.min(next, links.length - 1));
    links.forEach((link, place) => link.classList.toggle("chosen", place === chosen));
    links[chosen]?.scrollIntoView({ block: "nearest" });
  }

  function show() {
    const found = rank(input.value, window.searchEntries || []);
    list.replaceChildren(...found.map(([title, address, text]) => {
      const link = document.createElement("a");
      link.href = base + "/" + address;
      const said = document.createElement("small");
      said.textContent = text.length > 110 ? text.slice(0, 110) + "…" : text;
      link.append(title, said);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    if (!window.searchEntries) list.textContent = "Loading…";
    else if (!found.length) list.textContent = "Nothing has this name or these words.";
    list.hidden = !input.value.trim();
    choose(0);
  }

  /* A script, because a page that is opened as a file may not fetch. */
  function load() {
    if (document.getElementById("entries")) return;
    const script = document.createElement("script");
    script.id = "entries";
    script.src = base + "/search.js";
    script.onload = show;
    document.head.append(script);
  }

  input.addEventListener("focus", load);
  input.addEventListener("input", () => {
    load();
    show();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Enter") {
      list.querySelector("a.chosen")?.click();
    } else if (event.key === "Escape") {
      list.hidden = true;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) list.hidden = true;
  });
}

if (typeof document === "undefined") {
  module.exports = { rank, runnable };
} else {
  addCopyButtons();
  addMenu();
  addSearch();
}
