import type pg from 'pg';
import { askRunes } from '#indexer/derived/runes/rune-question.ts';
import { outpointLength, outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import { RuneState } from '#indexer/ledger/runes/rune-state.ts';
import type { RunicHolding } from '#indexer/mempool/pending/pending-runes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { maxHeight } from '#kernel/primitives/height.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';

/** Maximum id that a column can hold. No rune has a larger id. */
const integerMax = 2 ** 31 - 1;

/** Outpoints, runes and names that some pending transactions use. */
export interface NamedRunes {
  /** 36 bytes each. */
  readonly outpoints: readonly Uint8Array[];
  readonly ids: readonly RuneId[];
  readonly names: readonly Rune[];
  /** Keys of runes that pending outputs hold. */
  readonly keys: readonly number[];
}

export interface IndexedRunes {
  readonly state: RuneState;
  /** Holdings by the 36 bytes of the outpoint, as latin-1. */
  readonly held: ReadonlyMap<string, RunicHolding>;
}

/**
 * The indexed runes, taken names and unspent outputs that some pending transactions name. Costs one query, and one more
 * if outputs hold runes.
 */
export async function indexedRunes(
  client: pg.Pool,
  { outpoints, ids, names, keys }: NamedRunes,
): Promise<IndexedRunes> {
  const state = new RuneState();
  const held = new Map<string, RunicHolding>();
  if ([outpoints, ids, names, keys].every(({ length }) => length === 0)) return { state, held };
  const asked = {
    outpoints: [...outpoints],
    ids: ids.flatMap(({ block, tx }) =>
      typeof block === 'number' && block <= integerMax && tx <= integerMax ? { block, tx } : [],
    ),
    names: [...names],
    keys: [...keys],
  };
  const answer = await askRunes(client, asked, { below: maxHeight, spentUpTo: null }, state);
  const found = outpoints.filter((outpoint) => answer.held.has(outpointName(outpoint, 0)));
  for (const { txid, vout, script } of await scriptsOf(client, found)) {
    const outpoint = Buffer.alloc(outpointLength);
    outpoint.set(txid);
    outpoint.writeUInt32LE(vout, 32);
    const holding = answer.held.get(outpointName(outpoint, 0));
    // the output was spent meanwhile
    if (holding === undefined) continue;
    const { height, tx, balances } = holding;
    held.set(outpointName(outpoint, 0), { outpoint, script, balances, place: { height, tx } });
  }
  return { state, held };
}

async function scriptsOf(
  client: pg.Pool,
  outpoints: readonly Uint8Array[],
): Promise<{ txid: Txid; vout: number; script: Buffer }[]> {
  if (outpoints.length === 0) return [];
  const parts = outpoints.map((outpoint) => Buffer.from(outpoint));
  const { rows } = await client.query<{ txid: Txid; vout: number; script: Buffer }>(
    `SELECT DISTINCT b.txid, b.vout, b.script
     FROM unnest($1::bytea[], $2::bigint[]) AS asked(txid, vout)
     JOIN chain.rune_balances b ON chain.hash64(b.txid, b.vout) = chain.hash64(asked.txid, asked.vout)
       AND b.txid = asked.txid AND b.vout = asked.vout
     WHERE b.spent_height IS NULL`,
    [parts.map((part) => part.subarray(0, 32)), parts.map((part) => part.readUInt32LE(32))],
  );
  return rows;
}
