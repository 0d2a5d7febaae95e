import { strict as assert } from 'node:assert';
import type { LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { encodeLocations } from './block-rows.ts';

interface BlockLocations {
  readonly ledger: LedgerBlock;
  readonly bytes: Uint8Array;
  /** Null if no other block of the batch moved one of the block's inscriptions. */
  ends: Ends | null;
}

interface Ends {
  /** Keyed by row: height of the later block that spent the location. 0: unspent. */
  readonly heights: Int32Array;
  /** The last row at which the block left each inscription, by key. */
  readonly lastRow: ReadonlyMap<number, number>;
}

/**
 * The new locations of a batch. They are encoded once all its blocks are applied: a location that ends within the batch
 * is written with its end, and needs no UPDATE.
 */
export class BatchLocations {
  readonly #blocks = new Map<number, BlockLocations>();

  /** @param bytes the block, which must stay as it is until `encode` */
  add(ledger: LedgerBlock, bytes: Uint8Array): void {
    this.#blocks.set(ledger.height, { ledger, bytes, ends: null });
  }

  /** Ends a location that a block of the batch made. Returns false if an earlier batch made it. */
  end(key: InscriptionKey, height: number, step: number, spentHeight: Height): boolean {
    const block = this.#blocks.get(height);
    if (block === undefined) return false;
    const { locations } = block.ledger;
    block.ends ??= endsOf(locations.key);
    const { heights, lastRow } = block.ends;
    const row = lastRow.get(key);
    assert(row !== undefined && locations.step[row] === step, 'a location that ends is not in its block');
    assert(heights[row] === 0 && locations.spent[row] === 0, 'a location that ends has ended before');
    heights[row] = spentHeight;
    return true;
  }

  /** Encodes the rows of all blocks, in the order of the chain. */
  encode(out: CopyEncoder): void {
    for (const { ledger, bytes, ends } of this.#blocks.values()) {
      encodeLocations(out, bytes, ledger, ends?.heights ?? null);
    }
  }
}

function endsOf(keys: Int32Array): Ends {
  const lastRow = new Map<number, number>();
  for (let row = 0; row < keys.length; row++) lastRow.set(keys[row]!, row);
  return { heights: new Int32Array(keys.length), lastRow };
}
