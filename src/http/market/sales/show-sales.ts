import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { OutboxEntry } from '#chain/events/events.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import type { EventsOfRow, FedEvent } from '#http/events/event-feed.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { eventId } from '#kernel/events/event-id.ts';
import { parseEventText } from '#kernel/events/parse-event-text.ts';
import { parseSaleLine, type SaleEvent } from '#kernel/events/parse-sale-line.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { displayHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { slugsOf } from '#market/sales/sale-context.store.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';

/** A sale in an outbox row, with the index of its event. */
type IndexedSale = readonly [index: number, sale: SaleEvent];

/**
 * Shows sale events in the market's form, with addresses and slug. Deliveries of the operator's own orders are left
 * out. A page needs two statements.
 */
export function showSales(pool: pg.Pool, network: NetworkParameters) {
  return async (entries: readonly OutboxEntry[], signal: AbortSignal): Promise<EventsOfRow> => {
    const salesOf = new Map(entries.map((entry) => [entry.sequence, readSales(entry)]));
    const sales = [...salesOf.values()].flat().map(([, sale]) => sale);
    const ids = [...new Set(sales.map(({ inscriptionId }) => inscriptionId))];
    const read = async (client: pg.PoolClient): Promise<Context> =>
      new Context(
        ids,
        await slugsOf(client, ids.map(knownId)),
        await ownTransactions(client, [...new Set(sales.map(({ txid }) => txid))].map(knownTxid)),
      );
    const context =
      sales.length === 0 ? new Context([], [], []) : await withCutConnection(pool, signal, read);
    return (entry, from) => eventsOf(entry, from, salesOf.get(entry.sequence) ?? [], context, network);
  };
}

/** Data that a page needs and its events do not contain. */
class Context {
  readonly #slugs: ReadonlyMap<string, string | null>;
  readonly #own: ReadonlySet<string>;

  constructor(ids: readonly string[], slugs: readonly (string | null)[], own: readonly Txid[]) {
    this.#slugs = new Map(ids.map((id, at) => [id, slugs[at] ?? null]));
    this.#own = new Set(own.map((txid) => displayHash(txid)));
  }

  isOwn(txid: string): boolean {
    return this.#own.has(txid);
  }

  slugOf(id: string): string | null {
    return this.#slugs.get(id) ?? null;
  }
}

function readSales({ cancels, text }: OutboxEntry): IndexedSale[] {
  return cancels === null && text !== null ? [...parseEventText(text, 1, parseSaleLine)] : [];
}

function* eventsOf(
  { sequence, height, hash, cancels, reclassified }: OutboxEntry,
  fromIndex: number,
  sales: readonly IndexedSale[],
  context: Context,
  network: NetworkParameters,
): Generator<FedEvent> {
  const blockHash = displayHash(hash);
  const fed = (index: number, type: string, fields: object): FedEvent => {
    const id = eventId(storedSaleKind, sequence, index);
    return { id, type, json: JSON.stringify({ id, type, ...fields }) };
  };
  if (cancels !== null && fromIndex === 0) yield fed(0, 'undo', { height, blockHash, cancels });
  if (reclassified === storedSaleKind.number && fromIndex === 0)
    yield fed(0, 'reclassified', { height, blockHash, rules: storedSaleKind.version });
  for (const [index, sale] of sales) {
    if (index < fromIndex || context.isOwn(sale.txid)) continue;
    const { inscriptionId, txid, input, price, grossPayout, form, confidence, bundle, wash } = sale;
    yield fed(index, 'sale', {
      inscriptionId,
      txid,
      input,
      height,
      blockHash,
      class: sale.class,
      price,
      grossPayout,
      makerAddress: addressOf(sale.makerScript, network),
      takerAddress: sale.takerScript === null ? null : addressOf(sale.takerScript, network),
      form,
      confidence,
      slug: context.slugOf(inscriptionId),
      bundle,
      wash,
    });
  }
}

/**
 * The address of a script. `null` if the script has no address. Truncated scripts never have an address, because only
 * scripts above 128 bytes are truncated.
 */
const addressOf = (script: string, network: NetworkParameters): string | null =>
  scriptToAddress(Buffer.from(script, 'hex'), network);

function knownId(text: string) {
  const id = parseInscriptionId(text);
  assert(id !== null, 'a text of sales has ids');
  return id;
}

function knownTxid(text: string): Txid {
  const txid = parseTxid(text);
  assert(txid !== null, 'a text of sales has txids');
  return txid;
}
