import type pg from 'pg';
import { Batch } from '#indexer/apply/batch.ts';
import { addHeld, type HeldQueryRow, heldColumns } from '#indexer/apply/batch-questions.ts';
import { type BatchEncoders, createEncoders } from '#indexer/apply/block-rows.ts';
import { readPosition } from '#indexer/apply/chain-session.ts';
import { addToBatch, type ChainFacts } from '#indexer/apply/fill-batch.ts';
import { HashTable } from '#indexer/apply/memory/hash-table.ts';
import { anyInput } from '#indexer/apply/memory/held-lookup.ts';
import { HeldOutputs } from '#indexer/apply/memory/held-outputs.ts';
import type { DerivedBatch } from '#indexer/derived/derived-batch.ts';
import { storedFingerprint } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';

const hashLength = 32;

export interface RecomputedBlock {
  readonly batch: Batch;
  readonly encoders: BatchEncoders;
}

/**
 * Applies a block again, to the state that the tables had before it, and returns the batch that would be written. The
 * rows are in the encoders of the batch. Data of later blocks is ignored.
 *
 * @param derived receives the derived rows of the block, in addition to its earlier rows
 *
 * @param encoders must be empty
 */
export async function recomputeBlock(
  client: pg.ClientBase,
  block: ParsedBlock,
  facts: ChainFacts,
  derived: DerivedBatch,
  encoders: BatchEncoders = createEncoders(),
): Promise<RecomputedBlock> {
  const { columns, ref } = block;
  const before = await readPosition(client, ref.height);
  const batch = new Batch(
    before,
    encoders,
    { contents: new HashTable(), metadata: new HashTable() },
    derived,
  );
  const contents = await knownIds(
    client,
    'SELECT sha256, variant, content_id AS id FROM chain.contents WHERE sha256 = ANY($1) AND content_id < $2',
    before.nextContentId,
    columns.contentHash,
    columns.contentVariant,
  );
  const metadata = await knownIds(
    client,
    'SELECT sha256, 0 AS variant, metadata_id AS id FROM chain.metadata_texts WHERE sha256 = ANY($1) AND metadata_id < $2',
    before.nextMetadataId,
    columns.metadataHash,
    null,
  );
  const held = await heldBefore(client, block);
  addToBatch(batch, block, { contents, metadata, held: [anyInput(held)], ended: null }, facts);
  return { batch, encoders };
}

/** The ids that the hashes of a block had before the block. -1: no id. */
async function knownIds(
  client: pg.ClientBase,
  query: string,
  nextId: number,
  hashes: Uint8Array,
  variants: Uint8Array | null,
): Promise<Int32Array> {
  const count = hashes.length / hashLength;
  const ids = new Int32Array(count).fill(-1);
  if (count === 0) return ids;
  const asked = Array.from({ length: count }, (_, row) =>
    Buffer.from(hashes.subarray(row * hashLength, (row + 1) * hashLength)),
  );
  const { rows } = await client.query<{ sha256: Buffer; variant: number; id: number }>(query, [
    asked,
    nextId,
  ]);
  const table = new HashTable();
  for (const { sha256, variant, id } of rows) table.add(sha256, 0, variant, id);
  for (let row = 0; row < count; row++) {
    ids[row] = table.find(hashes, row * hashLength, variants === null ? 0 : variants[row]!);
  }
  return ids;
}

/**
 * Locations of earlier blocks that the block may end: unspent locations in outputs that it spends, and locations stored
 * as ended by it. If the block really ended a location that is stored as ended by another block, the location is
 * missing here. Then the next row of the inscription appears as the difference.
 */
async function heldBefore(client: pg.ClientBase, { columns, ref }: ParsedBlock): Promise<HeldOutputs> {
  const { inputFingerprintLow: low, inputFingerprintHigh: high } = columns;
  const fingerprints = Array.from(low, (half, input) => storedFingerprint(half, high[input]!));
  const { rows } = await client.query<HeldQueryRow>(
    `SELECT ${heldColumns} FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
     WHERE l.outpoint_fingerprint = ANY($1::bigint[]) AND l.spent_height IS NULL AND l.height < $2
     UNION ALL
     SELECT ${heldColumns} FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
     WHERE l.spent_height = $2 AND l.height < $2 AND l.outpoint_fingerprint IS NOT NULL`,
    [fingerprints, ref.height],
  );
  const held = new HeldOutputs();
  for (const row of rows) addHeld(held, row);
  return held;
}
