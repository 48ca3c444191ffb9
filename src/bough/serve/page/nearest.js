// The view of neighbours: a corpus is searched piece by piece, so that one sees how far it is and can stop.
import { ask } from "./api.js";
import { RATINGS } from "./classes.js"; // made by the server
import { $, h } from "./dom.js";
import { write } from "./link.js";

const [LINES, LONGEST, PIECE, SHOWN] = [50_000, 1000, 1000, 20];

export function start(given) {
  const [query, corpus, note, progress, stop] = ["query", "corpus", "nearest-note", "progress", "stop"].map($);
  let file = null; // the lines of an opened file; else those of the field
  let running = null;

  async function search() {
    const lines = (file ?? corpus.value.split("\n")).map((line) => line.trim());
    while (lines.length && !lines.at(-1)) lines.pop();
    const wrong = problem(query.value.trim(), lines);
    say(wrong ?? "", Boolean(wrong));
    if (wrong) return;
    remember();
    running?.abort();
    const mine = running = new AbortController();
    const k = Math.max(1, Math.min(50, Number($("k").value) || 5));
    const started = performance.now();
    show(true);
    try {
      const best = await pieces(lines, query.value.trim(), k, mine.signal);
      $("found").replaceChildren(ranking(best));
      say(`${lines.length.toLocaleString("en")} lines in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      if (running === mine) say(error.name === "AbortError" ? "Stopped." : error.message, error.name !== "AbortError");
    } finally {
      if (running === mine) show(false);
    }
  }

  async function pieces(lines, asked, k, signal) {
    let best = [];
    progress.max = lines.length;
    progress.removeAttribute("value"); // moves to and fro until the first piece is done
    say("Searching; the first search loads the model, which takes some seconds.");
    for (let low = 0; low < lines.length; low += PIECE) {
      if (low) {
        progress.value = low;
        say(`${low.toLocaleString("en")} of ${lines.length.toLocaleString("en")} lines`);
      }
      const piece = lines.slice(low, low + PIECE);
      if (!piece.some(Boolean)) continue;
      const found = await ask("/api/nearest", { query: asked, corpus: piece, k }, signal);
      best.push(...found.nearest.map((one) => ({ ...one, line: one.line + low })));
      best = best.sort((x, y) => y.score - x.score).slice(0, k);
    }
    return best;
  }

  function remember() {
    write("nearest", { query: query.value, k: $("k").value, ...(file || !corpus.value ? {} : { corpus: corpus.value }) });
  }

  function say(text, wrong = false) {
    note.textContent = text;
    note.classList.toggle("problem", wrong);
  }

  function show(busy) {
    progress.hidden = stop.hidden = !busy;
  }

  async function open(chosen) {
    const lines = (await chosen.text()).split(/\r\n|\n|\r/);
    file = lines;
    corpus.value = lines.slice(0, SHOWN).join("\n") + (lines.length > SHOWN ? "\n…" : "");
    corpus.readOnly = true;
    $("close-file").hidden = false;
    say(`${chosen.name}: ${lines.filter((line) => line.trim()).length.toLocaleString("en")} sentences`);
  }

  function close() {
    file = null;
    corpus.readOnly = false;
    corpus.value = "";
    $("file").value = "";
    $("close-file").hidden = true;
    say("");
  }

  $("nearest-form").addEventListener("submit", (event) => { event.preventDefault(); search(); });
  $("file").addEventListener("change", (event) => { if (event.target.files[0]) open(event.target.files[0]).catch((error) => say(error.message, true)); });
  $("close-file").addEventListener("click", close);
  stop.addEventListener("click", () => running?.abort());
  query.value = given.query ?? "two men are playing guitar";
  if (given.corpus !== undefined) corpus.value = given.corpus;
  else fetch("/assets/sentences.txt").then((answer) => answer.text()).then((text) => { corpus.value ||= text.trim(); }).catch(() => {});
  if (given.k) $("k").value = given.k;
  return {
    show() {
      if (given.corpus && !$("found").firstChild) search();
      else remember();
    },
  };
}

function problem(query, lines) {
  if (!query) return "What to look for?";
  if (!lines.some(Boolean)) return "No sentence to search in; one a line.";
  if (lines.length > LINES) return `${lines.length.toLocaleString("en")} lines; at most 50,000.`;
  const long = lines.findIndex((line) => line.length > LONGEST);
  return long < 0 ? null : `Line ${long + 1} has ${lines[long].length.toLocaleString("en")} characters; at most 1,000.`;
}

function ranking(found) {
  const rows = found.map((one) => h("tr", {}, h("td", { class: "number" }, one.score.toFixed(2)), h("td", {}, one.text), h("td", { class: "number" }, String(one.line))));
  return h("article", { class: "card result" }, h("h2", {}, "Nearest"), h("p", { class: "hint" }, `By relatedness, ${RATINGS[0]} to ${RATINGS[1]}.`),
    h("table", {}, h("thead", {}, h("tr", {}, ["score", "sentence", "line"].map((text) => h("th", { scope: "col", class: text === "sentence" ? null : "number" }, text)))), h("tbody", {}, rows)));
}
