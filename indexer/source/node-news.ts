import type { NodeMessage, NodeMessages } from '#kernel/contracts/node.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';

/** Remembers news of a node's chain until it is taken, so that no news is lost while the caller works. */
export class NodeNews {
  readonly #stopListening: () => void;
  #isFresh = false;
  /** The block that was connected last, since the last call. */
  #connected: BlockHash | null = null;
  #wake: (() => void) | null = null;

  constructor(messages: NodeMessages) {
    this.#stopListening = messages.listen((message) => {
      if (!isOfChain(message)) return;
      this.#isFresh = true;
      if (message.kind === 'block-connected') this.#connected = message.hash;
      this.#wake?.();
    });
  }

  /**
   * Resolves immediately if there was news since the last call, else with the next news or after the timeout. Returns
   * the block that was connected last, or null if none was.
   */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<BlockHash | null> {
    signal.throwIfAborted();
    if (!this.#isFresh) await this.#untilWoken(timeoutMs, signal);
    const connected = this.#connected;
    this.#isFresh = false;
    this.#connected = null;
    signal.throwIfAborted();
    return connected;
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
