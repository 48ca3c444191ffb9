// The signs of classes, and probabilities as bars.
import { CLASSES, LEVELS, ORDERED, SIGNS } from "./classes.js"; // made by the server
import { h } from "./dom.js";

export const percent = (p) => `${Math.round(100 * p)}%`;
export const signed = (score) => (ORDERED ? `${score < 0 ? "−" : "+"}${Math.abs(score).toFixed(2)}` : percent(score));

export function chip(label) {
  const place = CLASSES.indexOf(label);
  return h("span", { class: `chip c${LEVELS[place]}`, "aria-hidden": "true" }, SIGNS[place]);
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

export const sentimentBars = (probabilities) => bars(CLASSES, probabilities, (place) => `c${LEVELS[place]}`);
