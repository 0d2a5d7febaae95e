import { inflateSync } from 'node:zlib';
import type pg from 'pg';
import { type OutboxEntry, readOutboxPage } from '#chain/events/events.queries.ts';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import { type EventKindIdentity, inscriptionKind } from '#kernel/events/event-kind.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** A row of the outbox with its stored text. */
export interface OutboxRow {
  readonly sequence: number;
  readonly height: number;
  readonly hash: string;
  readonly cancels: number | null;
  readonly count: number | null;
  readonly text: string | null;
}

export async function readOutbox(pool: pg.Pool): Promise<OutboxRow[]> {
  const { rows } = await pool.query<{
    sequence: number;
    height: number;
    block_hash: Buffer;
    cancels: number | null;
    event_count: number;
    events: Buffer | null;
  }>('SELECT * FROM chain.outbox ORDER BY sequence');
  return rows.map((row) => ({
    sequence: row.sequence,
    height: row.height,
    hash: Buffer.from(row.block_hash).reverse().toString('hex'),
    cancels: row.cancels,
    count: row.event_count,
    text: row.events === null ? null : inflateSync(row.events).toString('latin1'),
  }));
}

/** All entries of a kind in the outbox of regtest, read page by page like streams do. */
export async function readEntries(pool: pg.Pool, kind: StoredEventKind): Promise<OutboxEntry[]> {
  const entries: OutboxEntry[] = [];
  for (;;) {
    const page = await readOutboxPage(pool, kind, 'regtest', (entries.at(-1)?.sequence ?? 0) + 1, null);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

/** Hashes of a kind by height: the hash of the block's text, and the cumulative one. */
export async function readHashes(
  pool: pg.Pool,
  { number, version }: EventKindIdentity = inscriptionKind,
): Promise<Map<number, { sha256: string; cumulative: string }>> {
  const { rows } = await pool.query<{ height: number; sha256: Buffer; cumulative_sha256: Buffer }>(
    'SELECT height, sha256, cumulative_sha256 FROM chain.event_hashes WHERE kind = $1 AND version = $2 ORDER BY height',
    [number, version],
  );
  return new Map(
    rows.map(({ height, sha256, cumulative_sha256: cumulative }) => [
      height,
      { sha256: sha256.toString('hex'), cumulative: cumulative.toString('hex') },
    ]),
  );
}

/** Event texts of all blocks, rebuilt from the tables. */
export async function textsOfTables(
  pool: pg.Pool,
  network: NetworkName,
  kind: StoredEventKind = storedInscriptionKind,
): Promise<{ height: number; text: string; sha256: string; isKnown: boolean; count: number | null }[]> {
  const blocks = await withTransaction(pool, (tx) =>
    kind.readTexts(tx, network, { from: genesisHeight, to: asHeight(2 ** 31 - 1), keep: true }),
  );
  return blocks.map(({ ref, text, sha256, isKnown, count }) => ({
    height: ref.height,
    text: text?.toString('latin1') ?? '',
    sha256: sha256.toString('hex'),
    isKnown,
    count,
  }));
}
