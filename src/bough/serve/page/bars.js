// What is predicted, in words and signs: a class, several labels or numbers; probabilities as bars.
import { CLASSES, KIND, LEVELS, ORDERED, SIGNS } from "./classes.js"; // made by the server
import { h } from "./dom.js";

export const percent = (p) => `${Math.round(100 * p)}%`;
export const number = (value) => String(Number(value.toPrecision(4)));
const SCALE = { 0: "the smallest number of a tree", 2: "in between", 4: "the largest" }; // by level

function chip(label) {
  const place = CLASSES.indexOf(label);
  return h("span", { class: `chip c${LEVELS[place]}`, "aria-hidden": "true" }, SIGNS[place]);
}

export function score(one) {
  if (KIND === "numbers") return Object.values(one.numbers)[0];
  return one.score ?? Math.max(...Object.values(one.probabilities));
}

export function signed(value) {
  if (KIND === "classes" && !ORDERED || KIND === "labels") return percent(value);
  return `${value < 0 ? "−" : "+"}${KIND === "numbers" ? number(Math.abs(value)) : Math.abs(value).toFixed(2)}`;
}

export function words(one) {
  if (KIND === "classes") return `${one.label}, ${signed(one.score)}`;
  if (KIND === "labels") return one.labels.join(", ") || "no label";
  const numbers = Object.entries(one.numbers);
  return numbers.map(([name, value]) => (numbers.length > 1 ? `${name} ${number(value)}` : number(value))).join(", ");
}

// The signs of what is predicted; numbers have none.
export const chips = (one) => (KIND === "numbers" ? [] : (one.labels ?? [one.label]).map(chip));

export const legend = () => (KIND === "numbers"
  ? Object.entries(SCALE).map(([level, text]) => h("span", {}, h("span", { class: `chip c${level}` }, SIGNS[level]), ` ${text}`))
  : CLASSES.map((label) => h("span", {}, chip(label), ` ${label}`)));

export function bars(names, probabilities, kinds) {
  return h("dl", { class: "bars" }, names.flatMap((name, place) => {
    const fill = h("div", { class: kinds(place) });
    fill.style.width = percent(probabilities[place]);
    return [
      h("dt", {}, name),
      h("dd", { "aria-hidden": "true" }, h("div", { class: "track" }, fill)),
      h("dd", { class: "percent" }, percent(probabilities[place])),
    ];
  }));
}

// All that is predicted for a text or a phrase.
export const details = (one) => (KIND === "numbers"
  ? h("table", {}, h("tbody", {}, Object.entries(one.numbers).map(([name, value]) =>
    h("tr", {}, h("td", {}, name), h("td", { class: "number" }, number(value))))))
  : bars(CLASSES, CLASSES.map((name) => one.probabilities[name]), (place) => `c${LEVELS[place]}`));
