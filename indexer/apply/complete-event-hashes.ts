import type pg from 'pg';
import { readEventTexts } from '#chain/events/block-events.queries.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import { eventKinds, eventTextVersion } from '#kernel/events/event-text-writer.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { completeOutbox } from './outbox-rows.ts';
import { ensureSecondaryIndexes } from './secondary-indexes.ts';

/** Events of one transaction: some 10 MB of rows in memory, and a fraction of a second. */
const eventsPerStep = 20_000;
/** Blocks of one transaction, however little is in them. */
const blocksPerStep = 1000;

export interface CompleteOptions {
  readonly network: NetworkParameters;
  /** Aborted: what is committed stays, and the reason is thrown. */
  readonly signal?: AbortSignal;
  /** After each commit, with the height that has a hash now. */
  readonly onProgress?: (height: number) => void;
}

/**
 * Makes the outbox and the hashes of a database whole that was filled by a version without them, or with another text:
 * every block gets its row, and every block whose events are known its hash. Asks a few questions where nothing is
 * missing. `client` is the writer's, outside of a transaction. Gives the number of hashes that were added.
 */
export async function completeEventHashes(
  client: pg.ClientBase,
  { network, signal, onProgress }: CompleteOptions,
): Promise<number> {
  await withTransaction(client, completeOutbox);
  await client.query('DELETE FROM chain.event_hashes WHERE version <> $1', [eventTextVersion]);
  let added = 0;
  for (;;) {
    signal?.throwIfAborted();
    const end = await readEnd(client, network);
    if (!end.isNextKnown) return added;
    await ensureSecondaryIndexes(client, { wanted: ['locations_spent'] });
    const made = await withTransaction(client, (tx) => addHashes(tx, network, end));
    added += made;
    onProgress?.(end.next + made - 1);
  }
}

interface ChainEnd {
  /** The first height without a hash, and the cumulative hash before it. */
  readonly next: number;
  readonly cumulative: Uint8Array;
  /** There is a block, and it is of those that have hashes. */
  readonly isNextKnown: boolean;
}

async function readEnd(client: pg.ClientBase, network: NetworkParameters): Promise<ChainEnd> {
  const { rows } = await client.query<{ height: number; cumulative_sha256: Buffer }>(
    `SELECT height, cumulative_sha256 FROM chain.event_hashes WHERE kind = $1 ORDER BY height DESC LIMIT 1`,
    [eventKinds.inscriptions],
  );
  const next = rows[0] === undefined ? network.firstInscriptionHeight : rows[0].height + 1;
  const block = await client.query(
    `SELECT FROM chain.blocks b WHERE height = $1 AND anchored AND (has_spent OR tx_count <= 1
       OR (next_key = first_key AND NOT EXISTS (SELECT FROM chain.locations WHERE spent_height = b.height)))`,
    [next],
  );
  const cumulative = rows[0]?.cumulative_sha256 ?? firstCumulative;
  return { next, cumulative, isNextKnown: block.rows.length > 0 };
}

async function addHashes(
  tx: pg.ClientBase,
  network: NetworkParameters,
  { next, cumulative }: ChainEnd,
): Promise<number> {
  const texts = await readEventTexts(tx, network.name, {
    from: next,
    to: await stepEnd(tx, next),
    keep: false,
  });
  const heights: number[] = [];
  const hashes: Buffer[] = [];
  const cumulatives: Buffer[] = [];
  let previous = cumulative;
  for (const { ref, sha256, isKnown } of texts) {
    // behind a gap, or behind a block that is not known in full, there is no chain any more
    if (!isKnown || ref.height !== next + heights.length) break;
    const hash = nextCumulative(previous, sha256);
    heights.push(ref.height);
    hashes.push(sha256);
    cumulatives.push(hash);
    previous = hash;
  }
  await tx.query(
    `INSERT INTO chain.event_hashes (kind, version, height, sha256, cumulative_sha256)
     SELECT $1, $2, h.* FROM unnest($3::integer[], $4::bytea[], $5::bytea[]) AS h`,
    [eventKinds.inscriptions, eventTextVersion, heights, hashes, cumulatives],
  );
  return heights.length;
}

/** The last height of a step: as many blocks as hold so many events, and one at least. */
async function stepEnd(tx: pg.ClientBase, from: number): Promise<number> {
  const { rows } = await tx.query<{ height: number }>(
    `SELECT height FROM (
       SELECT height, sum(event_count) OVER (ORDER BY height, sequence) AS events FROM chain.outbox
       WHERE height >= $1 AND height < $1 + $2 AND cancels IS NULL
     ) AS o WHERE events <= $3 ORDER BY height DESC LIMIT 1`,
    [from, blocksPerStep, eventsPerStep],
  );
  return rows[0]?.height ?? from;
}
