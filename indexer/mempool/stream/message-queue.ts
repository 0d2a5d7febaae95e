import type { NodeMessage, NodeMessages } from '#kernel/contracts/node.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { ArrivedTransactions } from './arrived-transactions.ts';
import { type HashKey, hashKey } from './membership.ts';

/**
 * Maximum number of waiting changes. A minute of a busy network has a few thousand. If there are more, the changes are
 * dropped and treated as lost, and a new snapshot is taken.
 */
const changesMax = 200_000;
/**
 * Maximum bytes of transactions that wait for their change or for processing. It is sixteen full blocks, because
 * `rawtx` also sends all transactions of every block, and the queue learns about a block only after them.
 */
const transactionBytesMax = 64_000_000;

/** A message of the `sequence` topic. */
export type ChangeMessage = Exclude<NodeMessage, { kind: 'transaction' | 'gap' }>;

/** Messages of the node that were not processed yet. */
export class MessageQueue {
  #changes: ChangeMessage[] = [];
  readonly #transactions = new ArrivedTransactions(transactionBytesMax);
  #lost = false;
  #hasBlock = false;
  #wake: (() => void) | null = null;
  readonly #stop: () => void;

  constructor(messages: NodeMessages) {
    this.#stop = messages.listen((message) => this.#take(message));
  }

  /** Whether changes were lost since the last call. */
  takeLoss(): boolean {
    const lost = this.#lost;
    this.#lost = false;
    return lost;
  }

  /** Whether a block was connected since the last call. */
  takeBlock(): boolean {
    const hasBlock = this.#hasBlock;
    this.#hasBlock = false;
    return hasBlock;
  }

  /** All waiting changes, in order. */
  takeChanges(): ChangeMessage[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Removes the bytes of a transaction from the queue and returns them, if they have arrived. */
  takeBytes(txid: HashKey): Uint8Array | null {
    return this.#transactions.take(txid);
  }

  /** Resolves when a message arrives: immediately if a message is waiting, and after `timeoutMs` at the latest. */
  async news(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#changes.length > 0 || this.#lost || signal.aborted) return;
    await new Promise<void>((resolve) => {
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

  close(): void {
    this.#stop();
  }

  #take(message: NodeMessage): void {
    switch (message.kind) {
      case 'transaction':
        this.#transactions.add(message.bytes);
        return;
      case 'gap':
        // dropped bytes can be requested again, but a lost change cannot
        if (message.topic === 'sequence') this.#lose();
        break;
      case 'mempool-added':
      case 'mempool-removed':
      case 'block-connected':
      case 'block-disconnected':
        this.#changes.push(message);
        if (message.kind === 'mempool-added') this.#transactions.name(hashKey(message.txid));
        if (message.kind === 'block-connected') {
          this.#hasBlock = true;
          this.#transactions.blockConnected();
        }
        if (this.#changes.length > changesMax) this.#lose();
        break;
      default:
        unreachable(message);
    }
    this.#wake?.();
  }

  #lose(): void {
    this.#changes = [];
    this.#lost = true;
  }
}
