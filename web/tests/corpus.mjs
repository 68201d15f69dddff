// Every entry of the corpus, opened, read and checked by the module; the values are those of the manifests.
//
//   node web/tests/corpus.mjs [FOLDER, by default target/corpus]
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { Engine, root } from "./engine.mjs";

const folder = path.resolve(process.argv[2] ?? path.join(root, "target/corpus"));
const engine = await Engine.load();
const digest = (bytes) => crypto.createHash("sha256").update(bytes).digest("hex");
const wrong = [];
// A filter whose code has three meanings: chunks with it are refused, one by one.
const FILTERS = ["caterva/filt_shuffle_meta.cat"];
// Its metadata states the shape of an array that the content does not have.
const ODD = "bloscpack/d_meta_numpyish.blp";
let [files, values, refused] = [0, 0, 0];

// The digest of what is read must be one of these.
function compare(what, request, ...expected) {
  const { answer, written } = engine.call({ do: "bytes", ...request });
  values += 1;
  if (answer.error) wrong.push(`${what}: ${answer.error}`);
  else if (!expected.includes(digest(written))) wrong.push(`${what}: other bytes`);
}

// The bytes of the fields, where those between them are arbitrary.
function fields(bytes, dtype) {
  const list = (name) => dtype.match(new RegExp(`'${name}':\\[([^\\]]*)`))[1].split(",");
  const [offsets, sizes] = [list("offsets").map(Number), list("formats").map((format) => Number(format.match(/\d+/)[0]))];
  const len = Number(dtype.match(/'itemsize':(\d+)/)[1]);
  const parts = [];
  for (let at = 0; at < bytes.length; at += len) offsets.forEach((offset, field) => parts.push(bytes.subarray(at + offset, at + offset + sizes[field])));
  return Buffer.concat(parts);
}

function compareFields(what, entry) {
  const file = fs.readFileSync(path.join(folder, what, "..", entry.npy));
  const { answer, written } = engine.call({ do: "bytes" });
  values += 1;
  if (answer.error) wrong.push(`${what}: ${answer.error}`);
  else if (written.length !== entry.nbytes || !fields(written, entry.dtype).equals(fields(file.subarray(-entry.nbytes), entry.dtype))) wrong.push(`${what}: other fields`);
}

function check(what, entry) {
  const place = path.join(folder, what);
  files += 1;
  const opened = engine.open(place);
  const expected = [entry.raw_sha256, entry.sha256, entry.sha256_native, entry.sha256_le].filter(Boolean);
  if (opened.error) {
    // A writer that died left half a dataset; pickles are never read. Both are errors in words.
    if (expected.length === 0 || entry.object_repr !== undefined || entry.dtype === "object") refused += 1;
    else wrong.push(`${what}: ${opened.error}`);
    return;
  }
  if (FILTERS.includes(what)) {
    const labels = [engine.call({ do: "bytes" }).answer, ...engine.call({ do: "verify" }).answer.damages].map(({ label }) => label);
    if (labels.every((label) => label === "refused")) refused += 1;
    else wrong.push(`${what}: ${labels}`);
    return;
  }
  for (const column of entry.columns ?? []) {
    const digests = [column.sha256_native, column.sha256_le].filter(Boolean);
    if (digests.length) compare(`${what} ${column.name}`, { columns: [column.name] }, ...digests);
  }
  if (!entry.columns && expected.length) {
    if (entry.dtype === "object") refused += 1;
    else if (entry.compare === "fields") compareFields(what, entry);
    else compare(what, {}, ...expected);
  }
  const verified = engine.call({ do: "verify" }).answer;
  if (verified.error || verified.damage_count !== (what === ODD ? 1 : 0)) wrong.push(`${what}: ${JSON.stringify(verified).slice(0, 300)}`);
}

const begun = process.hrtime.bigint();
for (const part of ["bloscpack", "bcolz", "bcolz-legacy", "blz", "carray05", "caterva", "b2nd"]) {
  // Python writes numbers that JSON does not have.
  const text = fs.readFileSync(path.join(folder, part, "manifest.json"), "utf8").replace(/: (NaN|-?Infinity)/g, ": null");
  const manifest = JSON.parse(text.replace(/(?<=[[,]\s*)(NaN|-?Infinity)(?=\s*[,\]])/g, "null"));
  for (const entry of manifest.files ?? manifest.datasets ?? manifest.entries) {
    const what = `${part}/${entry.file ?? entry.name}`;
    try {
      check(what, entry);
    } catch (error) {
      wrong.push(`${what}: ${error.message}`);
      await engine.start();
    }
  }
}
const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
console.log(`${files} entries, ${values} contents compared, ${refused} refused as they must be, ${wrong.length} wrong; ${seconds.toFixed(1)} s, ${engine.memory >> 20} MiB`);
wrong.forEach((line) => console.log(`  ${line}`));
if (wrong.length || files < 1000) process.exit(1);
