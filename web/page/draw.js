// Drawing on canvases.
"use strict";

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The canvas in pixels of the screen, empty.
function cleared(canvas) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = style("--paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  return context;
}

const short = (number) => (Number.isInteger(number) && Math.abs(number) < 1e15 ? String(number) : number.toPrecision(6));

// Least and greatest of pairs; null where there are none.
function rangeOf(pairs) {
  let least = Infinity;
  let greatest = -Infinity;
  for (const pair of pairs) {
    if (!pair) continue;
    least = Math.min(least, pair[0]);
    greatest = Math.max(greatest, pair[1]);
  }
  return least <= greatest ? [least, greatest] : null;
}

// A vertical line from the least to the greatest of each bin, which touches that of the bin before.
function drawPlot(canvas, bins) {
  const context = cleared(canvas);
  const range = rangeOf(bins);
  if (!range) return null;
  const [least, greatest] = range;
  const high = canvas.height - 8;
  const y = (number) => 4 + high * (1 - (greatest > least ? (number - least) / (greatest - least) : 0.5));
  context.strokeStyle = style("--accent");
  context.lineWidth = Math.max(1, devicePixelRatio || 1);
  context.beginPath();
  let before = null;
  bins.forEach((pair, at) => {
    if (pair) {
      const x = ((at + 0.5) * canvas.width) / bins.length;
      if (before) context.lineTo(x, y(pair[0]));
      else context.moveTo(x, y(pair[0]));
      context.lineTo(x, y(pair[1]) - 0.5);
    }
    before = pair;
  });
  context.stroke();
  return range;
}

// From dark blue over green to yellow, readable without seeing colours.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[low].map((one, i) => Math.round(one + (STOPS[low + 1][i] - one) * (at - low)));
}

// Cells as colours; `down` and `across` are the lengths of the axes, of which a cell may be an average.
function drawGrid(canvas, { columns, rows, cells }, down, across) {
  const context = cleared(canvas);
  const range = rangeOf(cells.map((cell) => cell !== null && [cell, cell]));
  if (!range) return null;
  // As wide as the page, in square cells while that is not too high, with room for the numbers of the axes and the scale.
  const ratio = devicePixelRatio || 1;
  const [left, top, below] = [56 * ratio, 4 * ratio, 52 * ratio];
  const width = canvas.width - left - 12 * ratio;
  const height = Math.max(24 * ratio, Math.min((width * rows) / columns, 0.6 * innerHeight * ratio));
  canvas.style.height = `${(top + height + below) / ratio}px`;
  canvas.height = Math.round(top + height + below);
  context.fillStyle = style("--paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  const image = new ImageData(columns, rows);
  cells.forEach((cell, at) => {
    if (cell === null) return;
    const share = range[1] > range[0] ? (cell - range[0]) / (range[1] - range[0]) : 0.5;
    image.data.set([...colour(share), 255], at * 4);
  });
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, left, top, width, height);
  context.fillStyle = context.strokeStyle = style("--ink");
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const at of ticks(down, height / (40 * ratio))) {
    const y = top + (height * (at + 0.5)) / down;
    context.fillText(at, left - 6 * ratio, Math.max(8 * ratio, y));
    context.fillRect(left - 4 * ratio, y, 4 * ratio, ratio);
  }
  context.textAlign = "center";
  for (const at of ticks(across, width / (80 * ratio))) {
    const x = left + (width * (at + 0.5)) / across;
    context.fillText(at, x, top + height + 12 * ratio);
    context.fillRect(x, top + height, ratio, 4 * ratio);
  }
  drawScale(context, range, [left, top + height + 26 * ratio, width, 10 * ratio], ratio);
  return range;
}

// Round positions along an axis of this length, at most so many.
function ticks(length, most) {
  const least = Math.max(1, length / Math.max(1, most));
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= least));
  return Array.from({ length: Math.ceil(length / step) }, (_, at) => at * step);
}

// The colours from the least to the greatest, and what they stand for.
function drawScale(context, [least, greatest], [x, y, width, height], ratio) {
  const shown = Math.min(width, 320 * ratio);
  for (let at = 0; at < shown; at++) {
    context.fillStyle = `rgb(${colour(at / shown).join()})`;
    context.fillRect(x + at, y, 1, height);
  }
  context.fillStyle = style("--ink");
  const marks = [[0, "left", least], [0.5, "center", (least + greatest) / 2], [1, "right", greatest]];
  for (const [share, side, number] of marks) {
    context.textAlign = side;
    context.fillText(short(number), x + share * shown, y + height + 9 * ratio);
  }
}

// A square for each chunk, darker the more is left.
function drawChunks(canvas, chunks, damaged) {
  const context = cleared(canvas);
  const room = (side) => Math.floor(canvas.width / side) * Math.floor(canvas.height / side);
  let side = Math.floor(Math.sqrt((canvas.width * canvas.height) / Math.max(1, chunks.length)));
  while (side > 3 && room(side) < chunks.length) side -= 1;
  side = Math.max(3, side);
  const across = Math.max(1, Math.floor(canvas.width / side));
  const each = Math.max(1, Math.ceil(chunks.length / Math.max(1, room(side))));
  for (let at = 0; at * each < chunks.length; at++) {
    const some = chunks.slice(at * each, (at + 1) * each);
    const x = (at % across) * side;
    const y = Math.floor(at / across) * side;
    const whole = some.reduce((sum, [plain]) => sum + plain, 0);
    const left = some.reduce((sum, [, packed]) => sum + packed, 0);
    context.fillStyle = `rgb(${colour(1 - Math.min(1, left / Math.max(1, whole))).join()})`;
    context.fillRect(x, y, side - 1, side - 1);
    const isDamaged = some.some((_, i) => damaged.has(at * each + i));
    context.fillStyle = context.strokeStyle = isDamaged ? style("--bad") : style("--paper");
    context.lineWidth = Math.max(1, side / 8);
    if (isDamaged) {
      context.fillStyle = style("--paper");
      context.fillRect(x, y, side - 1, side - 1);
      context.beginPath();
      context.moveTo(x + 1, y + 1);
      context.lineTo(x + side - 2, y + side - 2);
      context.moveTo(x + side - 2, y + 1);
      context.lineTo(x + 1, y + side - 2);
      context.stroke();
    } else if (some.every(([, , kind]) => kind === "copy")) {
      context.fillRect(x + side / 4, y + side / 2 - side / 16, side / 2, Math.max(1, side / 8));
    } else if (some.every(([, , kind]) => kind === "special")) {
      context.fillRect(x + side / 2 - side / 10, y + side / 2 - side / 10, Math.max(1, side / 5), Math.max(1, side / 5));
    }
  }
}
