// What another word did: the phrases around it, before and after.
import { h } from "./dom.js";
import { chips, score, signed, words } from "./bars.js";

// Pairs of a phrase now and the same phrase before (or undefined), by the words that stayed.
export function compare(before, after) {
  const [old, now] = [before.tokens, after.tokens];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const end = now.length - tail;
  const shift = old.length - now.length;
  const known = new Map(before.nodes.map((node) => [node.span.join(), node]));
  const pairs = after.nodes.map((node, place) => {
    const [low, high] = node.span;
    const was = [low >= end && end > head ? low + shift : low, high >= end ? high + shift : high];
    return { place, node, was: known.get(was.join()), touched: low <= head && high >= Math.max(end, head + 1) };
  });
  return { touched: pairs.filter((pair) => pair.touched), changed: pairs.filter((pair) => pair.was && words(pair.was) !== words(pair.node) && (!pair.node.label || pair.was.label !== pair.node.label)) };
}

export function table({ touched }) {
  const rows = [...touched].reverse().map(({ node, was }) => h("tr", {},
    h("td", {}, node.text),
    h("td", { class: "number" }, was ? [...chips(was), ` ${signed(score(was))}`] : "new"),
    h("td", { class: "number" }, ...chips(node), ` ${signed(score(node))}`),
    h("td", { class: "number" }, was ? delta(score(node) - score(was)) : "")));
  return h("table", {},
    h("thead", {}, h("tr", {}, ["The phrases around the word", "before", "now", "change"].map((text, place) =>
      h("th", { scope: "col", class: place ? "number" : null }, text)))),
    h("tbody", {}, rows));
}

const delta = (d) => (Math.abs(d) < 0.005 ? "=" : `${d > 0 ? "▲" : "▼"} ${signed(d)}`);
