import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

/** How much one transaction holds at most; always whole blocks, and at least one. */
export interface BatchBounds {
  readonly bytesMax: number;
  readonly envelopesMax: number;
  readonly blocksMax: number;
}

export const batchBounds: BatchBounds = {
  // Three or four blocks of usual size. Larger batches cost memory (each byte stands in a block, in its columns and in
  // the encoded rows, for two batches) and longer turns of the main thread, and win nothing: the statements around the
  // rows take some 2 % of the time already.
  bytesMax: 6 * 1024 * 1024,
  // The same for small inscriptions, whose rows are larger than they are: about 3 MB of rows.
  envelopesMax: 10_000,
  // Blocks without anything still cost a row each; so many are far less than a second's work.
  blocksMax: 1000,
};

/** Groups blocks into batches, in order. Where the blocks end with an error, what was gathered is given before it. */
export async function* gather(
  blocks: AsyncIterable<ParsedBlock>,
  bounds: BatchBounds,
): AsyncGenerator<ParsedBlock[]> {
  let batch: ParsedBlock[] = [];
  let bytes = 0;
  let envelopes = 0;
  let refusal: { readonly error: unknown } | null = null;
  try {
    for await (const block of blocks) {
      batch.push(block);
      bytes += block.bytes.length;
      envelopes += block.columns.envelopeInput.length;
      const isFull =
        bytes >= bounds.bytesMax || envelopes >= bounds.envelopesMax || batch.length >= bounds.blocksMax;
      if (!isFull) continue;
      yield batch;
      batch = [];
      bytes = 0;
      envelopes = 0;
    }
  } catch (error) {
    refusal = { error };
  }
  if (batch.length > 0) yield batch;
  if (refusal !== null) throw refusal.error;
}
