import type pg from 'pg';
import { type BlockPlace, readAbsentBlocks } from '#chain/arrivals/arrived-blocks.queries.ts';
import { readConfirmedBlocks, readLiveBlocks } from '#watches/store/confirmed-blocks.store.ts';

/**
 * How long findings of undone blocks wait for the blocks that replace them, in ms since the last change of the chain. A
 * node takes blocks back only if it has a longer branch, whose blocks are indexed within moments.
 */
const waitMs = 5_000;

/**
 * Blocks that were undone, and whose findings have not been settled. They wait for the blocks in their place, because
 * most of their transactions are in these blocks, and a finding of such a transaction only changes its block.
 */
export class UndoneBlocks {
  readonly #blocks = new Map<string, BlockPlace>();
  #changedAt = 0;

  get size(): number {
    return this.#blocks.size;
  }

  get all(): BlockPlace[] {
    return [...this.#blocks.values()];
  }

  add({ hash, height }: BlockPlace): void {
    this.#blocks.set(keyOf(hash), { hash, height });
  }

  /** Forgets a block that was applied again. */
  applied(hash: Uint8Array): void {
    this.#blocks.delete(keyOf(hash));
  }

  clear(): void {
    this.#blocks.clear();
  }

  /** Notes a change of the chain. */
  chainChanged(now: number): void {
    this.#changedAt = now;
  }

  /** Whether the branch in place of the undone blocks may still be incomplete. */
  isIncomplete(tipHeight: number, now: number): boolean {
    if (now - this.#changedAt >= waitMs) return false;
    return this.all.some(({ height }) => height > tipHeight);
  }
}

const keyOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');

/**
 * Blocks with confirmed findings of active watches that are not in the chain: an index that was rebuilt may have
 * another branch, and a process may have ended before it settled undone blocks.
 *
 * @param client sees the stored findings; `reader` sees the chain at one moment
 */
export async function readLostBlocks(client: pg.ClientBase, reader: pg.ClientBase): Promise<BlockPlace[]> {
  return readLiveBlocks(client, await readAbsentBlocks(reader, await readConfirmedBlocks(client)));
}
