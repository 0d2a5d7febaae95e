import type { ClientBase, Pool } from 'pg';
import { hasBlock, whyBehind, whyOtherRules } from '#chain/derived/derived-tables.queries.ts';
import { areSalesLeftOut, evidenceColumns, saleNames, salesNotIndexed } from '#chain/sales/sale.queries.ts';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { parseSaleLine } from '#kernel/events/parse-sale-line.ts';
import { type SaleLine, writeSold } from '#kernel/events/sale-lines.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { AsStored } from '#kernel/sales/sale-evidence.ts';
import type { BlockEventText, StoredEventKind, TextRange } from './stored-event-kind.ts';
import { type TextBlock, writeTexts } from './write-texts.ts';

const table = 'sales';
const identity: EventKindIdentity = { name: 'sales', number: 2, letter: 's', version: 3 };

/** The kind of sale events, with the functions that read its stored data. */
export const storedSaleKind: StoredEventKind = {
  ...identity,
  firstHeight: (network) => network.firstInscriptionHeight,
  isKnownAt,
  readTexts,
  leftOut: async (client) => ((await areSalesLeftOut(client)) ? salesNotIndexed() : null),
  whyNotReadable,
  parseLine: parseSaleLine,
};

/**
 * SQL: whether all sales of a row `b` of chain.blocks are known. This needs the outputs that the block spent, and the
 * inscriptions in these outputs.
 */
const isBlockKnown = 'b.anchored AND (b.has_spent OR b.tx_count <= 1)';

async function isKnownAt(client: ClientBase, height: Height): Promise<boolean> {
  if (!(await hasBlock(client, table, height))) return false;
  const { rowCount } = await client.query(
    `SELECT FROM chain.blocks b WHERE b.height = $1 AND ${isBlockKnown}`,
    [height],
  );
  return rowCount === 1;
}

/**
 * The reason why texts cannot be read. A missing database index is never the reason, because primary keys find all
 * rows, so texts can be rebuilt even during a first load.
 */
async function whyNotReadable(client: ClientBase | Pool): Promise<string | null> {
  return (await whyBehind(client, table)) ?? whyOtherRules(client, table, identity.version);
}

type EventRow = AsStored<SaleLine> & { readonly height: Height };

async function readTexts(
  client: ClientBase,
  network: NetworkName,
  { from, to, keep }: TextRange,
): Promise<BlockEventText[]> {
  await client.query(indexesOnly);
  const { rows: blocks } = await client.query<TextBlock>(
    `SELECT b.height, b.hash, ${isBlockKnown} AS is_known
     FROM chain.blocks b WHERE b.height BETWEEN $1 AND $2 ORDER BY b.height`,
    [from, to],
  );
  const events = await readEvents(client, from, to);
  return writeTexts(blocks, events, {
    identity,
    network,
    keep,
    writeLine: (out, row) => writeSold(out, lineOf(row)),
  });
}

async function readEvents(client: ClientBase, from: Height, to: Height): Promise<EventRow[]> {
  const { rows } = await client.query<EventRow>(
    `SELECT s.height, i.txid AS "revealTxid", i.index, s.txid, s.input, ${evidenceColumns}
     FROM chain.sales s JOIN chain.inscriptions i USING (key)
     WHERE s.height BETWEEN $1 AND $2 ORDER BY s.height, s.tx_index, s.input, s.place`,
    [from, to],
  );
  return rows;
}

const lineOf = (row: EventRow): SaleLine => ({ ...row, ...saleNames(row) });
