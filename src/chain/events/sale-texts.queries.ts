import type { ClientBase, Pool } from 'pg';
import { hasBlock, whyBehind, whyOtherRules } from '#chain/derived/derived-tables.queries.ts';
import { saleNames } from '#chain/sales/sale.queries.ts';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { parseSaleLine } from '#kernel/events/parse-sale-line.ts';
import { type SaleLine, writeSold } from '#kernel/events/sale-lines.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { BlockEventText, StoredEventKind, TextRange } from './stored-event-kind.ts';

const table = 'sales';
const identity: EventKindIdentity = { name: 'sales', number: 2, letter: 's', version: 2 };

/** The stored data of events of sales. */
export const storedSaleKind: StoredEventKind = {
  ...identity,
  firstHeight: (network) => network.firstInscriptionHeight,
  isKnownAt,
  readTexts,
  whyNotReadable,
  parseLine: parseSaleLine,
};

/**
 * Whether all sales of a row `b` of chain.blocks are known: no inscription in the outputs that it spends is unknown,
 * and neither are these outputs.
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

/** The primary keys find all rows, so texts can be made during a first load too. */
async function whyNotReadable(client: ClientBase | Pool): Promise<string | null> {
  const { rows } = await client.query<{ is_wanted: boolean; has_blocks: boolean }>(
    `SELECT EXISTS (SELECT FROM chain.derived_tables WHERE name = $1) AS is_wanted,
       EXISTS (SELECT FROM chain.outbox) AS has_blocks`,
    [table],
  );
  const [row] = rows;
  if (row === undefined || !row.has_blocks) return null;
  if (!row.is_wanted) return 'sales are not indexed';
  return (await whyBehind(client, table)) ?? whyOtherRules(client, table, identity.version);
}

interface BlockRow {
  height: Height;
  hash: BlockHash;
  is_known: boolean;
}

type EventRow = Omit<SaleLine, 'class' | 'form' | 'confidence'> & {
  readonly height: Height;
  readonly class: number;
  readonly form: number;
  readonly confidence: number;
};

async function readTexts(
  client: ClientBase,
  network: NetworkName,
  { from, to, keep }: TextRange,
): Promise<BlockEventText[]> {
  await client.query(indexesOnly);
  const { rows: blocks } = await client.query<BlockRow>(
    `SELECT b.height, b.hash, ${isBlockKnown} AS is_known
     FROM chain.blocks b WHERE b.height BETWEEN $1 AND $2 ORDER BY b.height`,
    [from, to],
  );
  const events = await readEvents(client, from, to);
  const out = new EventTextWriter(Number.POSITIVE_INFINITY);
  let at = 0;
  return blocks.map(({ height, hash, is_known: isKnown }) => {
    out.begin(identity, network, { height, hash }, keep);
    const first = at;
    for (let row = events[at]; row !== undefined && row.height === height; row = events[++at])
      writeSold(out, lineOf(row));
    return {
      ref: { height, hash: asBlockHash(Uint8Array.from(hash)) },
      isKnown,
      count: isKnown ? at - first : null,
      ...out.finish(),
    };
  });
}

async function readEvents(client: ClientBase, from: Height, to: Height): Promise<EventRow[]> {
  const { rows } = await client.query<EventRow>(
    `SELECT s.height, i.txid AS "revealTxid", i.index, s.txid, s.input, s.class, s.form, s.confidence,
       s.price::float8 AS price, s.gross_payout::float8 AS "grossPayout", s.bundle,
       s.payout_output AS "payoutOutput", s.fee_output AS "feeOutput", s.sighash, s.wash AS "isWash", s.maker, s.taker
     FROM chain.sales s JOIN chain.inscriptions i USING (key)
     WHERE s.height BETWEEN $1 AND $2 ORDER BY s.height, s.tx_index, s.input, s.place`,
    [from, to],
  );
  return rows;
}

function lineOf(row: EventRow): SaleLine {
  return {
    ...row,
    ...saleNames(row),
  };
}
