// One text: its verdict, its tree, the phrase that is looked at, and its words to change.
import { ask } from "./api.js";
import { chips, details, words as told } from "./bars.js";
import { TREES } from "./classes.js"; // made by the server
import { compare, table } from "./changes.js";
import { choice, debounced, h } from "./dom.js";
import { fileName, saveJson, savePng, saveSvg } from "./save.js";
import { SMALLEST, makeTree } from "./tree.js";

const WORD = /([\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*)/u;

// rewrite(text) hears of a changed word; say(error) of what went wrong.
export function makeCard({ rewrite, say }) {
  let text = "", before = null, drawing = null, view = "phrases", mode = "collapse", only = null, asked = 0, width = 0;
  let result = null;
  const collapsed = new Set();

  const title = h("h2");
  const verdict = h("div", { class: "verdict" });
  const canvas = h("div", { class: "canvas" });
  const detail = h("div", { class: "detail" });
  const words = h("div", { class: "words" });
  const changes = h("div", { class: "changes", role: "status" });
  const all = h("button", { type: "button", hidden: true, onclick: () => act(null, "all") }, "Show all");
  const modes = choice("A click on a phrase", { collapse: "Click: collapse", only: "Click: show only this" }, (value) => { mode = value; });
  const views = choice("View", { phrases: "Phrases", dependencies: "Dependencies" }, (value) => {
    view = value;
    modes.hidden = value !== "phrases";
    draw({ animate: true });
  });
  views.hidden = words.hidden = TREES; // a tree that is given has no other view, and its words stay
  const save = (what) => () => drawing && {
    SVG: () => saveSvg(drawing.svg, fileName(text)),
    PNG: () => savePng(drawing.svg, fileName(text)).catch(say),
    JSON: () => saveJson(result, fileName(text)),
  }[what]();
  const element = h("article", { class: "card" },
    h("header", {}, title, verdict),
    h("div", { class: "tools" }, views, modes, all,
      h("span", { class: "save" }, "Download", ["SVG", "PNG", "JSON"].map((what) =>
        h("button", { type: "button", onclick: save(what), "aria-label": `Download ${what}` }, what)))),
    h("div", { class: "body" }, canvas, detail), words, changes);
  const tree = makeTree(canvas, { show, act });

  new ResizeObserver(debounced(150, () => {
    if (drawing && canvas.clientWidth && Math.abs(canvas.clientWidth - width) > 30) draw({ animate: false });
  })).observe(canvas);

  async function draw({ animate }) {
    const turn = ++asked;
    width = canvas.clientWidth || 900;
    let found;
    try {
      const unjudged = view !== "phrases" && result?.text !== text; // only the picture of phrases brings a result
      const [answer, judged] = await Promise.all([ask("/api/draw", {
        text, view, only: view === "phrases" ? only : null, collapsed: view === "phrases" ? [...collapsed] : [],
        width: Math.max(100, Math.min(10_000, Math.round(width / SMALLEST))),
      }), unjudged ? ask("/api/predict", { text }) : null]);
      if (turn !== asked) return;
      drawing = answer;
      found = answer.result ?? judged;
    } catch (error) {
      if (turn !== asked) return;
      drawing = null; // what was drawn is gone: it is not saved, and what is wanted may be asked for again
      canvas.replaceChildren(h("p", { class: "problem" }, error.message));
      say(error);
      return;
    }
    result = found ?? result;
    tree.show(drawing, { animate });
    all.hidden = view !== "phrases" || (only === null && collapsed.size === 0);
    if (found) judge();
    say(null);
  }

  function judge() {
    title.textContent = TREES ? result.text : text;
    verdict.replaceChildren(...chips(result), told(result));
    if (before) {
      const found = compare(before, result);
      changes.replaceChildren(table(found));
      if (view === "phrases") tree.mark(new Set(found.changed.map((pair) => pair.place)));
    } else {
      changes.replaceChildren();
    }
    if (!TREES) spell();
  }

  function show(place, said) {
    if (view !== "phrases") {
      detail.replaceChildren(h("p", { class: "phrase" }, said), hint("Arrow keys go from word to word."));
      return;
    }
    const node = result.nodes[place];
    detail.replaceChildren(
      h("p", { class: "phrase" }, node.text),
      h("p", {}, ...chips(node), ` ${told(node)}`),
      details(node),
      hint("Arrow keys go through the tree; Enter selects, o isolates the phrase, Esc shows all."));
  }
  const hint = (said) => h("p", { class: "hint" }, said);

  function act(place, how) {
    if (view !== "phrases") return;
    if (how === "all") { only = null; collapsed.clear(); }
    else if (!result.nodes[place].children.length) return;
    else if (how === "only" || mode === "only") only = only === place ? null : place;
    else if (!collapsed.delete(place)) collapsed.add(place);
    draw({ animate: false });
  }

  function spell() {
    const parts = text.split(WORD); // odd places are words, the others what stands between them
    const fields = parts.map((part, place) => {
      if (place % 2 === 0) return part.trim() ? h("span", { class: "between" }, part.trim()) : "";
      const field = h("input", { value: part, "aria-label": `word: ${part}`, maxlength: 100, spellcheck: "false",
        onchange: () => change(parts.with(place, field.value.trim()).join("").replace(/\s+/g, " ").trim()),
        oninput: () => fit(field) });
      fit(field);
      return field;
    });
    words.replaceChildren(h("span", {}, "Change a word:"), ...fields,
      before ? h("button", { type: "button", onclick: () => { const back = before.text; rewrite(back); set(back); } }, "Undo") : "");
  }
  const fit = (field) => { field.style.width = `${Math.max(2, field.value.length) + 2.2}ch`; };

  function change(next) {
    if (!next || next === text) return;
    const was = result;
    rewrite(next);
    set(next, was);
  }

  function set(next, was = null) {
    if (next === text && drawing) return;
    [text, before, only] = [next, was, null];
    collapsed.clear();
    element.setAttribute("aria-label", next.slice(0, 200));
    draw({ animate: was === null });
  }

  return { element, set, get text() { return text; } };
}
