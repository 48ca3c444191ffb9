// The signs of classes, and probabilities as bars.
import { CLASSES, SIGNS } from "./classes.js"; // made by the server
import { h } from "./dom.js";

export const percent = (p) => `${Math.round(100 * p)}%`;
export const signed = (score) => `${score < 0 ? "−" : "+"}${Math.abs(score).toFixed(2)}`;

export function chip(label) {
  const level = CLASSES.indexOf(label);
  return h("span", { class: `chip c${level}`, "aria-hidden": "true" }, SIGNS[level]);
}

export const legend = () => CLASSES.map((label) => h("span", {}, chip(label), ` ${label}`));

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

export const sentimentBars = (probabilities) => bars(CLASSES, probabilities, (place) => `c${place}`);
