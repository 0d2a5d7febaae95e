import type { NodeMessage, NodeMessages } from '#kernel/contracts/node.ts';

/** Remembers news of a node's chain until it is taken, so that no news is lost while the caller works. */
export class NodeNews {
  readonly #stopListening: () => void;
  #isFresh = false;
  #wake: (() => void) | null = null;

  constructor(messages: NodeMessages) {
    this.#stopListening = messages.listen((message) => {
      if (!isOfChain(message)) return;
      this.#isFresh = true;
      this.#wake?.();
    });
  }

  /** Resolves immediately if there was news since the last call, else with the next news or after the timeout. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isFresh) await this.#untilWoken(timeoutMs, signal);
    this.#isFresh = false;
    signal.throwIfAborted();
  }

  close(): void {
    this.#stopListening();
    this.#wake?.();
  }

  #untilWoken(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}

function isOfChain(message: NodeMessage): boolean {
  return (
    message.kind === 'block-connected' || message.kind === 'block-disconnected' || message.kind === 'gap'
  );
}
