import type pg from 'pg';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { follow } from '#indexer/follow/follow.ts';
import {
  expandFingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { spentOutputs, syntheticCoin, transferPlan } from './transfer-chain.ts';

/** Number of rows of `chain.inscriptions` and `chain.locations` in one statement. */
const rowsPerStatement = 1_000_000;

/**
 * Fills an empty database. The indexer writes the first blocks of the chain. Then many inscriptions are added as rows,
 * each in a separate output. These rows have the data that the writer and the ledger need for inscriptions that never
 * moved. Outputs that blocks will spend are spread evenly among all.
 */
export async function fillTrackedOutputs(pool: pg.Pool, source: BlockSource, outputs: number): Promise<void> {
  const { filledHeight } = transferPlan;
  await follow({ source, pool, until: asHeight(filledHeight), signal: new AbortController().signal });
  const client = await pool.connect();
  try {
    await client.query('SET synchronous_commit = off; SET statement_timeout = 0');
    await dropSecondaryIndexes(client);
    await copySpendable(client, outputs);
    await client.query(
      `INSERT INTO chain.contents (content_id, sha256, variant, text, body) VALUES (0, sha256('x'), 0, 0, 'x')`,
    );
    for (let from = 0; from < outputs; from += rowsPerStatement) {
      await insertRows(client, from, Math.min(outputs, from + rowsPerStatement));
    }
    await client.query(
      `UPDATE chain.blocks SET next_key = $1::integer, next_content_id = 1, sequence = $1::integer, blessed = $1::integer WHERE height = $2`,
      [outputs, filledHeight],
    );
    await client.query('DROP TABLE bench_spendable');
    await ensureSecondaryIndexes(client);
    await client.query('VACUUM ANALYZE');
  } finally {
    client.release(true);
  }
}

async function dropSecondaryIndexes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class c ON c.oid = indrelid
     WHERE c.relnamespace = 'chain'::regnamespace AND NOT indisprimary
       AND c.relname IN ('inscriptions', 'locations')`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
}

const spendable = { table: 'bench_spendable', columns: 'key, txid, fingerprint' };

async function copySpendable(client: pg.ClientBase, outputs: number): Promise<void> {
  const { rows } = await client.query<{ key: Buffer }>('SELECT fingerprint_key AS key FROM chain.state');
  const key = expandFingerprintKey(Uint8Array.from((rows[0] as { key: Buffer }).key));
  await client.query(
    'CREATE TEMP TABLE bench_spendable (key integer PRIMARY KEY, txid bytea, fingerprint bigint)',
  );
  const out = encoderOf(spendable);
  const outpoint = new DataView(new ArrayBuffer(36));
  for (let index = 0; index < spentOutputs; index++) {
    const { txid } = syntheticCoin(index);
    new Uint8Array(outpoint.buffer).set(txid);
    fingerprintOutpoint(outpoint, 0, key);
    out.row();
    out.int4(Math.floor((index * outputs) / spentOutputs));
    out.range(txid, 0, 32);
    out.int8Halves(fingerprint.high, fingerprint.low);
  }
  await copyBinary(client, spendable, out);
  await client.query('ANALYZE bench_spendable');
}

async function insertRows(client: pg.ClientBase, from: number, to: number): Promise<void> {
  const range = [from, to - 1, transferPlan.filledHeight];
  await client.query(
    `INSERT INTO chain.inscriptions
       (key, index, fee, height, tx_index, input, content_id, number, curse, charms, flags, txid, content_type)
     SELECT k, 0, 0, $3, k + 1, 0, 0, k, 0, 0, 0, coalesce(s.txid, sha256(int4send(k))), 'text/plain'
     FROM generate_series($1::integer, $2::integer) AS k LEFT JOIN bench_spendable s ON s.key = k`,
    range,
  );
  await client.query(
    `INSERT INTO chain.locations (key, height, sat_offset, value, outpoint_fingerprint, step, vout, place, script)
     SELECT k, $3, 0, 10000, coalesce(s.fingerprint, ('x' || left(md5(k::text), 16))::bit(64)::bigint), k + 1, 0, 0,
       '\\x5220'::bytea || coalesce(s.txid, sha256(int4send(k)))
     FROM generate_series($1::integer, $2::integer) AS k LEFT JOIN bench_spendable s ON s.key = k`,
    range,
  );
}
