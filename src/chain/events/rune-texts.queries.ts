import type { ClientBase, Pool } from 'pg';
import { hasBlock, isLeftOut, whyBehind } from '#chain/derived/derived-tables.queries.ts';
import { eachMint, txidOfMint } from '#chain/runes/rune.queries.ts';
import { runesNotIndexed } from '#chain/runes/rune-standing.queries.ts';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { parseRuneLine } from '#kernel/events/parse-rune-line.ts';
import { writeBurned, writeEtched, writeMinted, writeTransferred } from '#kernel/events/rune-lines.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { termsOfTexts } from '#kernel/runes/terms.ts';
import { u128OfText } from '#kernel/runes/u128.ts';
import type { BlockEventText, StoredEventKind, TextRange } from './stored-event-kind.ts';
import { type TextBlock, writeTexts } from './write-texts.ts';

const table = 'runes';
const identity: EventKindIdentity = { name: 'runes', number: 1, letter: 'r', version: 1 };

/** The kind of rune events, with the functions that read its stored data. */
export const storedRuneKind: StoredEventKind = {
  ...identity,
  firstHeight: (network) => network.firstRuneHeight,
  isKnownAt,
  readTexts,
  whyNotReadable,
  leftOut: async (client) => ((await isLeftOut(client, table)) ? runesNotIndexed() : null),
  parseLine: parseRuneLine,
};

async function isKnownAt(client: ClientBase, height: Height): Promise<boolean> {
  if (!(await hasBlock(client, table, height))) return false;
  const { rowCount } = await client.query('SELECT FROM chain.rune_blocks WHERE height = $1 AND anchored', [
    height,
  ]);
  return rowCount === 1;
}

/**
 * The reason why texts cannot be read while the indexes are missing. Without them, every page would read whole tables.
 */
async function whyNotReadable(client: ClientBase | Pool): Promise<string | null> {
  const { rows } = await client.query<{ is_built: boolean; has_blocks: boolean }>(
    `SELECT to_regclass('chain.rune_burns_height') IS NOT NULL AS is_built,
       EXISTS (SELECT FROM chain.outbox) AS has_blocks`,
  );
  const [row] = rows;
  if (row === undefined || !row.has_blocks) return null;
  const behind = await whyBehind(client, table);
  if (behind !== null) return behind;
  return row.is_built ? null : 'events are not available yet, because the first load is still running';
}

interface EventRow {
  height: Height;
  /** Position of the event among the events of its transaction: 0 minted, 1 etched, 2 transferred, 3 burned. */
  step: number;
  vout: number;
  txid: Txid;
  /** The id of the rune. */
  id_height: number;
  id_tx: number;
  amount: string | null;
  rune: string | null;
  spacers: number | null;
  divisibility: number | null;
  symbol: number | null;
  turbo: boolean | null;
  terms: (string | null)[] | null;
}

async function readTexts(
  client: ClientBase,
  network: NetworkName,
  { from, to, keep }: TextRange,
): Promise<BlockEventText[]> {
  await client.query(indexesOnly);
  const { rows: blocks } = await client.query<TextBlock>(
    `SELECT b.height, b.hash, coalesce(r.anchored, false) AS is_known
     FROM chain.blocks b LEFT JOIN chain.rune_blocks r ON r.height = b.height
     WHERE b.height BETWEEN $1 AND $2 ORDER BY b.height`,
    [from, to],
  );
  const events = await readEvents(client, from, to);
  return writeTexts(blocks, events, { identity, network, keep, writeLine });
}

/** Reads the events. A mint whose row has no txid has the txid of a balance or a burn of the same transaction. */
async function readEvents(client: ClientBase, from: Height, to: Height): Promise<EventRow[]> {
  const { rows } = await client.query<EventRow>(
    `SELECT e.height, e.step, e.vout, e.txid, r.height AS id_height, r.tx_index AS id_tx, e.amount::text,
       n.rune::text, n.spacers, n.divisibility, n.symbol, n.turbo,
       CASE WHEN n.has_terms THEN ARRAY[n.amount::text, n.cap::text, n.height_start::text, n.height_end::text,
         n.offset_start::text, n.offset_end::text] END AS terms
     FROM (
       SELECT m.height, mint.tx_index, 0 AS step, 0 AS vout, m.rune_key, coalesce(r.amount, 0) AS amount,
         coalesce(${txidOfMint},
           (SELECT b.txid FROM chain.rune_balances b WHERE b.height = m.height AND b.tx_index = mint.tx_index LIMIT 1),
           (SELECT b.txid FROM chain.rune_burns b WHERE b.height = m.height AND b.tx_index = mint.tx_index LIMIT 1)) AS txid
       FROM chain.rune_mints m CROSS JOIN ${eachMint} JOIN chain.runes r ON r.key = m.rune_key
       WHERE m.height BETWEEN $1 AND $2
       UNION ALL
       SELECT height, tx_index, 1, 0, key, premine, txid FROM chain.runes WHERE height BETWEEN $1 AND $2
       UNION ALL
       SELECT height, tx_index, 2, vout, rune_key, amount, txid FROM chain.rune_balances WHERE height BETWEEN $1 AND $2
       UNION ALL
       SELECT height, tx_index, 3, 0, rune_key, amount, txid FROM chain.rune_burns WHERE height BETWEEN $1 AND $2
     ) AS e
     JOIN chain.runes r ON r.key = e.rune_key
     LEFT JOIN chain.runes n ON e.step = 1 AND n.key = e.rune_key
     ORDER BY e.height, e.tx_index, e.step, e.vout, e.rune_key`,
    [from, to],
  );
  return rows;
}

function writeLine(out: EventTextWriter, row: EventRow): void {
  const { step, txid, vout } = row;
  const id = { block: row.id_height, tx: row.id_tx };
  const amount = u128OfText(row.amount ?? '0');
  if (step === 0) writeMinted(out, txid, 0, id, amount);
  else if (step === 2) writeTransferred(out, { txids: txid, txidAt: 0, vout }, id, amount);
  else if (step === 3) writeBurned(out, txid, id, amount);
  else {
    const { spacers, divisibility, symbol, turbo, terms } = row;
    writeEtched(out, txid, {
      ...id,
      rune: asRune(BigInt(row.rune ?? '0')),
      spacers: spacers ?? 0,
      divisibility: divisibility ?? 0,
      symbol,
      premine: amount,
      terms: terms === null ? null : termsOfTexts(terms),
      turbo: turbo === true,
    });
  }
}
