// What was dropped or chosen, as a list of files; those of a folder have paths below it.
"use strict";

async function filesOf(entry, path) {
  if (entry.isFile) return [{ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) }];
  const reader = entry.createReader();
  const entries = [];
  // A reader passes on some hundred at a time.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const all = await Promise.all(entries.map((one) => filesOf(one, path ? `${path}/${one.name}` : one.name)));
  return all.flat();
}

// {name, files}: a single file has no path.
async function dropped(transfer) {
  const entry = [...transfer.items].find((item) => item.kind === "file")?.webkitGetAsEntry();
  if (!entry) return null;
  if (entry.isFile) return { name: entry.name, files: [{ file: (await filesOf(entry))[0].file }] };
  return { name: entry.name, files: await filesOf(entry, "") };
}

function chosen(list) {
  const [first] = list;
  if (!first) return null;
  if (!first.webkitRelativePath) return { name: first.name, files: [{ file: first }] };
  const files = [...list].map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file }));
  return { name: first.webkitRelativePath.split("/")[0], files };
}
