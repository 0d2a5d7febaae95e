import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

/**
 * A batch is written when it has so many bytes of blocks: three or four of usual size. Larger batches cost memory (each
 * byte stands in a block, in its columns and in the encoded rows, for two batches) and longer turns of the main thread,
 * and win nothing: the statements around the rows take some 2 % of the time already.
 */
const batchBytesMax = 6 * 1024 * 1024;
/** The same for small inscriptions, whose rows are larger than they are: about 3 MB of rows. */
const batchEnvelopesMax = 10_000;
/** Blocks without anything still cost a row each; so many are far less than a second's work lost with a crash. */
const batchBlocksMax = 1000;

/** Groups blocks into batches, in order. Where the blocks end with an error, what was gathered is given before it. */
export async function* gather(blocks: AsyncIterable<ParsedBlock>): AsyncGenerator<ParsedBlock[]> {
  let batch: ParsedBlock[] = [];
  let bytes = 0;
  let envelopes = 0;
  let refusal: { readonly error: unknown } | null = null;
  try {
    for await (const block of blocks) {
      batch.push(block);
      bytes += block.bytes.length;
      envelopes += block.columns.envelopeInput.length;
      if (bytes < batchBytesMax && envelopes < batchEnvelopesMax && batch.length < batchBlocksMax) continue;
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
