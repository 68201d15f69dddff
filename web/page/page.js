// The page: what is open, and its views.
"use strict";

const $ = (id) => document.getElementById(id);
const engine = new Engine(showProgress);
let input = null; // {name, files, member?, whole?, info, damaged}: a member of a tree, which `whole` is

const CHUNKED = ["bloscpack", "records", "frame", "carray", "ctable", "damaged"];
const VIEWS = [
  ["info", "Overview", (info) => info.kind !== "damaged"],
  ["verify", "Check", () => true],
  ["table", "Table", (info) => info.rows > 0],
  ["plot", "Plot", (info) => info.rows > 0],
  ["map", "Heat map", (info) => shapeOf(info).length >= 2],
  ["records", "Records", (info) => info.records > 0],
  ["bytes", "Bytes", (info) => info.kind === "bloscpack" || info.kind === "frame"],
  ["chunks", "Chunks", (info) => CHUNKED.includes(info.kind) && info.layout !== "blosc2"],
  ["export", "Export", (info) => info.rows !== null && info.rows !== undefined],
];
const SHOW = { table: showTable, plot: showPlot, map: showMap, records: showRecord, bytes: showBytes, chunks: showChunks };

// What a fact means for who reads it.
const MEANING = {
  "checksum: None": "only damage by which a chunk no longer decompresses is seen",
};

const shapeOf = (info) => (info.columns ? [] : info.array?.shape ?? info.shape ?? []);
const count = (number, noun) => `${Number(number).toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// --- what goes on

function showProgress({ done, total }) {
  if (total > 0) $("done").value = Math.min(1, done / total);
  else $("done").removeAttribute("value");
}

function say(text, isBad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("bad", isBad);
}

function trouble(error) {
  // For a folder the command names a command.
  const isFolder = input?.info === null && input.files.some(({ path }) => path);
  const hint = error.hint ?? (isFolder && error.label === "refused" ? "open the folder of a single dataset" : null);
  say(`${input?.name ?? ""}: ${error.message}${hint ? `\nhint: ${hint}` : ""}`, true);
}

// Runs an action, with the progress bar once it takes a while.
async function during(action) {
  const timer = setTimeout(() => { $("work").hidden = false; }, 300);
  $("done").removeAttribute("value");
  document.body.ariaBusy = "true";
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    trouble(error);
    return null;
  } finally {
    clearTimeout(timer);
    $("work").hidden = true;
    document.body.ariaBusy = "false";
  }
}

// --- opening

async function open(found) {
  if (!found) return;
  input = { ...found, info: null, damaged: [] };
  $("opened").hidden = true;
  $("up").hidden = !input.whole;
  $("up").firstChild.textContent = `All members of ${input.whole?.name}`;
  say(`opening ${found.name}`);
  const opened = await during(() => engine.call({ do: "open", member: found.member }, "bytes", found.files).catch(checkable));
  if (!opened) return;
  input.info = withRows(opened.answer);
  say(input.info.warnings.join("\n"));
  if (opened.error) trouble(opened.error);
  showInfo(input.info);
}

async function openMember(path) {
  const { name, files } = input;
  await open({ name: `${name}/${path}`, files, member: path, whole: { name, files } });
  $("tab-info")?.focus();
}

$("up").addEventListener("click", async () => {
  await open(input.whole);
  $("tab-info").focus();
});

// What is damaged may be open all the same, so that it can be checked.
function checkable(error) {
  if (!error.opened) throw error;
  return { error, answer: { kind: "damaged", lines: [], members: [], warnings: [] } };
}

// A file of NumPy says its shape only.
function withRows(info) {
  if (info.kind !== "npy") return info;
  return { ...info, rows: info.shape[0] ?? 1, array: { dtype: info.dtype, shape: info.shape.length ? info.shape : [1] } };
}

function showInfo(info) {
  $("name").textContent = input.name;
  $("facts").replaceChildren(...info.lines.flatMap(([label, value, kind]) => {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = label;
    text.textContent = kind === "json" ? indented(value) : value;
    const meaning = MEANING[`${label}: ${value}`];
    if (meaning) text.dataset.meaning = meaning;
    return [term, text];
  }));
  const { members } = info;
  $("members").replaceChildren(...members.map(([path, kind, shape]) => {
    const [item, button] = [document.createElement("li"), document.createElement("button")];
    Object.assign(button, { type: "button", textContent: path });
    button.addEventListener("click", () => openMember(path));
    item.append(button, ` ${[kind, shape?.join(" × ")].filter(Boolean).join(", ")}`);
    return item;
  }));
  $("members").hidden = $("members-title").hidden = members.length === 0;
  for (const id of ["verdict", "exported", "plot-text", "map-text", "chunks-text", "count"]) $(id).textContent = "";
  $("damages").replaceChildren();
  setUpTabs(info);
  setUpPlot(info);
  setUpMap(info);
  setUpExport(info);
  shown.clear();
  $("opened").hidden = false;
  document.body.classList.add("opened");
  choose(info.kind === "damaged" ? "verify" : "info");
}

// JSON with indentation, where it is JSON.
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// --- tabs

const shown = new Set();

function setUpTabs(info) {
  const there = VIEWS.filter(([, , isThere]) => isThere(info));
  $("tabs").replaceChildren(...there.map(([name, title]) => {
    const tab = document.createElement("button");
    Object.assign(tab, { id: `tab-${name}`, type: "button", textContent: title });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", `view-${name}`);
    tab.addEventListener("click", () => choose(name));
    return tab;
  }));
}

function choose(name) {
  for (const tab of $("tabs").children) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
  }
  for (const [view] of VIEWS) $(`view-${view}`).hidden = view !== name;
  input.view = name;
  if (SHOW[name] && !shown.has(name)) {
    shown.add(name);
    SHOW[name]();
  }
}

$("tabs").addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  const tabs = [...$("tabs").children];
  const at = tabs.indexOf(document.activeElement);
  if (at < 0 || !(event.key in steps)) return;
  const next = tabs[(at + steps[event.key] + tabs.length) % tabs.length];
  next.focus();
  next.click();
});

// --- dropping and choosing

for (const id of ["file", "folder"]) $(id).addEventListener("change", () => {
  open(chosen($(id).files));
  $(id).value = "";
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("over");
});
document.addEventListener("dragleave", () => document.body.classList.remove("over"));
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  open(await dropped(event.dataTransfer));
});

// Canvases keep neither the size of the window nor its colours.
function redraw() {
  for (const view of ["plot", "map", "chunks"]) shown.delete(view);
  if (input?.info && SHOW[input.view] && !shown.has(input.view)) choose(input.view);
  if (input?.view === "table") table.draw();
}
addEventListener("resize", () => {
  clearTimeout(redraw.timer);
  redraw.timer = setTimeout(redraw, 200);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
