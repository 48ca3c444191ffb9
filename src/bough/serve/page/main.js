// Tabs, and the view that the address asks for.
import { OWN_PAIRS } from "./classes.js"; // made by the server
import { $ } from "./dom.js";
import * as link from "./link.js";
import * as nearest from "./nearest.js";
import * as relatedness from "./relatedness.js";
import * as sentiment from "./sentiment.js";

const given = link.read();
const views = { sentiment: sentiment.start(given), relatedness: relatedness.start(given), nearest: nearest.start(given) };
const names = Object.keys(views);
const tabs = names.map((name) => $(`tab-${name}`));

function open(name) {
  names.forEach((one, place) => {
    $(one).hidden = one !== name;
    tabs[place].setAttribute("aria-selected", String(one === name));
    tabs[place].tabIndex = one === name ? 0 : -1;
  });
  views[name].show();
}

tabs.forEach((tab, place) => {
  tab.addEventListener("click", () => open(names[place]));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (place + step + names.length) % names.length;
    tabs[next].focus();
    open(names[next]);
  });
});
window.addEventListener("hashchange", () => { if (link.read().view) location.reload(); }); // a link put into the address bar
document.querySelector(".skip").addEventListener("click", (event) => { // the address is taken
  event.preventDefault();
  $("main").focus();
});
link.copyButtons();
open(given.view in views ? given.view : OWN_PAIRS ? "relatedness" : "sentiment");
