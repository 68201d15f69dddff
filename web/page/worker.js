// The worker: reads the files that were dropped, runs the module, and collects what it writes.
//
//   in   {module}                           the module's bytes, once
//        {id, request, files?, as?}         a request; `as` says how to pass on what is written: "text", "bytes" or "blob"
//   out  {progress: {done, total}}          total is -1 where it is not known
//        {id, answer, written?}             answer.error says what went wrong
"use strict";

const WINDOW = 1 << 18; // bytes that are read at once where few are asked for
const WINDOWS = 16;
const PART = 8 << 20; // bytes after which what is written leaves the memory of the worker

let files = [];
let windows = []; // the latest last
let parts = [];
let blobs = [];
let pending = 0;
let module;

const readFile = (file, from, to) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(files[file].slice(from, to)));
// The collection of garbage lets hundreds of megabytes gather: buffers are given to a port that nobody reads.
const { port1: bin, port2: nobody } = new MessageChannel();
nobody.close();
const free = (bytes) => bin.postMessage(null, [bytes.buffer]);

function windowOf(file, at) {
  const start = at - (at % WINDOW);
  const found = windows.findIndex((one) => one.file === file && one.start === start);
  const one = found < 0 ? { file, start, bytes: readFile(file, start, start + WINDOW) } : windows.splice(found, 1)[0];
  windows.push(one);
  if (windows.length > WINDOWS) free(windows.shift().bytes);
  return one;
}

function windowed(file, at, len) {
  const { start, bytes } = windowOf(file, at);
  return bytes.subarray(at - start, at - start + len);
}

const host = {
  read(file, at, to, len) {
    try {
      const isLong = len >>> 0 >= WINDOW;
      const bytes = isLong ? readFile(file, at, at + (len >>> 0)) : windowed(file, at, len >>> 0);
      const { length } = bytes;
      new Uint8Array(module.memory.buffer, to >>> 0, length).set(bytes);
      if (isLong) free(bytes);
      return length;
    } catch {
      return -1;
    }
  },
  write(from, len) {
    parts.push(new Uint8Array(module.memory.buffer, from >>> 0, len >>> 0).slice());
    pending += len >>> 0;
    if (pending >= PART) flush();
  },
  progress(done, total) {
    postMessage({ progress: { done, total } });
  },
};

function flush() {
  blobs.push(new Blob(parts));
  parts = [];
  pending = 0;
}

// What was written since the last call.
function taken(as) {
  flush();
  const blob = new Blob(blobs);
  blobs = [];
  const reader = new FileReaderSync();
  if (as === "blob") return blob;
  return as === "text" ? reader.readAsText(blob) : reader.readAsArrayBuffer(blob);
}

function call(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const room = module.room(bytes.length) >>> 0; // may move the memory
  new Uint8Array(module.memory.buffer, room, bytes.length).set(bytes);
  module.call();
  const answer = new Uint8Array(module.memory.buffer, module.answer_at() >>> 0, module.answer_len() >>> 0);
  return JSON.parse(new TextDecoder().decode(answer));
}

onmessage = async ({ data }) => {
  if (data.module) {
    module = WebAssembly.instantiate(data.module, { host }).then(({ instance }) => instance.exports);
    return;
  }
  module = await module;
  if (data.files) {
    files = data.files.map(({ file }) => file);
    windows = [];
    data.request.files = data.files.map(({ path, file }) => ({ path, name: file.name, size: file.size }));
  }
  try {
    const answer = call(data.request);
    const written = taken(data.as);
    postMessage({ id: data.id, answer, written });
  } catch (error) {
    // The module has stopped for good: the page starts another worker.
    postMessage({ id: data.id, answer: { error: `stopped: ${error.message}`, label: "failed", stopped: true } });
  }
};
