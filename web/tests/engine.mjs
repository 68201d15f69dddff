// The module in node, with files of the disk in place of those of a browser.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

export class Engine {
  static async load() {
    const module = await WebAssembly.compile(fs.readFileSync(path.join(root, "web/dist/engine.wasm")));
    const engine = new Engine();
    engine.module = module;
    await engine.start();
    return engine;
  }

  async start() {
    this.files = [];
    this.parts = [];
    this.exports = (await WebAssembly.instantiate(this.module, { host: this.host() })).exports;
  }

  host() {
    const at = (from, len) => new Uint8Array(this.exports.memory.buffer, from >>> 0, len >>> 0);
    return {
      read: (file, position, to, len) => fs.readSync(this.files[file], at(to, len), 0, len >>> 0, position),
      write: (from, len) => this.parts.push(Buffer.from(at(from, len))),
      progress: () => {},
    };
  }

  get memory() {
    return this.exports.memory.buffer.byteLength;
  }

  // The answer, and what was written.
  call(request) {
    const bytes = Buffer.from(JSON.stringify(request));
    this.parts = [];
    const room = this.exports.room(bytes.length) >>> 0; // may move the memory
    new Uint8Array(this.exports.memory.buffer, room, bytes.length).set(bytes);
    this.exports.call();
    const answer = new Uint8Array(this.exports.memory.buffer, this.exports.answer_at() >>> 0, this.exports.answer_len() >>> 0);
    return { answer: JSON.parse(new TextDecoder().decode(answer)), written: Buffer.concat(this.parts) };
  }

  // Opens a file, or all files below a folder.
  open(name) {
    this.files.forEach((file) => fs.closeSync(file));
    const isFolder = fs.statSync(name).isDirectory();
    const names = isFolder ? fs.readdirSync(name, { recursive: true }).filter((one) => fs.statSync(path.join(name, one)).isFile()) : [""];
    this.files = names.map((one) => fs.openSync(path.join(name, one)));
    const files = names.map((one, at) => ({ ...(isFolder ? { path: one } : {}), size: fs.fstatSync(this.files[at]).size }));
    return this.call({ do: "open", files }).answer;
  }
}
