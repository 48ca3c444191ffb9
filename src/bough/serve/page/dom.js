// Elements without markup in strings: whatever a person typed is only ever a text node.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat());
  return element;
}

export const modelCard = (text) => h("details", { class: "card result" }, h("summary", {}, "About this model"), h("pre", {}, text));

export const $ = (id) => document.getElementById(id);

export function debounced(wait, run) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

// One of a few buttons is pressed; `pick` hears which.
export function choice(label, options, pick) {
  const buttons = Object.entries(options).map(([value, text], place) =>
    h("button", { type: "button", "aria-pressed": String(place === 0), "data-value": value, onclick: press }, text));
  function press(event) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
    pick(event.currentTarget.dataset.value);
  }
  return h("span", { class: "choice", role: "group", "aria-label": label }, buttons);
}
