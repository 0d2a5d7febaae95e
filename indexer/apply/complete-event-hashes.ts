import type pg from 'pg';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { completeOutbox } from './outbox-rows.ts';
import { ensureSecondaryIndexes } from './secondary-indexes.ts';

/** Events of one transaction: some 10 MB of rows in memory, and a fraction of a second. */
const eventsPerStep = 20_000;
/** Blocks of one transaction, however little is in them. */
const blocksPerStep = 1000;
/** Blocks of one transaction where nobody has counted their events: full blocks have some 4,000 of a kind. */
const uncountedBlocksPerStep = 25;

export interface CompleteOptions {
  readonly network: NetworkParameters;
  readonly kinds: readonly EventKind[];
  /** Aborted: what is committed stays, and the reason is thrown. */
  readonly signal?: AbortSignal;
  /** After each commit, with the height that has a hash now. */
  readonly onProgress?: (height: number, kind: EventKind) => void;
}

/**
 * Makes the outbox and the hashes of a database whole that was filled by a version without them, without one of the kinds, or with
 * another text of it: every block gets its row, and every block whose events are known its hashes, kind after kind. Asks
 * a few questions where nothing is missing. `client` is outside of a transaction.
 *
 * It is the writer's; or a catch-up pass's, for a kind whose `ledgerEvents` are null until it is done. Gives the number
 * of hashes that were added.
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
    // the block was taken back meanwhile
    if (made === 0) return added;
    added += made;
    onProgress?.(end.next + made - 1, kind);
  }
}

/** Texts and hashes of another version are made again. */
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
  /** The first height without a hash, and the cumulative hash before it. */
  readonly next: number;
  readonly cumulative: Uint8Array;
  /** There is a block, and it is of those that have hashes. */
  readonly isNextKnown: boolean;
}

async function readEnd(
  client: pg.ClientBase,
  kind: EventKind,
  network: NetworkParameters,
): Promise<ChainEnd> {
  const { rows } = await client.query<{ height: number; cumulative_sha256: Buffer }>(
    `SELECT height, cumulative_sha256 FROM chain.event_hashes WHERE kind = $1 ORDER BY height DESC LIMIT 1`,
    [kind.number],
  );
  const next = rows[0] === undefined ? kind.firstHeight(network) : rows[0].height + 1;
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
  // blocks go from the tip downwards: while this one cannot go, those below it cannot either
  await tx.query('SELECT FROM chain.blocks WHERE height = $1 FOR KEY SHARE', [to]);
  const texts = await kind.readTexts(tx, network.name, { from: next, to, keep: false });
  const rows: { height: number; hash: Uint8Array; count: number; sha256: Buffer; cumulative: Buffer }[] = [];
  let previous = cumulative;
  for (const { ref, sha256, isKnown, count } of texts) {
    // behind a gap, or behind a block that is not known in full, there is no chain any more
    if (!isKnown || ref.height !== next + rows.length) break;
    const hash = nextCumulative(previous, sha256);
    rows.push({ ...ref, count, sha256, cumulative: hash });
    previous = hash;
  }
  await tx.query(
    `INSERT INTO chain.event_hashes (kind, version, height, sha256, cumulative_sha256)
     SELECT $1, $2, h.* FROM unnest($3::integer[], $4::bytea[], $5::bytea[]) AS h`,
    [
      kind.number,
      kind.version,
      rows.map(({ height }) => height),
      rows.map(({ sha256 }) => sha256),
      rows.map(({ cumulative: hash }) => hash),
    ],
  );
  if (kind.number !== inscriptionKind.number) await addCounts(tx, kind, rows);
  return rows.length;
}

/** A block that came, went and came again has several rows in the outbox: the last one stands for it. */
async function addCounts(
  tx: pg.ClientBase,
  kind: EventKind,
  blocks: readonly { readonly height: number; readonly hash: Uint8Array; readonly count: number }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO chain.outbox_texts (sequence, kind, height, event_count)
     SELECT (SELECT max(sequence) FROM chain.outbox o WHERE o.height = b.height AND block_hash = hash AND cancels IS NULL),
       $1, height, count
     FROM unnest($2::integer[], $3::bytea[], $4::integer[]) AS b(height, hash, count)
     ON CONFLICT (kind, sequence) DO UPDATE SET event_count = EXCLUDED.event_count`,
    [
      kind.number,
      blocks.map(({ height }) => height),
      blocks.map(({ hash }) => Buffer.from(hash)),
      blocks.map(({ count }) => count),
    ],
  );
}

/** The last height of a step: as many blocks as hold so many events, and one at least. */
async function stepEnd(tx: pg.ClientBase, kind: EventKind, from: number): Promise<number> {
  const { rows } =
    kind.number === inscriptionKind.number
      ? await tx.query<{ height: number | null }>(
          `SELECT max(height) AS height FROM (
             SELECT height, sum(event_count) OVER (ORDER BY height, sequence) AS events FROM chain.outbox
             WHERE height >= $1 AND height < $1 + $2 AND cancels IS NULL
           ) AS o WHERE events <= $3`,
          [from, blocksPerStep, eventsPerStep],
        )
      : await tx.query<{ height: number | null }>(
          'SELECT max(height) AS height FROM chain.blocks WHERE height >= $1 AND height < $1 + $2',
          [from, uncountedBlocksPerStep],
        );
  return rows[0]?.height ?? from;
}
