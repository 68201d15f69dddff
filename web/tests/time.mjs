// Time and memory of the module in node beside the command with one thread, in one run:
//
//   node web/tests/time.mjs BLPK FILE...
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { Engine } from "./engine.mjs";

const [command, ...files] = process.argv.slice(2);
const engine = await Engine.load();
const seconds = (work) => {
  const begun = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - begun) / 1e9;
};
for (const file of files) {
  const rounds = [0, 1, 2];
  engine.open(file);
  let chunks;
  const here = rounds.map(() => seconds(() => { chunks = engine.call({ do: "verify" }).answer.chunks; }));
  const native = rounds.map(() => seconds(() => execFileSync(command, ["-q", "-n", "1", "verify", file])));
  const best = (times) => Math.min(...times).toFixed(2);
  console.log(`${file}: ${fs.statSync(file).size} bytes, ${chunks} chunks: node ${best(here)} s, ${engine.memory >> 20} MiB, with node at most ${process.resourceUsage().maxRSS >> 10} MiB; native ${best(native)} s`);
}
