import type pg from 'pg';
import { outpointLength, outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import type { Balance, HeldRunes, RuneState } from '#indexer/ledger/runes/rune-state.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { trustedHeight } from '#kernel/primitives/height.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { termsOfTexts } from '#kernel/runes/terms.ts';
import { u128OfText } from '#kernel/runes/u128.ts';

const hashLength = 32;

/** Questions of a batch about earlier blocks, if memory has no answer. */
export interface AskedRunes {
  /** 36 bytes each. */
  readonly outpoints: Uint8Array[];
  /** Ids of runes: height, and index of the transaction. */
  readonly ids: { readonly block: number; readonly tx: number }[];
  readonly names: Rune[];
  /** Keys of runes. */
  readonly keys: number[];
}

/** Selects the rows that an answer may use. */
export interface AskedState {
  /** Only rows of blocks below this height. */
  readonly below: number;
  /** Spends by blocks from `below` up to this height are ignored. Null: no such block is stored. */
  readonly spentUpTo: number | null;
}

/** An output and a rune in it. Without txid and vout: a rune, with its name instead of an amount. */
interface Row {
  height: number;
  tx_index: number;
  vout: number | null;
  key: number;
  amount: string;
  txid: Txid | null;
  mints: number | null;
  burned: string | null;
  terms: (string | null)[] | null;
}

/** The part of the database's answer that is not in the state. */
export interface RuneAnswer {
  /** Keys of the runes that were added to the state. */
  readonly keys: readonly number[];
  /**
   * Outputs by the 36 bytes of their outpoint, as latin-1. May contain more outputs than were asked for, if later
   * blocks spent them.
   */
  readonly held: ReadonlyMap<string, HeldRunes>;
}

/**
 * Queries the database in one statement, and adds runes and taken names to the state, with the runes in the outputs.
 */
export async function askRunes(
  client: pg.ClientBase | pg.Pool,
  { outpoints, ids, names, keys }: AskedRunes,
  { below, spentUpTo }: AskedState,
  state: RuneState,
): Promise<RuneAnswer> {
  const txids = Buffer.concat(outpoints.map((outpoint) => outpoint.subarray(0, hashLength)));
  const vouts = outpoints.map((outpoint) =>
    new DataView(outpoint.buffer, outpoint.byteOffset).getInt32(hashLength, true),
  );
  const { rows } = await client.query<Row>(
    `WITH held AS MATERIALIZED (
       SELECT b.height, b.tx_index, b.vout, b.rune_key, b.amount, b.txid
       FROM (
         SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout
         FROM unnest($2::integer[]) WITH ORDINALITY AS given(vout, place)
       ) AS asked
       JOIN chain.rune_balances b ON chain.hash64(b.txid, b.vout) = chain.hash64(asked.txid, asked.vout)
         AND b.txid = asked.txid AND b.vout = asked.vout
       WHERE b.spent_height IS NULL AND b.height < $3
       ${spentUpTo === null ? '' : spentLater}
     ), known AS (
       SELECT r.key FROM unnest($4::integer[], $5::integer[]) AS id(height, tx_index)
       JOIN chain.runes r ON r.height = id.height AND r.tx_index = id.tx_index
       UNION SELECT key FROM chain.runes WHERE rune = ANY($6::numeric[])
       UNION SELECT rune_key FROM held
       UNION SELECT unnest($7::integer[])
     )
     SELECT height, tx_index, vout, rune_key AS key, amount::text, txid,
       NULL::integer AS mints, NULL::text AS burned, NULL::text[] AS terms FROM held
     UNION ALL
     SELECT r.height, r.tx_index, NULL, r.key, r.rune::text, NULL, m.mints, b.total::text,
       CASE WHEN r.has_terms THEN ARRAY[r.amount::text, r.cap::text, r.height_start::text, r.height_end::text,
         r.offset_start::text, r.offset_end::text] END
     FROM known k JOIN chain.runes r ON r.key = k.key
     LEFT JOIN LATERAL (
       SELECT mints FROM chain.rune_mints WHERE ${ofRuneBelow} ORDER BY rune_key DESC, height DESC LIMIT 1
     ) AS m ON true
     LEFT JOIN LATERAL (
       SELECT total FROM chain.rune_burns WHERE ${ofRuneBelow}
       ORDER BY rune_key DESC, height DESC, tx_index DESC LIMIT 1
     ) AS b ON true
     WHERE r.height < $3`,
    [
      txids,
      int4Array(vouts),
      below,
      int4Array(ids.map(({ block }) => block)),
      int4Array(ids.map(({ tx }) => tx)),
      names.map(String),
      int4Array(keys),
      ...(spentUpTo === null ? [] : [spentUpTo]),
    ],
  );
  return tell(rows, state);
}

/** SQL: adds outputs that later blocks spend, because the indexes of unspent outputs lack them. */
const spentLater = `UNION ALL SELECT height, tx_index, vout, rune_key, amount, txid FROM chain.rune_balances
       WHERE spent_height BETWEEN $3 AND $8 AND height < $3`;

/**
 * SQL: a range instead of `rune_key = …`. With equality, an index on height alone also gives the wanted order. If most
 * rows belong to one rune, the planner chooses that index, and reads all of its rows for each rune without rows.
 */
const ofRuneBelow = 'rune_key BETWEEN r.key AND r.key AND height < $3';

function tell(rows: readonly Row[], state: RuneState): RuneAnswer {
  const keys: number[] = [];
  const outpoint = Buffer.alloc(outpointLength);
  const held = new Map<string, { height: number; tx: number; balances: Balance[] }>();
  for (const row of rows) {
    const { height, tx_index: tx, vout, key, amount, txid } = row;
    if (txid === null || vout === null) {
      const { mints, burned, terms } = row;
      const entry = {
        key,
        block: trustedHeight(height),
        tx,
        terms: terms === null ? null : termsOfTexts(terms),
      };
      state.learnRune(entry, mints ?? 0, u128OfText(burned ?? '0'));
      state.learnTaken(asRune(BigInt(amount)));
      keys.push(key);
      continue;
    }
    outpoint.set(txid);
    outpoint.writeInt32LE(vout, hashLength);
    const name = outpointName(outpoint, 0);
    const balance = { key, amount: u128OfText(amount) };
    const known = held.get(name);
    if (known === undefined) held.set(name, { height, tx, balances: [balance] });
    else known.balances.push(balance);
  }
  // sort by key, which is the order of ids
  for (const { balances } of held.values()) balances.sort((a, b) => a.key - b.key);
  return { keys, held };
}
