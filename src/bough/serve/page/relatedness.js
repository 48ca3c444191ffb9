// The view of relatedness: two sentences, their score and both trees.
import { ask } from "./api.js";
import { bars, percent } from "./bars.js";
import { CARD, EXAMPLES as SAMPLES, OWN, OWN_PAIRS, PAIR_CLASSES, RATINGS } from "./classes.js"; // made by the server
import { $, debounced, h, modelCard } from "./dom.js";
import { write } from "./link.js";
import { SMALLEST, makeTree } from "./tree.js";

const EXAMPLES = OWN_PAIRS && SAMPLES.length ? Object.fromEntries(SAMPLES.map((pair, place) => [`Test pair ${place + 1}`, pair])) : {
  "The same": ["A man is playing a guitar", "A guitar is being played by a man"],
  Close: ["Two children are playing in the snow", "Some kids are having fun in winter"],
  Opposite: ["A woman is opening the window", "A woman is closing the window"],
  Far: ["A dog is running across a field", "Somebody is slicing an onion"],
};
const SICK = { 5: "5, the same", 1: "1, unrelated" }; // what the ends mean there; another scale has meanings of its own

export function start(given) {
  const [a, b, note] = [$("a"), $("b"), $("relatedness-note")];
  let asked = 0;

  async function show() {
    const turn = ++asked;
    const pair = { a: a.value.trim(), b: b.value.trim() };
    write("relatedness", pair);
    note.textContent = "";
    if (!pair.a || !pair.b) return;
    const panes = [pane("One", pair.a), pane("Another", pair.b)];
    try {
      const result = await ask("/api/relatedness", pair);
      if (turn !== asked) return;
      $("pair").replaceChildren(verdict(result), h("div", { class: "two" }, panes.map((one) => one.element)));
      await Promise.all(panes.map((one) => one.draw()));
    } catch (error) {
      if (turn !== asked) return;
      note.textContent = error.message;
      $("pair").replaceChildren();
    }
  }

  $("relatedness-examples").append(...Object.entries(EXAMPLES).map(([kind, [one, two]]) => h("div", {}, h("b", {}, kind),
    h("button", { type: "button", onclick: () => { [a.value, b.value] = [one, two]; show(); } }, `${one} / ${two}`))));
  $("relatedness-form").addEventListener("submit", (event) => { event.preventDefault(); show(); });
  for (const field of [a, b]) field.addEventListener("input", debounced(400, show));
  if (OWN_PAIRS) {
    document.title = `${OWN}: bough`;
    $("tab-relatedness").textContent = "Predict";
    $("relatedness-title").textContent = `What ${OWN} predicts for two sentences`;
    if (CARD) $("relatedness").append(modelCard(CARD));
  }
  const [one, two] = EXAMPLES.Close ?? Object.values(EXAMPLES)[0];
  [a.value, b.value] = [given.a ?? one, given.b ?? two];
  return { show };
}

function verdict(result) {
  if (PAIR_CLASSES.length) {
    return h("div", { class: "card result" }, h("div", { class: "score" },
      h("p", { class: "big" }, result.label, h("small", {}, ` ${percent(result.score)}`)),
      bars(PAIR_CLASSES, PAIR_CLASSES.map((name) => result.probabilities[name]), () => "rating")));
  }
  const backwards = Object.entries(result.probabilities).sort(([x], [y]) => y - x).map(([, p]) => p);
  const [low, high] = RATINGS;
  const names = backwards.map((_, place) => {
    const rating = String(Math.round(100 * (high - place / (backwards.length - 1) * (high - low))) / 100);
    return (low === 1 && high === 5 && SICK[rating]) || rating;
  });
  return h("div", { class: "card result" }, h("div", { class: "score" },
    h("p", { class: "big", "aria-label": `${result.score.toFixed(2)} of ${high}` }, result.score.toFixed(2), h("small", {}, ` of ${high}`)),
    backwards.length ? bars(names, backwards, () => "rating") : []));
}

function pane(name, text) {
  const canvas = h("div", { class: "canvas" });
  const said = h("p", { class: "hint" });
  const tree = makeTree(canvas, { show: (_, words) => { said.textContent = words; }, act: () => {} });
  const element = h("article", { class: "card result", "aria-label": `${name}: ${text.slice(0, 200)}` }, h("h2", {}, text), canvas, said);
  return {
    element,
    async draw() {
      const width = Math.max(100, Math.round((canvas.clientWidth || 480) / SMALLEST));
      tree.show(await ask("/api/draw", { text, view: "dependencies", sentences: false, width }), { animate: false });
    },
  };
}
