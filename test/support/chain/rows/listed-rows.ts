import type pg from 'pg';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { type Child, countChildren } from './parent-children-rows.ts';

/**
 * A chain of inscriptions for lists. Each inscription is a function of its key: SQL writes it, and tests compute the
 * same.
 */
export interface ListedRows {
  readonly count: number;
  readonly perBlock: number;
}

export interface ListedRow {
  readonly key: number;
  readonly height: number;
  readonly type: string | null;
  readonly number: number | null;
  /** Curse as stored (kernel/primitives/curse.ts); `null` if unknown. */
  readonly curse: number | null;
  readonly metaprotocol: string | null;
  /** Number of the delegate and of the owner; `null` if there is none. */
  readonly delegate: number | null;
  readonly owner: number | null;
  readonly parent: number | null;
}

const types = ['text/plain', 'image/png', 'text/plain;charset=utf-8', 'image/webp', 'text/plain', 'no-slash'];

/** ord's jubilee on regtest. From this height on, no inscription is cursed. */
export const jubileeHeight = 110;

export function listedRow(key: number, { perBlock }: ListedRows): ListedRow {
  return {
    key,
    height: Math.floor(key / perBlock),
    type: key % 7 === 6 ? null : (types[key % 6] as string),
    number: key % 11 === 3 && key < jubileeHeight * perBlock ? -key : key % 97 === 0 ? null : key,
    curse: key % 3 === 2 ? null : (key % 3) * 7,
    metaprotocol: key % 5 === 0 ? `p${key % 3}` : null,
    delegate: key % 4 === 1 ? key % 10 : null,
    owner: key % 13 === 0 ? null : key % 2 === 0 ? 0 : key % 500,
    parent: key > 10 && key % 3 === 0 ? key % 2 : null,
  };
}

export const ownerScript = (owner: number): Buffer => {
  const script = Buffer.alloc(22);
  script[1] = 20;
  script.writeUInt32LE(owner, 2);
  return script;
};

/** Writes the rows with SQL, builds the indexes and runs ANALYZE. */
export async function writeListedRows(pool: pg.Pool, { count, perBlock }: ListedRows): Promise<void> {
  const row = `
    WITH r AS (SELECT k AS key, k / ${perBlock} AS height FROM generate_series(0, ${count - 1}) AS k)`;
  await pool.query(`
    INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
    VALUES ('regtest', sha256('key'), ${Math.ceil(count / perBlock) - 1}, sha256('tip'), 1, 1)`);
  await pool.query(`${row}
    INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored,
      has_spent, first_key, next_key, next_content_id, next_metadata_id, sequence, blessed, cursed, unbound, lost_sats)
    SELECT height, sha256(('block ' || height)::bytea), decode(repeat('00', 80), 'hex'), height * 600, now(), 1000, 1, 0,
      true, true, min(key), max(key) + 1, 0, 0, max(key) + 1, 0, 0, 0, 0
    FROM r GROUP BY height`);
  await pool.query(`${row}
    INSERT INTO chain.inscriptions (key, index, height, tx_index, input, number, curse, flags, txid, content_type)
    SELECT key, 0, height, 1, 0,
      CASE WHEN key % 11 = 3 AND height < ${jubileeHeight} THEN -key WHEN key % 97 = 0 THEN NULL ELSE key END,
      CASE WHEN key % 3 <> 2 THEN key % 3 * 7 END, 0, sha256(('tx ' || key)::bytea),
      CASE WHEN key % 7 <> 6 THEN ((ARRAY['${types.join("','")}'])[key % 6 + 1])::bytea END
    FROM r`);
  await pool.query(`${row}
    INSERT INTO chain.inscription_details (key, metaprotocol, delegate)
    SELECT key, CASE WHEN key % 5 = 0 THEN ('p' || key % 3)::bytea END,
      CASE WHEN key % 4 = 1 THEN sha256(('delegate ' || key % 10)::bytea) || decode('00000000', 'hex') END
    FROM r WHERE key % 5 = 0 OR key % 4 = 1`);
  // each inscription has two locations, the first of which is spent
  await pool.query(`${row}
    INSERT INTO chain.locations (key, height, sat_offset, value, step, vout, spent_height, place, script)
    SELECT key, height, 0, 546, 0, 0, height, 0, decode('0014', 'hex') || decode(repeat('00', 20), 'hex') FROM r
    UNION ALL
    SELECT key, height, 0, 546, 1, 0, NULL, CASE WHEN key % 13 = 0 THEN 1 ELSE 0 END,
      CASE WHEN key % 13 <> 0 THEN decode('0014', 'hex') || substring(
        decode(lpad(to_hex(CASE WHEN key % 2 = 0 THEN 0 ELSE key % 500 END), 8, '0'), 'hex') FROM 4 FOR 1)
        || substring(decode(lpad(to_hex(CASE WHEN key % 2 = 0 THEN 0 ELSE key % 500 END), 8, '0'), 'hex') FROM 3 FOR 1)
        || decode(repeat('00', 18), 'hex') END
    FROM r`);
  await pool.query(`${row}
    INSERT INTO chain.parents (child_key, position, parent_key, height)
    SELECT key, 0, key % 2, height FROM r WHERE key > 10 AND key % 3 = 0`);
  const children = await pool.query<Child>(
    'SELECT child_key AS child, parent_key AS parent FROM chain.parents ORDER BY child_key',
  );
  await countChildren(pool, children.rows);
  const client = await pool.connect();
  try {
    await ensureSecondaryIndexes(client);
    // a short load leaves the tables in this state
    await client.query('BEGIN; SET LOCAL default_statistics_target = 25; ANALYZE; COMMIT');
  } finally {
    client.release();
  }
}
