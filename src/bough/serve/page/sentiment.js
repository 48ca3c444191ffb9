// The view of predictions: what is typed, a card for each line.
import { CARD, EXAMPLES as SAMPLES, OWN, OWN_PAIRS, TREES } from "./classes.js"; // made by the server
import { legend } from "./bars.js";
import { makeCard } from "./card.js";
import { $, debounced, h, modelCard } from "./dom.js";
import { write } from "./link.js";

const MOST = 20; // lines drawn
const LONGEST = 120; // characters of an example on its button
const MINE = OWN && !OWN_PAIRS; // the user's model is shown here
const EXAMPLES = MINE ? (SAMPLES.length ? { "From its test examples": SAMPLES } : {}) : {
  Negation: ["The film is not good.", "It is neither funny nor charming.", "Nobody will regret seeing this."],
  Contrast: ["The plot is thin, but the acting is wonderful.", "Although it is slow, it is never dull."],
  Intensifiers: ["The jokes are good.\nThe jokes are really good.\nThe jokes are incredibly, wonderfully good.", "It is a rather bad and utterly pointless remake."],
  "Every day": ["didnt expect much, but wow 😍", "Returned it the same day.", "Zero problems after two years."],
};

export function start(given) {
  const field = $("texts");
  const note = $("sentiment-note");
  const cards = [];
  const lines = () => field.value.split("\n").map((line) => line.trim()).filter(Boolean);

  function say(error) {
    note.classList.toggle("problem", Boolean(error));
    const over = lines().length - MOST;
    note.textContent = error ? error.message : over > 0 ? `The first ${MOST} lines are drawn.` : "";
  }

  function show() {
    const wanted = lines().slice(0, MOST);
    while (cards.length > wanted.length) cards.pop().element.remove();
    wanted.forEach((line, place) => {
      if (!cards[place]) {
        cards[place] = makeCard({ say, rewrite: (text) => rewrite(place, text) });
        $("cards").append(cards[place].element);
      }
      cards[place].set(line);
    });
    field.rows = Math.max(2, Math.min(8, field.value.split("\n").length));
    write("sentiment", { text: field.value });
  }

  function rewrite(place, text) {
    const all = lines();
    all[place] = text;
    field.value = all.join("\n");
    write("sentiment", { text: field.value });
  }

  function put(text) {
    field.value = text;
    show();
  }

  $("legend").append(...legend());
  if (MINE) {
    document.title = `${OWN}: bough`;
    $("tab-sentiment").textContent = "Predict";
    $("sentiment-title").textContent = `What ${OWN} predicts, ${TREES ? "node by node" : "phrase by phrase"}`;
    if (CARD) $("model-card").append(modelCard(CARD));
    if (TREES) document.querySelector("label[for='texts']").textContent = "One or more trees, one per line, in brackets or as JSON";
  }
  $("sentiment-examples").append(...Object.entries(EXAMPLES).map(([kind, texts]) => h("div", {}, h("b", {}, kind),
    texts.map((text) => h("button", { type: "button", onclick: () => put(text) },
      text.includes("\n") ? "good, really good, incredibly good" : text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)))));
  $("sentiment-form").addEventListener("submit", (event) => { event.preventDefault(); show(); });
  field.addEventListener("input", debounced(350, show));
  field.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) show(); });
  field.value = given.text ?? (MINE ? SAMPLES[0] ?? "" : EXAMPLES.Contrast[0]);
  return { show };
}
