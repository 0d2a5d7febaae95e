import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { runeEvents } from '#indexer/events/rune-events.ts';
import { hardcodedRunes } from '#indexer/ledger/runes/rune-entry.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { DerivedTable } from '../derived-table.ts';
import { encodeRune, runeTargets } from './rune-encoding.ts';
import { runeIndexes } from './rune-indexes.ts';
import { RuneMemory } from './rune-memory.ts';
import { RuneRows } from './rune-rows.ts';

const balances = 'chain.rune_balances';
const entries = runeTargets.etched;

/** Runes as ord has them (docs/adr/0098-tables-of-runes.md). */
export const runes: DerivedTable = {
  name: 'runes',
  facts: ['runestone-candidates', 'spent-scripts'],
  targets: Object.values(runeTargets),
  indexes: runeIndexes,
  firstHeight: ({ firstRuneHeight }) => firstRuneHeight,
  isWanted: ({ indexRunes }) => indexRunes,
  eventKind: runeEvents,
  create: writeHardcoded,
  openMemory: (client, chain) => RuneMemory.open(client, chain),
  begin: ([blocks, etched, held, mints, burns], context) => {
    assert(
      blocks !== undefined &&
        etched !== undefined &&
        held !== undefined &&
        mints !== undefined &&
        burns !== undefined,
      'five encoders',
    );
    return new RuneRows({ blocks, runes: etched, balances: held, mints, burns }, context);
  },
  async undo(tx, { ref: { height } }) {
    const made = await outpointsOf(
      tx,
      `DELETE FROM ${balances} WHERE height = $1
       RETURNING CASE WHEN spent_height IS NULL THEN txid END AS txid, vout`,
      height,
    );
    const spent = await outpointsOf(
      tx,
      `UPDATE ${balances} SET spent_height = NULL, spent_tx_index = NULL WHERE spent_height = $1
       RETURNING txid, vout`,
      height,
    );
    await tx.query(
      `WITH mints AS (DELETE FROM chain.rune_mints WHERE height = $1),
         burns AS (DELETE FROM chain.rune_burns WHERE height = $1),
         runes AS (DELETE FROM chain.runes WHERE height = $1)
       DELETE FROM chain.rune_blocks WHERE height = $1`,
      [height],
    );
    return { made, spent };
  },
  strays: `
    SELECT of AS table, row, height FROM (
      SELECT 'chain.runes' AS of, 'key ' || key AS row, height FROM chain.runes WHERE txid <> decode(repeat('00', 32), 'hex')
      UNION ALL SELECT '${balances}', 'height ' || height || ', tx_index ' || tx_index || ', vout ' || vout, height FROM ${balances}
      UNION ALL SELECT 'chain.rune_mints', 'rune_key ' || rune_key || ', height ' || height, height FROM chain.rune_mints
      UNION ALL SELECT 'chain.rune_burns', 'rune_key ' || rune_key || ', height ' || height, height FROM chain.rune_burns
    ) AS r
    WHERE height <= $1 AND NOT EXISTS (
      SELECT FROM chain.rune_blocks b WHERE b.height = r.height AND b.anchored)
    UNION ALL
    SELECT 'chain.rune_blocks', 'height ' || height, height FROM chain.rune_blocks r
    WHERE height <= $1 AND NOT EXISTS (SELECT FROM chain.blocks b WHERE b.height = r.height)
    UNION ALL
    SELECT '${balances}', 'rune_key ' || key || ': held and burned are not what was minted and the premine', $1::integer
    FROM chain.runes r
    WHERE premine
        + coalesce(amount, 0) * (SELECT coalesce(sum(cardinality(m.tx_indexes)), 0) FROM chain.rune_mints m
            WHERE m.rune_key = r.key AND m.height <= $1)
      <> (SELECT coalesce(sum(b.amount), 0) FROM ${balances} b
          WHERE b.rune_key = r.key AND b.height <= $1 AND (b.spent_height IS NULL OR b.spent_height > $1))
        + (SELECT coalesce(sum(b.amount), 0) FROM chain.rune_burns b WHERE b.rune_key = r.key AND b.height <= $1)
      AND r.height <= $1`,
};

/** Outpoints of changed rows, 36 bytes each, read as one value. */
async function outpointsOf(tx: pg.ClientBase, change: string, height: number): Promise<Buffer> {
  const { rows } = await tx.query<{ txids: Buffer; vouts: Buffer }>(
    `WITH changed AS (${change})
     SELECT coalesce(string_agg(txid, ''::bytea), ''::bytea) AS txids,
       coalesce(string_agg(int4send(vout), ''::bytea) FILTER (WHERE txid IS NOT NULL), ''::bytea) AS vouts
     FROM changed`,
    [height],
  );
  const [row] = rows;
  assert(row !== undefined, 'an aggregate has one row');
  const { txids, vouts } = row;
  const count = vouts.length / 4;
  const outpoints = Buffer.alloc(count * outpointLength);
  for (let at = 0; at < count; at++) {
    txids.copy(outpoints, at * outpointLength, at * hashLength, (at + 1) * hashLength);
    outpoints.writeInt32LE(vouts.readInt32BE(at * 4), at * outpointLength + hashLength);
  }
  return outpoints;
}

const hashLength = 32;
const outpointLength = 36;

/** Writes 1:0 of mainnet, which has no etching. */
async function writeHardcoded(tx: pg.ClientBase, { name }: NetworkParameters): Promise<void> {
  const { rows } = await tx.query<{ key: number }>('SELECT key FROM chain.runes WHERE height <= 1');
  const out = encoderOf(entries);
  for (const entry of hardcodedRunes(name))
    if (!rows.some(({ key }) => key === entry.key)) encodeRune(out, entry);
  if (out.rows > 0) await copyBinary(tx, entries, out);
}
