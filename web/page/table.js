// A table of any number of rows, of which only those in view exist.
"use strict";

const ROW = 24; // pixels, as in the style sheet
const BLOCK = 256; // rows that are read at once
const TALLEST = 8e6; // pixels: browsers do not make elements of any height
const COLUMNS = 50; // that are shown of an array

// Numbers as they are written: those of 64 bits do not fit the numbers of this language.
const exact = (text) => JSON.parse(text, (_, value, context) => (typeof value === "number" && context?.source ? { exact: context.source } : value));

const plain = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (value.exact !== undefined) return value.exact;
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  return `{${Object.entries(value).map(([name, one]) => `${name}: ${plain(one)}`).join(", ")}}`;
};

class Table {
  constructor(grid, read, onTrouble) {
    Object.assign(this, { grid, read, onTrouble, head: grid.querySelector("#head"), space: grid.querySelector("#space") });
    grid.addEventListener("scroll", () => this.draw());
    grid.addEventListener("keydown", (event) => this.key(event));
  }

  // `names` are the columns of a table; without them each row is an array, or a single value.
  show(rows, names, width) {
    this.rows = rows;
    this.names = names;
    this.blocks = new Map();
    this.reading = false;
    this.numbers = [];
    const titles = names ?? (width === null ? ["value"] : Array.from({ length: Math.min(width, COLUMNS) }, (_, at) => String(at)));
    this.titles = titles;
    this.headLine();
    this.grid.setAttribute("aria-rowcount", rows + 1);
    this.grid.setAttribute("aria-colcount", titles.length + 1);
    this.space.style.height = `${Math.min(rows * ROW, TALLEST)}px`;
    this.grid.scrollTop = 0;
    this.draw();
  }

  headLine() {
    this.head.replaceChildren(this.line(["row", ...this.titles], "columnheader"));
  }

  // Digits after the point that are shown of numbers; null for all.
  setDigits(digits) {
    this.digits = digits;
    this.draw();
  }

  // A number as it is shown: its own digits, unless others are chosen.
  shownAs(text) {
    const isFraction = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) && /[.e]/i.test(text);
    return this.digits === null || this.digits === undefined || !isFraction ? text : Number(text).toFixed(this.digits);
  }

  line(cells, role) {
    const row = document.createElement("div");
    row.setAttribute("role", "row");
    cells.forEach((text, at) => {
      const cell = document.createElement("div");
      cell.setAttribute("role", role === "gridcell" && at === 0 ? "rowheader" : role);
      const isNumber = at > 0 && Boolean(this.numbers[at - 1]);
      cell.classList.toggle("number", isNumber);
      cell.textContent = isNumber && role === "gridcell" ? this.shownAs(text) : text;
      cell.title = text;
      row.append(cell);
    });
    return row;
  }

  get inView() {
    return Math.max(1, Math.floor(this.grid.clientHeight / ROW) - 1);
  }

  // The first row in view: scrolling moves by shares where the rows are taller than an element can be.
  get first() {
    const last = Math.max(0, this.rows - this.inView);
    const most = this.grid.scrollHeight - this.grid.clientHeight;
    if (this.rows * ROW <= TALLEST) return Math.min(last, Math.floor(this.grid.scrollTop / ROW));
    return most > 0 ? Math.round((this.grid.scrollTop / most) * last) : 0;
  }

  goTo(row) {
    const wanted = Math.min(Math.max(0, row), Math.max(0, this.rows - this.inView));
    const most = this.grid.scrollHeight - this.grid.clientHeight;
    const isTall = this.rows * ROW > TALLEST;
    this.exactly = isTall ? wanted : null;
    this.grid.scrollTop = isTall ? (wanted / Math.max(1, this.rows - this.inView)) * most : wanted * ROW;
    this.wanted = this.grid.scrollTop;
    this.draw();
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: this.inView, PageUp: -this.inView, Home: -this.rows, End: this.rows };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.goTo((this.shown ?? 0) + steps[event.key]);
  }

  draw() {
    if (this.exactly !== null && Math.abs(this.grid.scrollTop - this.wanted) > 1) this.exactly = null;
    const first = this.exactly ?? this.first;
    this.shown = first;
    const end = Math.min(this.rows, first + this.inView + 2);
    const lines = [];
    for (let row = first; row < end; row++) {
      const values = this.blocks.get(Math.floor(row / BLOCK))?.[row % BLOCK];
      const line = this.line([row, ...(values ?? ["…"])], "gridcell");
      line.setAttribute("aria-rowindex", row + 2);
      // Below the top of what is in view, wherever that is.
      line.style.top = `${Math.min(this.rows * ROW <= TALLEST ? first * ROW : this.grid.scrollTop, TALLEST) + (row - first) * ROW}px`;
      lines.push(line);
    }
    this.space.replaceChildren(...lines);
    this.space.style.minWidth = `${(this.titles.length + 1) * 11}rem`;
    this.fill(first, end);
  }

  async fill(first, end) {
    if (this.reading) return;
    const missing = [Math.floor(first / BLOCK), Math.floor(Math.max(first, end - 1) / BLOCK)].find((block) => !this.blocks.has(block));
    if (missing === undefined || first >= this.rows) return;
    this.reading = true;
    const blocks = this.blocks;
    const from = missing * BLOCK;
    try {
      const text = await this.read(from, Math.min(this.rows, from + BLOCK));
      const lines = text.split("\n").slice(0, -1).map(exact);
      if (blocks === this.blocks && this.numbers.length === 0) this.noteNumbers(lines);
      blocks.set(missing, lines.map((line) => this.cells(line)));
    } catch (error) {
      blocks.set(missing, []);
      this.onTrouble(error);
    }
    if (blocks.size > 200) blocks.delete(blocks.keys().next().value);
    this.reading = false;
    if (blocks === this.blocks) this.draw();
  }

  // Columns of numbers are aligned to the right: those whose first value is one.
  noteNumbers(lines) {
    const isNumber = (value) => typeof value === "number" || value?.exact !== undefined;
    const first = (at) => lines.map((line) => this.values(line)[at]).find((value) => value !== null && value !== undefined);
    this.numbers = this.titles.map((_, at) => isNumber(first(at)));
    this.headLine();
  }

  cells(line) {
    return this.values(line).map(plain);
  }

  values(line) {
    if (this.names) return this.names.map((name) => line?.[name]);
    return this.titles.length > 1 && Array.isArray(line) ? line.slice(0, COLUMNS) : [line];
  }
}
