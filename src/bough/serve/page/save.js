// Downloads: the picture as it stands, with its style, as SVG or PNG; the result as JSON.

const SCALE = 2; // pixels of a PNG for a unit of the picture

function hand(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function styled(svg) {
  const style = await (await fetch("/assets/tree.css")).text();
  return svg.replace("</title>", `</title><style>${style}</style>`); // the first: words are escaped
}

export async function saveSvg(svg, name) {
  hand(new Blob([await styled(svg)], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function savePng(svg, name) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([await styled(svg)], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.naturalWidth;
  canvas.height = SCALE * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  hand(await new Promise((done) => canvas.toBlob(done, "image/png")), `${name}.png`);
}

export function saveJson(value, name) {
  hand(new Blob([`${JSON.stringify(value, null, 1)}\n`], { type: "application/json" }), `${name}.json`);
}

export const fileName = (text) =>
  text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "tree";
