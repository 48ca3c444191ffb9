// The address holds what was typed, after the #, where no server sees it.

const LONGEST = 30_000; // characters of an address that every browser takes

export const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export function write(view, fields) {
  const hash = new URLSearchParams({ view, ...fields }).toString();
  history.replaceState(null, "", hash.length <= LONGEST ? `#${hash}` : `#view=${view}`);
}

export function copyButtons() {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        button.textContent = "Copied";
      } catch {
        button.textContent = "It is in the address bar";
      }
      setTimeout(() => { button.textContent = "Copy link"; }, 2000);
    });
  }
}
