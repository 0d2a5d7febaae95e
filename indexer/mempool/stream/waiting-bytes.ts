import type { HashKey } from './membership.ts';
import type { MessageQueue } from './message-queue.ts';
import type { NodeMempool } from './node-mempool.ts';

/** Maximum number of transactions requested at once: two requests to the node. */
const askedAtOnce = 200;
/** Maximum bytes per round, so that a round of large transactions takes no more time or memory than others. */
const roundBytesMax = 16_000_000;
/**
 * Maximum number of times that a transaction is requested if the node does not have it: the transaction is leaving, or
 * the node lost it.
 */
const triesMax = 10;

/** Transactions of the mempool whose bytes are needed, and the code that gets them. */
export class WaitingBytes {
  /** Number of times that each transaction was waited for or requested. */
  readonly #tries = new Map<HashKey, number>();
  #stoppedEarly = false;

  get size(): number {
    return this.#tries.size;
  }

  /** True if the last round reached its limit while more transactions were waiting. */
  get isLoading(): boolean {
    return this.#stoppedEarly;
  }

  add(txid: HashKey): void {
    this.#tries.set(txid, 0);
  }

  delete(txid: HashKey): void {
    this.#tries.delete(txid);
  }

  /**
   * Takes transactions in the order in which they were added, with the bytes that the node sent. Missing bytes are
   * requested: for new transactions one round later, because the bytes may still arrive, or at once if there is a
   * hurry.
   */
  async take(
    queue: MessageQueue | null,
    node: NodeMempool,
    { countMax, isHurried }: { readonly countMax: number; readonly isHurried: boolean },
  ): Promise<{ txid: HashKey; bytes: Uint8Array }[]> {
    const bytesOf = new Map<HashKey, Uint8Array>();
    const asked: HashKey[] = [];
    let size = 0;
    this.#stoppedEarly = false;
    for (const [txid, tries] of this.#tries) {
      if (bytesOf.size + asked.length >= countMax || size >= roundBytesMax) {
        this.#stoppedEarly = true;
        break;
      }
      const bytes = queue?.takeBytes(txid) ?? null;
      if (bytes !== null) {
        bytesOf.set(txid, bytes);
        size += bytes.length;
      } else if (isHurried || tries > 0) {
        asked.push(txid);
      } else {
        this.#tries.set(txid, 1);
      }
    }
    await this.#ask(node, asked, roundBytesMax - size, bytesOf);
    for (const txid of bytesOf.keys()) this.#tries.delete(txid);
    return Array.from(bytesOf, ([txid, bytes]) => ({ txid, bytes }));
  }

  async #ask(
    node: NodeMempool,
    asked: readonly HashKey[],
    room: number,
    into: Map<HashKey, Uint8Array>,
  ): Promise<void> {
    let left = room;
    for (let from = 0; from < asked.length; from += askedAtOnce) {
      if (left <= 0) {
        this.#stoppedEarly = true;
        return;
      }
      const chunk = asked.slice(from, from + askedAtOnce);
      const found = await node.transactions(chunk);
      for (const txid of chunk) {
        const bytes = found.get(txid);
        if (bytes === undefined) {
          this.#missed(txid);
          continue;
        }
        into.set(txid, bytes);
        left -= bytes.length;
      }
    }
  }

  #missed(txid: HashKey): void {
    const tries = this.#tries.get(txid) ?? 0;
    if (tries >= triesMax) this.#tries.delete(txid);
    else this.#tries.set(txid, tries + 1);
  }
}
