// A drawn tree that answers to mouse, touch and keyboard.
import { words } from "./bars.js";

export const SMALLEST = 0.8; // of its size, to fit the page; beyond that it scrolls

// canvas: where it stands. hooks.show(place) hears what is looked at, hooks.act(place, how) a click or a key.
export function makeTree(canvas, hooks) {
  let nodes = new Map(); // place -> element, in the order drawn
  let result = null;
  let parents = [];
  let active = null;

  canvas.addEventListener("pointerover", (event) => look(placeOf(event.target)));
  canvas.addEventListener("focusin", (event) => look(placeOf(event.target)));
  canvas.addEventListener("click", (event) => {
    const place = placeOf(event.target);
    if (place !== null) hooks.act(place, "click");
  });
  canvas.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    if (place === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") hooks.act(place, "click");
    else if (event.key === "o") hooks.act(place, "only");
    else if (event.key === "Escape") hooks.act(place, "all");
    else if (!move(place, event.key)) return;
    event.preventDefault();
  });

  function placeOf(target) {
    const node = target.closest?.("[data-node]");
    return node ? Number(node.dataset.node) : null;
  }

  function look(place, outlined = true) {
    if (place === null || !nodes.has(place)) return;
    active = place;
    const inside = new Set(outlined ? below(place) : []);
    for (const [one, element] of nodes) {
      element.classList.toggle("active", outlined && one === place);
      element.classList.toggle("inside", inside.has(one));
      element.setAttribute("tabindex", one === place ? "0" : "-1");
    }
    hooks.show(place, nodes.get(place).dataset.said);
  }

  function below(place) {
    return result ? result.nodes[place].children.flatMap((child) => [child, ...below(child)]) : [];
  }

  function move(place, key) {
    const order = [...nodes.keys()];
    const at = order.indexOf(place);
    const drawnChildren = result ? result.nodes[place].children.filter((child) => nodes.has(child)) : [];
    const to = {
      ArrowUp: result ? parents[place] : order[at - 1],
      ArrowDown: result ? drawnChildren[0] : order[at + 1],
      ArrowLeft: order[at - 1], ArrowRight: order[at + 1], Home: order[0], End: order.at(-1),
    };
    if (!(key in to)) return false;
    if (nodes.has(to[key])) nodes.get(to[key]).focus();
    return true;
  }

  function label(place, element) {
    const title = element.querySelector("title");
    element.dataset.said = title.textContent;
    if (result) {
      const node = result.nodes[place];
      element.setAttribute("aria-label", `${node.text}: ${words(node)}`);
      if (node.children.length) element.setAttribute("aria-expanded", String(!element.classList.contains("folded")));
    } else {
      element.setAttribute("aria-label", title.textContent);
    }
    title.remove(); // the panel beside it says more than a tooltip
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", "-1");
  }

  function rise(svg) {
    const heights = new Map();
    for (const place of [...nodes.keys()].reverse()) {
      const children = result.nodes[place].children.filter((child) => heights.has(child));
      heights.set(place, children.length ? 1 + Math.max(...children.map((child) => heights.get(child))) : 0);
      nodes.get(place).style.animationDelay = `${70 * heights.get(place)}ms`;
    }
    svg.classList.add("rising");
  }

  return {
    get active() { return active; },
    show(drawing, { animate }) {
      const focused = canvas.contains(document.activeElement) ? active : null;
      const svg = document.importNode(
        new DOMParser().parseFromString(drawing.svg, "image/svg+xml").documentElement, true);
      svg.querySelector("title").remove();
      svg.setAttribute("role", "group");
      svg.style.minWidth = `${SMALLEST * Number(svg.getAttribute("width"))}px`;
      result = drawing.result;
      parents = [];
      result?.nodes.forEach((node, place) => node.children.forEach((child) => { parents[child] = place; }));
      nodes = new Map([...svg.querySelectorAll("[data-node]")].map((node) => [Number(node.dataset.node), node]));
      for (const [place, element] of nodes) label(place, element);
      if (animate && result) rise(svg);
      canvas.replaceChildren(svg);
      const first = nodes.has(active) ? active : nodes.keys().next().value;
      look(first, focused !== null);
      if (focused !== null) nodes.get(first).focus();
    },
    mark(places) {
      for (const [place, element] of nodes) element.classList.toggle("changed", places.has(place));
    },
  };
}
