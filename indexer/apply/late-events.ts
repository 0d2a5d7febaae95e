import type pg from 'pg';
import type { BlockEvents } from '#indexer/events/block-events.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { chainHashes, type HashRow, hashedByKind } from './event-chains.ts';

/** The number of events of a kind in a block that has its row in the outbox. */
interface CountedBlock extends BlockRef {
  /** The number of the kind. */
  readonly number: number;
  readonly count: number;
}

/**
 * Stores the event counts and hashes of a new kind for indexed blocks, in the transaction in which a catch-up pass
 * writes the rows of these blocks. Texts are not stored, because they are made from the tables on request. Runs three
 * statements for any number of blocks. Inscriptions must not be among the kinds.
 */
export async function addLateEvents(tx: pg.ClientBase, blocks: readonly BlockEvents[]): Promise<void> {
  const chains = hashedByKind(blocks);
  const before = await readCumulative(
    tx,
    chains.map(({ number, version, blocks: [first] }) => ({
      number,
      version,
      height: first?.height ?? genesisHeight,
    })),
  );
  const hashes = chains.flatMap((chain) => chainHashes(chain, before.get(chain.number) ?? null));
  await writeHashes(tx, hashes);
  await addCounts(
    tx,
    blocks.flatMap(({ ref, kinds }) =>
      kinds
        .filter(({ firstHeight }) => ref.height >= firstHeight)
        .map(({ kind: { number }, count }) => ({ ...ref, number, count })),
    ),
  );
}

/** The cumulative hash of each kind before a height, by number of the kind. Only hashes of this version are read. */
async function readCumulative(
  tx: pg.ClientBase,
  ends: readonly { readonly number: number; readonly version: number; readonly height: Height }[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const { rows } = await tx.query<{ kind: number; cumulative: Buffer }>(
    `SELECT h.kind, h.cumulative_sha256 AS cumulative
     FROM unnest($1::smallint[], $2::smallint[], $3::integer[]) AS e(kind, version, height)
     JOIN chain.event_hashes h ON h.kind = e.kind AND h.version = e.version AND h.height = e.height - 1`,
    [ends.map(({ number }) => number), ends.map(({ version }) => version), ends.map(({ height }) => height)],
  );
  return new Map(rows.map(({ kind, cumulative }) => [kind, cumulative]));
}

/** Stores hashes of any kinds in one statement. */
export async function writeHashes(tx: pg.ClientBase, hashes: readonly HashRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO chain.event_hashes (kind, version, height, sha256, cumulative_sha256)
     SELECT * FROM unnest($1::smallint[], $2::smallint[], $3::integer[], $4::bytea[], $5::bytea[])`,
    [
      hashes.map(({ number }) => number),
      hashes.map(({ version }) => version),
      hashes.map(({ height }) => height),
      hashes.map(({ sha256 }) => sha256),
      hashes.map(({ cumulative }) => cumulative),
    ],
  );
}

/**
 * Adds the counts to outbox rows. A block that was applied, undone and applied again has several rows: the last one
 * counts.
 */
export async function addCounts(tx: pg.ClientBase, blocks: readonly CountedBlock[]): Promise<void> {
  await tx.query(
    `INSERT INTO chain.outbox_texts (sequence, kind, height, event_count)
     SELECT (SELECT max(sequence) FROM chain.outbox o WHERE o.height = b.height AND block_hash = hash
         AND cancels IS NULL AND reclassified IS NULL),
       kind, height, count
     FROM unnest($1::smallint[], $2::integer[], $3::bytea[], $4::integer[]) AS b(kind, height, hash, count)
     ON CONFLICT (kind, sequence) DO UPDATE SET event_count = EXCLUDED.event_count`,
    [
      blocks.map(({ number }) => number),
      blocks.map(({ height }) => height),
      blocks.map(({ hash }) => Buffer.from(hash)),
      blocks.map(({ count }) => count),
    ],
  );
}
