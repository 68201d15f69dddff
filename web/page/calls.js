// Calls of the worker. Cancelling ends the worker, since it does not listen while it works; the next call opens the input again.
"use strict";

class Engine {
  constructor(onProgress) {
    this.onProgress = onProgress;
    this.waiting = new Map();
    this.next = 0;
    this.opening = null;
    this.queue = Promise.resolve();
  }

  async #start() {
    const packed = Uint8Array.from(atob(ENGINE.module), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = await new Response(stream).arrayBuffer();
    const url = URL.createObjectURL(new Blob([ENGINE.worker], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data }) => this.#receive(data);
    this.worker.postMessage({ module });
  }

  #receive(data) {
    if (data.progress) {
      this.onProgress(data.progress);
      return;
    }
    const done = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (data.answer.stopped) this.#end();
    done?.(data);
  }

  #end() {
    this.worker?.terminate();
    this.worker = null;
  }

  async #send(message) {
    if (!this.worker) {
      await this.#start();
      if (message.request.do !== "open" && this.opening) await this.#post(this.opening);
    }
    return this.#post(message);
  }

  #post(message) {
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ ...message, id });
    });
  }

  // One call after the other. Rejects with a `Refusal` where the answer is an error.
  call(request, as = "bytes", files = undefined) {
    if (files) this.opening = { request, files };
    const turn = this.queue.then(async () => {
      const { answer, written } = await this.#send({ request, as, files });
      if (answer.error) throw new Refusal(answer);
      return { answer, written };
    });
    this.queue = turn.catch(() => {});
    return turn;
  }

  // Ends what is going on.
  cancel() {
    this.#end();
    for (const done of this.waiting.values()) done({ answer: { error: "cancelled", label: "cancelled" } });
    this.waiting.clear();
  }
}

// An answer that is an error.
class Refusal extends Error {
  constructor({ error, label, hint, opened }) {
    super(error);
    Object.assign(this, { label, hint, opened });
  }
}
