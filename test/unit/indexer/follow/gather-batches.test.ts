import { expect, test } from 'vitest';
import { type BatchBounds, gather } from '#indexer/follow/gather-batches.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

const bounds: BatchBounds = { bytesMax: 100, envelopesMax: 10, blocksMax: 5, heldBytesMax: 1000 };

/** Makes a block that has only the fields for the batch limits. */
const block = (bytes: number, envelopes: number, heldBytes: number): ParsedBlock =>
  ({
    bytes: new Uint8Array(bytes),
    columns: { envelopeInput: new Uint32Array(envelopes) },
    heldBytes,
  }) as unknown as ParsedBlock;

async function sizes(blocks: readonly ParsedBlock[]): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of gather(
    (async function* () {
      yield* blocks;
    })(),
    bounds,
  )) {
    found.push(batch.length);
  }
  return found;
}

test.each([
  ['blocks', block(1, 0, 1), [5, 3]],
  ['bytes', block(40, 0, 1), [3, 3, 2]],
  ['envelopes', block(1, 5, 1), [2, 2, 2, 2]],
  ['memory that small blocks hold after a large one', block(1, 0, 300), [4, 4]],
])('a batch is bounded by its %s', async (_, each, expected) => {
  expect(await sizes(Array.from({ length: 8 }, () => each))).toEqual(expected);
});
