// The views of chunks, rows, records and bytes.
"use strict";

// --- checking

$("verify").addEventListener("click", async () => {
  $("verdict").textContent = "checking";
  $("damages").replaceChildren();
  const found = await during(() => engine.call({ do: "verify" }));
  if (!found) {
    $("verdict").textContent = "not checked";
    return;
  }
  const { chunks, damage_count, damages, records, warnings, note } = found.answer;
  const sum = records ? `${count(chunks, "chunk")}, ${count(records, "record")}` : count(chunks, "chunk");
  $("verdict").textContent = note ?? (damage_count ? `${sum}, ${count(damage_count, "damage")}` : `sound: ${sum}`);
  $("verdict").classList.toggle("bad", damage_count > 0);
  $("damages").replaceChildren(...damages.map(({ label, message, records, content }) => {
    const item = document.createElement("li");
    const place = records ? `; records ${records.join("..")}` : content ? `; content ${content.join("..")}` : "";
    item.textContent = `${label}: ${message}${place}`;
    return item;
  }));
  if (warnings?.length) say(warnings.join("\n"));
  input.damaged = damages.filter(({ chunk }) => chunk !== null);
  shown.delete("chunks");
});

$("cancel").addEventListener("click", () => engine.cancel());

// --- the table

const table = new Table($("grid"), async (from, to) => {
  const { info } = input;
  const shape = shapeOf(info);
  const slice = shape.length > 1 ? { slice: `${from}:${to},0:${COLUMNS}` } : { rows: [from, to] };
  return (await engine.call({ do: "rows", ...slice }, "text")).written;
}, trouble);

function showTable() {
  const { info } = input;
  const shape = shapeOf(info);
  $("row").max = info.rows - 1;
  const more = shape.length > 1 && shape[1] > COLUMNS ? `, the first ${COLUMNS} columns` : "";
  $("count").textContent = `of ${info.rows.toLocaleString("en")}${more}`;
  table.show(info.rows, info.columns, shape.length > 1 ? shape[1] : null);
}

$("digits").addEventListener("change", () => table.setDigits($("digits").value === "" ? null : Number($("digits").value)));

$("go").addEventListener("submit", (event) => {
  event.preventDefault();
  table.goTo(Number($("row").value));
});

// --- records, bytes, chunks

async function showRecord() {
  const last = input.info.records - 1;
  const number = Math.min(Math.max(0, Math.trunc(Number($("record").value))), last);
  $("record").value = number;
  $("record").max = last;
  $("record-count").textContent = `of ${count(input.info.records, "record")}`;
  const found = await during(() => engine.call({ do: "record", number }));
  $("record-text").textContent = found ? textOf(new Uint8Array(found.written)) : "";
}

// JSON, text, or else bytes.
function textOf(bytes) {
  const most = 1 << 20;
  const more = bytes.length > most ? `\n… ${count(bytes.length, "byte")} in all` : "";
  try {
    return indented(new TextDecoder("utf-8", { fatal: true }).decode(bytes.length > most ? hexError() : bytes));
  } catch {
    return hex(bytes.subarray(0, 1 << 14), 0) + more;
  }
}

function hexError() {
  throw new Error("too long to show as text");
}

function hex(bytes, from) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const some = [...bytes.subarray(at, at + 16)];
    const digits = some.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    const text = some.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${(from + at).toString(16).padStart(8, "0")}  ${digits}  ${text}`);
  }
  return lines.join("\n");
}

for (const [id, step] of [["before", -1], ["after", 1]]) {
  $(id).addEventListener("click", () => {
    $("record").value = Number($("record").value) + step;
    showRecord();
  });
}
$("go-record").addEventListener("submit", (event) => {
  event.preventDefault();
  showRecord();
});

async function showBytes() {
  const from = Math.max(0, Math.trunc(Number($("byte").value)));
  const length = input.info.bytes ?? null;
  const to = length === null ? from + 4096 : Math.min(length, from + 4096);
  const found = await during(() => engine.call({ do: "bytes", range: [Math.min(from, to), to] }));
  if (found) $("hex").textContent = hex(new Uint8Array(found.written), from);
}

$("go-bytes").addEventListener("submit", (event) => {
  event.preventDefault();
  showBytes();
});

async function showChunks() {
  const found = await during(() => engine.call({ do: "chunks" }));
  if (!found) return;
  const { strips } = found.answer;
  $("chunks").replaceChildren(...strips.map(({ name }) => {
    const [figure, caption, canvas] = ["figure", "figcaption", "canvas"].map((tag) => document.createElement(tag));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", name ? `Chunks of ${name}` : "Map of the chunks");
    figure.append(...(name ? [caption] : []), canvas);
    return figure;
  }));
  const damaged = strips.map(damagedOf);
  strips.forEach((strip, at) => {
    const figure = $("chunks").children[at];
    drawChunks(figure.lastChild, strip.chunks, damaged[at]);
    if (strip.name) figure.firstChild.textContent = `${strip.name}: ${chunksText(strip, damaged[at].size)}`;
  });
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const all = { chunks: strips.flatMap(({ chunks }) => chunks), count: sum(strips.map((strip) => strip.count)) };
  all.trouble = strips.map(({ trouble }) => trouble).find(Boolean);
  const more = (input.info.columns?.length ?? 0) > strips.length ? `, the first ${count(strips.length, "column")}` : "";
  $("chunks-text").textContent = chunksText(all, sum(damaged.map(({ size }) => size))) + more;
}

// The numbers of the chunks whose header is damaged, or whose damage was found by a check.
function damagedOf({ name, chunks }) {
  const found = input.damaged.filter(({ path }) => !name || path?.startsWith(`${name}/`));
  const heads = [...chunks.keys()].filter((at) => chunks[at][2] === "damaged");
  return new Set([...heads, ...found.map(({ chunk }) => chunk)]);
}

function chunksText({ chunks, count: all, trouble: wrong }, damaged) {
  const whole = chunks.reduce((sum, [plain]) => sum + plain, 0);
  const left = chunks.reduce((sum, [, packed]) => sum + packed, 0);
  const special = chunks.filter(([, , kind]) => kind === "special").length;
  const parts = [count(all, "chunk")];
  if (all > chunks.length) parts.push(`the first ${chunks.length} drawn`);
  if (left) parts.push(`ratio ${(whole / left).toFixed(2)}`);
  if (special) parts.push(`${count(special, "chunk")} of special values`);
  if (damaged) parts.push(`${damaged} damaged`);
  return parts.join(", ") + (wrong ? `; ${wrong}` : "");
}
