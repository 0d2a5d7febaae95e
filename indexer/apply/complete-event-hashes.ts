import type pg from 'pg';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { HashRow } from './event-chains.ts';
import { addCounts, writeHashes } from './late-events.ts';
import { completeOutbox } from './outbox-rows.ts';
import { ensureSecondaryIndexes } from './secondary-indexes.ts';

/** Maximum number of events per transaction. Their rows take some 10 MB of memory and a fraction of a second. */
const eventsPerStep = 20_000;
/** Maximum number of blocks per transaction if they have few events. */
const blocksPerStep = 1000;
/** Number of blocks per transaction if their events are not counted. A full block has some 4,000 events of a kind. */
const uncountedBlocksPerStep = 25;

export interface CompleteOptions {
  readonly network: NetworkParameters;
  readonly kinds: readonly EventKind[];
  /** Stops the work. Committed steps are kept, and the reason of the signal is thrown. */
  readonly signal?: AbortSignal;
  /** Called after each commit, with the last height that has a hash. */
  readonly onProgress?: (height: Height, kind: EventKind) => void;
}

/**
 * Completes the outbox and the event hashes of a database from an older version, which may lack all of them, lack one
 * kind, or have another text version of a kind. Every block gets its row, and every block with known events its hashes,
 * one kind after another. Costs a few queries if nothing is missing. `client` must be outside a transaction.
 *
 * The writer calls it for kinds whose tables it follows. For all other kinds, a catch-up pass adds the hashes together
 * with the rows of its tables (late-events.ts). Returns the number of hashes added.
 */
export async function completeEventHashes(client: pg.ClientBase, options: CompleteOptions): Promise<number> {
  await withTransaction(client, completeOutbox);
  let added = 0;
  for (const kind of options.kinds) added += await completeKind(client, kind, options);
  return added;
}

async function completeKind(
  client: pg.ClientBase,
  kind: EventKind,
  { network, signal, onProgress }: CompleteOptions,
): Promise<number> {
  await withTransaction(client, (tx) => forgetOtherVersions(tx, kind));
  let added = 0;
  for (;;) {
    signal?.throwIfAborted();
    const end = await readEnd(client, kind, network);
    if (!end.isNextKnown) return added;
    await ensureSecondaryIndexes(client, { wanted: kind.indexes });
    const made = await withTransaction(client, (tx) => addHashes(tx, kind, network, end));
    // the block was taken back in the meantime
    if (made === 0) return added;
    added += made;
    onProgress?.(asHeight(end.next + made - 1), kind);
  }
}

/** Deletes texts and hashes of another version, which are then rebuilt. */
async function forgetOtherVersions(tx: pg.ClientBase, { number, version }: EventKind): Promise<void> {
  const { rowCount } = await tx.query('DELETE FROM chain.event_hashes WHERE kind = $1 AND version <> $2', [
    number,
    version,
  ]);
  if (rowCount === 0) return;
  if (number === inscriptionKind.number) {
    await tx.query('UPDATE chain.outbox SET events = NULL WHERE events IS NOT NULL');
  } else {
    await tx.query('UPDATE chain.outbox_texts SET events = NULL WHERE kind = $1 AND events IS NOT NULL', [
      number,
    ]);
  }
}

interface ChainEnd {
  /** The first height without a hash. */
  readonly next: Height;
  readonly cumulative: Uint8Array;
  /** True if the next block exists and its events are known. */
  readonly isNextKnown: boolean;
}

async function readEnd(
  client: pg.ClientBase,
  kind: EventKind,
  network: NetworkParameters,
): Promise<ChainEnd> {
  const { rows } = await client.query<{ height: Height; cumulative_sha256: Buffer }>(
    `SELECT height, cumulative_sha256 FROM chain.event_hashes WHERE kind = $1 ORDER BY height DESC LIMIT 1`,
    [kind.number],
  );
  const next = rows[0] === undefined ? kind.firstHeight(network) : asHeight(rows[0].height + 1);
  return {
    next,
    cumulative: rows[0]?.cumulative_sha256 ?? firstCumulative,
    isNextKnown: await kind.isKnownAt(client, next),
  };
}

async function addHashes(
  tx: pg.ClientBase,
  kind: EventKind,
  network: NetworkParameters,
  { next, cumulative }: ChainEnd,
): Promise<number> {
  const to = await stepEnd(tx, kind, next);
  // blocks are taken back from the tip downwards: so this lock also keeps the blocks below
  await tx.query('SELECT FROM chain.blocks WHERE height = $1 FOR KEY SHARE', [to]);
  const texts = await kind.readTexts(tx, network.name, { from: next, to, keep: false });
  const { number, version } = kind;
  const rows: (HashRow & { hash: BlockHash; count: number })[] = [];
  let previous = cumulative;
  for (const { ref, sha256, isKnown, count } of texts) {
    // the chain of hashes ends at a gap, or at a block whose events are not fully known
    if (!isKnown || count === null || ref.height !== next + rows.length) break;
    const hash = nextCumulative(previous, sha256);
    rows.push({ ...ref, number, version, count, sha256, cumulative: hash });
    previous = hash;
  }
  await writeHashes(tx, rows);
  if (number !== inscriptionKind.number) await addCounts(tx, rows);
  return rows.length;
}

/** Last height of a step that starts at `from`: as many blocks as the bound on events allows, at least one. */
async function stepEnd(tx: pg.ClientBase, kind: EventKind, from: Height): Promise<Height> {
  const { rows } =
    kind.number === inscriptionKind.number
      ? await tx.query<{ height: Height | null }>(
          `SELECT max(height) AS height FROM (
             SELECT height, sum(event_count) OVER (ORDER BY height, sequence) AS events FROM chain.outbox
             WHERE height >= $1 AND height < $1 + $2 AND cancels IS NULL AND reclassified IS NULL
           ) AS o WHERE events <= $3`,
          [from, blocksPerStep, eventsPerStep],
        )
      : await tx.query<{ height: Height | null }>(
          'SELECT max(height) AS height FROM chain.blocks WHERE height >= $1 AND height < $1 + $2',
          [from, uncountedBlocksPerStep],
        );
  return rows[0]?.height ?? from;
}
