import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

/** The size limits of one transaction. A batch always has whole blocks, and at least one block. */
export interface BatchBounds {
  readonly bytesMax: number;
  readonly envelopesMax: number;
  readonly blocksMax: number;
  readonly heldBytesMax: number;
}

export const batchBounds: BatchBounds = {
  // This is three or four usual blocks. Larger batches gain nothing, cost memory (each byte exists in a block, in its
  // columns and in the encoded rows, for two batches) and make turns of the main thread longer.
  bytesMax: 6 * 1024 * 1024,
  // Bounds batches of small inscriptions, whose rows are larger than their contents: about 3 MB of rows.
  envelopesMax: 10_000,
  // Bounds batches of empty blocks, which cost one row each. This many take far less than a second.
  blocksMax: 1000,
  // Less than the idle buffers of the pool (`idleBytesMax`, 64 MB), so that all buffers of a batch are reused. Four
  // usual blocks of 2 MB, with their spent outputs and columns, take 20 MB of buffers.
  heldBytesMax: 32 * 1024 * 1024,
};

/** Groups blocks into batches, in order. If `blocks` throws an error, the blocks before the error are yielded first. */
export async function* gather(
  blocks: AsyncIterable<ParsedBlock>,
  bounds: BatchBounds,
): AsyncGenerator<ParsedBlock[]> {
  let batch: ParsedBlock[] = [];
  let bytes = 0;
  let envelopes = 0;
  let heldBytes = 0;
  let refusal: { readonly error: unknown } | null = null;
  try {
    for await (const block of blocks) {
      batch.push(block);
      bytes += block.bytes.length;
      envelopes += block.columns.envelopeInput.length;
      heldBytes += block.heldBytes;
      const isFull =
        bytes >= bounds.bytesMax ||
        envelopes >= bounds.envelopesMax ||
        batch.length >= bounds.blocksMax ||
        heldBytes >= bounds.heldBytesMax;
      if (!isFull) continue;
      yield batch;
      batch = [];
      bytes = 0;
      envelopes = 0;
      heldBytes = 0;
    }
  } catch (error) {
    refusal = { error };
  }
  if (batch.length > 0) yield batch;
  if (refusal !== null) throw refusal.error;
}
