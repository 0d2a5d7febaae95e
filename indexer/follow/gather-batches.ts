import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

/** The size limits of one transaction: always whole blocks, and at least one. */
export interface BatchBounds {
  readonly bytesMax: number;
  readonly envelopesMax: number;
  readonly blocksMax: number;
  readonly heldBytesMax: number;
}

export const batchBounds: BatchBounds = {
  // Three or four usual blocks. Larger batches cost memory (each byte exists in a block, in its columns and in the
  // encoded rows, for two batches) and longer turns of the main thread, and gain nothing.
  bytesMax: 6 * 1024 * 1024,
  // The same for small inscriptions, whose rows are larger than their contents: about 3 MB of rows.
  envelopesMax: 10_000,
  // Empty blocks still cost a row each; this many are far less than a second's work.
  blocksMax: 1000,
  // Less than the idle buffers of the pool (`idleBytesMax`, 48 MB), so that all buffers of a batch are used again. The
  // buffers of four usual blocks, of 2 MB with their spent outputs and columns, are 20 MB.
  heldBytesMax: 32 * 1024 * 1024,
};

/** Groups blocks into batches, in order. If the blocks end with an error, the blocks before it are yielded first. */
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
