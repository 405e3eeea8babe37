// What the page knows: JSON in a script element, its arrays as base64 of little-endian gzip.

const KINDS = { f8: Float64Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new KINDS[packed.kind](await new Response(stream).arrayBuffer());
}

async function unpackAll(table) {
  const names = Object.keys(table);
  const arrays = await Promise.all(names.map((name) => unpack(table[name])));
  return Object.fromEntries(names.map((name, index) => [name, arrays[index]]));
}

function element(tag, parent, text, classes) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (classes) made.className = classes;
  if (parent) parent.append(made);
  return made;
}

function duration(seconds) {
  const size = Math.abs(seconds);
  const short = (value) => number(value, 3);
  if (size < 120) return `${short(seconds)} s`;
  if (size < 7200) return `${short(seconds / 60)} min`;
  if (size < 172800) return `${short(seconds / 3600)} h`;
  return `${short(seconds / 86400)} d`;
}

function number(value, digits = 4) {
  return value.toLocaleString("en", { maximumSignificantDigits: digits });
}

function exact(seconds) {
  const told = `${seconds.toLocaleString("en", { maximumFractionDigits: 3 })} s`;
  return Math.abs(seconds) < 120 ? told : `${told} (${duration(seconds)})`;
}

function logShare(value, most) {
  return value > 0 ? Math.log1p(value) / Math.log1p(most) : 0;
}

function css(shade) {
  return `rgb(${shade.join(" ")})`;
}

function rgb(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}
