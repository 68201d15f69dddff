// Exports, which the browser saves.
"use strict";

function setUpExport(info) {
  const isTable = Boolean(info.columns);
  document.querySelector("#export .slice").hidden = isTable;
  document.querySelector("#export .rows").hidden = !isTable;
  $("columns").hidden = !isTable;
  $("from").value = 0;
  $("to").value = info.rows ?? 0;
  $("slice").value = "";
  $("columns").replaceChildren($("columns").querySelector("legend"), ...(info.columns ?? []).map((name) => {
    const [label, box] = [document.createElement("label"), document.createElement("input")];
    Object.assign(box, { type: "checkbox", checked: true, value: name });
    label.append(box, ` ${name}`);
    return label;
  }));
}

// Fills in what another view shows.
function chooseExport({ rows, column, slice }) {
  choose("export");
  $("slice").value = slice ?? rows.join(":");
  if (!rows) return;
  [$("from").value, $("to").value] = rows;
  for (const box of $("columns").querySelectorAll("input")) box.checked = box.value === column;
}

$("export").addEventListener("submit", async (event) => {
  event.preventDefault();
  const format = $("format").value;
  const request = { do: "export", format };
  if (input.info.columns) {
    request.rows = [Number($("from").value), Number($("to").value)];
    request.columns = [...$("columns").querySelectorAll("input:checked")].map(({ value }) => value);
    if (request.columns.length === 0) {
      $("exported").textContent = "choose at least one column";
      return;
    }
  } else if ($("slice").value.trim()) request.slice = $("slice").value;
  $("exported").textContent = "exporting";
  const found = await during(() => engine.call(request, "blob"));
  $("exported").textContent = "";
  if (!found) return;
  save(found.written, `${input.name.split("/").pop().replace(/\.[^.]*$/, "")}.${format}`);
  $("exported").textContent = `${count(found.answer.rows, "row")}, ${count(found.written.size, "byte")}`;
});

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
