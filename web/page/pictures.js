// The views that draw columns and slices.
"use strict";

// --- the plot

let plotted = [0, 0];

function setUpPlot(info) {
  const names = info.columns ?? ["value"];
  $("plot-column").replaceChildren(...names.map((name) => new Option(name)));
  plotted = [0, info.rows ?? 0];
}

async function showPlot() {
  const [from, to] = plotted;
  const columns = input.info.columns ? { columns: [$("plot-column").value] } : {};
  const bins = Math.max(1, Math.min(2048, $("plot").clientWidth));
  const found = await during(() => engine.call({ do: "plot", rows: [from, to], ...columns, bins }));
  if (!found) return;
  const range = drawPlot($("plot"), found.answer.bins);
  const missing = found.answer.missing ? `, ${count(found.answer.missing, "missing value")}` : "";
  $("plot-text").textContent = range
    ? `Rows ${from} to ${to}: from ${short(range[0])} to ${short(range[1])}${missing}`
    : `Rows ${from} to ${to}: no numbers`;
}

function zoom(factor, move) {
  const rows = input.info.rows;
  if (factor === "whole") plotted = [0, rows];
  else {
    const width = plotted[1] - plotted[0];
    const wide = Math.min(rows, Math.max(1, Math.round(width * factor)));
    const middle = (plotted[0] + plotted[1]) / 2 + width * move;
    const from = Math.min(Math.max(0, Math.round(middle - wide / 2)), rows - wide);
    plotted = [from, from + wide];
  }
  return showPlot();
}

$("plot-column").addEventListener("change", showPlot);
for (const button of document.querySelectorAll("[data-zoom], [data-move]")) {
  const { zoom: by, move } = button.dataset;
  button.addEventListener("click", () => zoom(by === "whole" ? by : Number(by ?? 1), Number(move ?? 0)));
}
$("plot").addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = event.offsetX / $("plot").clientWidth - 0.5;
  zoom(event.deltaY < 0 ? 0.5 : 2, event.deltaY < 0 ? at / 2 : -at);
}, { passive: false });

// Dragging across the plot, with a mouse or a finger, chooses the rows to look at.
let dragged = null; // shares of the width

const shareOf = (event) => Math.min(1, Math.max(0, event.offsetX / $("plot").clientWidth));

function endDrag() {
  dragged = null;
  $("chosen").hidden = true;
}

$("plot").addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  $("plot").setPointerCapture(event.pointerId);
  dragged = [shareOf(event), shareOf(event)];
});
$("plot").addEventListener("pointermove", (event) => {
  if (!dragged) return;
  dragged[1] = shareOf(event);
  const [left, right] = [Math.min(...dragged), Math.max(...dragged)];
  Object.assign($("chosen").style, { left: `${left * 100}%`, width: `${(right - left) * 100}%` });
  $("chosen").hidden = false;
});
$("plot").addEventListener("pointerup", () => {
  if (!dragged) return;
  const [left, right] = [Math.min(...dragged), Math.max(...dragged)];
  endDrag();
  // Less is a click.
  if ((right - left) * $("plot").clientWidth < 4) return;
  const [from, to] = plotted;
  const first = Math.min(to - 1, Math.floor(from + left * (to - from)));
  plotted = [first, Math.max(first + 1, Math.ceil(from + right * (to - from)))];
  showPlot();
});
$("plot").addEventListener("pointercancel", endDrag);
$("plot-export").addEventListener("click", () => chooseExport({ rows: plotted, column: $("plot-column").value }));

// --- the heat map

function setUpMap(info) {
  const shape = shapeOf(info);
  const axes = shape.map((length, axis) => [`axis ${axis} (${length})`, axis]);
  for (const [id, axis] of [["map-rows", shape.length - 2], ["map-columns", shape.length - 1]]) {
    $(id).replaceChildren(...axes.map(([text, value]) => new Option(text, value, false, value === axis)));
  }
  $("axes").replaceChildren(...shape.map((length, axis) => {
    const label = document.createElement("label");
    const [slider, at] = [document.createElement("input"), document.createElement("output")];
    Object.assign(slider, { type: "range", min: 0, max: Math.max(0, length - 1), value: 0, id: `axis-${axis}` });
    at.textContent = "0";
    slider.addEventListener("input", () => { at.textContent = slider.value; });
    slider.addEventListener("change", showMap);
    label.append(`Axis ${axis} `, slider, " ", at);
    return label;
  }));
}

async function showMap() {
  const shape = shapeOf(input.info);
  const [down, across] = [Number($("map-rows").value), Number($("map-columns").value)];
  [...$("axes").children].forEach((label, axis) => { label.hidden = axis === down || axis === across; });
  if (down === across) {
    $("map-text").textContent = "Choose two axes.";
    return;
  }
  const slice = mapped(shape, down, across);
  const [outer, inner] = down < across ? [down, across] : [across, down];
  const found = await during(() => engine.call({ do: "grid", slice, width: shape[inner], most: 512 }));
  if (!found) return;
  const grid = down === outer ? found.answer : turned(found.answer);
  const range = drawGrid($("map"), grid, shape[down], shape[across]);
  const averaged = shape[inner] > 512 || shape[outer] > 512 ? ", averaged" : "";
  $("map-text").textContent = range
    ? `[${slice}]: from ${short(range[0])} (dark) to ${short(range[1])} (light)${averaged}`
    : `[${slice}]: no numbers`;
}

// The slice that is drawn.
const mapped = (shape, down, across) => shape.map((_, axis) => (axis === down || axis === across ? ":" : $(`axis-${axis}`).value)).join();

$("map-export").addEventListener("click", () => {
  chooseExport({ slice: mapped(shapeOf(input.info), Number($("map-rows").value), Number($("map-columns").value)) });
});

function turned({ columns, rows, cells }) {
  return { columns: rows, rows: columns, cells: cells.map((_, at) => cells[(at % rows) * columns + Math.floor(at / rows)]) };
}

for (const id of ["map-rows", "map-columns"]) $(id).addEventListener("change", showMap);
