import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { claimDerivedTables, type FollowedTables, readFollowed } from '#indexer/derived/derived-state.ts';
import type { DerivedSettings, DerivedTable } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { cborRulesVersion } from '#indexer/parse/cbor/cbor-json.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectPipelined } from '#kernel/pg/pool.ts';
import { claimNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { type Height, maxHeight } from '#kernel/primitives/height.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { textRulesVersion } from '#kernel/text/searchable.ts';
import { type ChainPosition, emptyChain } from './chain-position.ts';

/** The two connections of the single process that applies blocks, and the facts of the database that it needs. */
export interface ChainSession {
  /** Writes rows, pipelined; holds the advisory lock. */
  readonly writer: pg.Client;
  /** Queries committed data while a batch is being written. */
  readonly reader: pg.PoolClient;
  readonly fingerprintKey: Uint8Array;
  /** All derived tables that the program knows. */
  readonly tables: readonly DerivedTable[];
  /** Derived tables that the writer adds rows to. */
  readonly followed: FollowedTables;
  /** Releases the lock for the next process. */
  close(): Promise<void>;
}

/**
 * Settings of the writer's connection. The writer joins a few thousand ids with tables of millions of rows, so index
 * scans are right whatever the planner estimates. A connection that is idle within a transaction (its process was
 * suspended) would hold back VACUUM, so the server ends such a connection.
 */
export const writerSettings = `
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET statement_timeout = 0; SET idle_in_transaction_session_timeout = '10min'`;

/**
 * Takes the writer's lock and opens the session. Checks that the database was made with this network, these rules and
 * the derived tables of the settings (settings null: the tables that the database has). Sets up an empty database.
 * Throws `database_busy`, `network_mismatch`, `rules_changed` or the refusal of a derived table.
 */
export async function openChainSession(
  pool: pg.Pool,
  network: NetworkName,
  settings: DerivedSettings | null = null,
  tables: readonly DerivedTable[] = derivedTables,
): Promise<ChainSession> {
  let writer: pg.Client | null = null;
  let reader: pg.PoolClient | null = null;
  const close = async (): Promise<void> => {
    // a closing connection would hold the lock for a moment longer; a lost connection has already released it
    await writer?.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    // not awaited: a stalled server would not answer. The reader is not returned to the pool: its settings end with the
    // connection
    writer?.end().catch(() => undefined);
    reader?.release(true);
    writer = reader = null;
  };
  try {
    writer = await connectPipelined(pool);
    await takeAdvisoryLock(writer, 'writer');
    reader = await pool.connect();
    for (const client of [writer, reader]) await client.query(writerSettings);
    const claimed = await withTransaction(writer, async (tx) => {
      const fingerprintKey = await claimDatabase(tx, network);
      if (settings !== null) await claimDerivedTables(tx, networks[network], tables, settings);
      return { fingerprintKey, followed: await readFollowed(tx, tables) };
    });
    return { writer, reader, tables, close, ...claimed };
  } catch (error) {
    await close();
    throw error;
  }
}

async function claimDatabase(tx: pg.ClientBase, network: NetworkName): Promise<Uint8Array> {
  const instance = await claimNetwork(tx, network);
  await tx.query(
    `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules, set_up_at)
     VALUES ($1, $2, $3, $4, now()) ON CONFLICT DO NOTHING`,
    [network, randomBytes(32), textRulesVersion, cborRulesVersion],
  );
  const { rows } = await tx.query<{
    network: string;
    fingerprint_key: Buffer;
    text_rules: number;
    cbor_rules: number;
  }>('SELECT network, fingerprint_key, text_rules, cbor_rules FROM chain.state');
  const row = rows[0];
  if (row === undefined) throw new RangeError('chain.state is empty after an insert');
  if (instance !== network || row.network !== network) {
    throw new AppError(
      'network_mismatch',
      `The blocks are of ${network}, but this database serves ${instance}.`,
      { source: network, database: instance },
    );
  }
  if (row.text_rules !== textRulesVersion || row.cbor_rules !== cborRulesVersion) {
    throw new AppError(
      'rules_changed',
      'Another version made the database, with other rules for texts or CBOR.',
      {
        database: { text: row.text_rules, cbor: row.cbor_rules },
        program: { text: textRulesVersion, cbor: cborRulesVersion },
      },
    );
  }
  return Uint8Array.from(row.fingerprint_key);
}

/** Records when the index first had every block of its source. Later calls do not change the time. */
export async function noteCaughtUp(client: pg.ClientBase): Promise<void> {
  await client.query(
    'UPDATE chain.state SET caught_up_at = now() WHERE set_up_at IS NOT NULL AND caught_up_at IS NULL',
  );
}

interface TipRow {
  height: Height;
  hash: BlockHash;
  island_height: Height;
  still_anchored: boolean;
  next_key: number;
  next_content_id: number;
  next_metadata_id: number;
  sequence: number | null;
  blessed: number | null;
  cursed: number | null;
  unbound: number | null;
  lost_sats: number | null;
}

/** The chain position at the tip, or before the block at a height. */
export async function readPosition(
  client: pg.ClientBase,
  before: number = maxHeight,
): Promise<ChainPosition> {
  // an island is anchored until one of its blocks reveals or moves inscriptions while its spent outputs are not known
  const { rows } = await client.query<TipRow>(
    `SELECT height, hash, island_height, next_key, next_content_id, next_metadata_id,
       sequence, blessed, cursed, unbound, lost_sats,
       anchored AND (has_spent OR tx_count <= 1 OR (next_key = first_key
         AND NOT EXISTS (SELECT FROM chain.locations WHERE spent_height = b.height))) AS still_anchored
     FROM chain.blocks b WHERE height < $1 ORDER BY height DESC LIMIT 1`,
    [before],
  );
  const row = rows[0];
  if (row === undefined) return emptyChain;
  const { sequence, blessed, cursed, unbound, lost_sats: lostSats } = row;
  return {
    tip: { height: row.height, hash: asBlockHash(Uint8Array.from(row.hash)) },
    islandHeight: row.island_height,
    anchored: row.still_anchored,
    counters: { nextKey: row.next_key, sequence, blessed, cursed, unbound, lostSats },
    nextContentId: row.next_content_id,
    nextMetadataId: row.next_metadata_id,
  };
}
