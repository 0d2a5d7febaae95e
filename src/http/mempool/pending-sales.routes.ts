import type { ClientBase } from 'pg';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import {
  type PendingSale,
  type PendingSaleCursor,
  pendingFloor,
  pendingSales,
} from '#market/sales/pending-sales.store.ts';
import { slugsOf } from '#market/sales/sale-context.store.ts';
import { type SalesAnswer, salesAnswer, salesQuery } from './mempool.schemas.ts';
import { inscriptionIn, notOurs, pageOf, readUnkept, scriptOfAddress, wholeNumber } from './mempool-lists.ts';
import { transactionJson } from './mempool-views.ts';

/** Route of sales that are in the mempool (docs/marketplace.md, "Pending sales"). */
export function pendingSalesRoute(app: App, { pool, network, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/sales',
    schema: {
      operationId: 'pendingSales',
      summary: 'Unconfirmed sales: all, of an address, of an inscription, or of a collection',
      tags: ['mempool'],
      querystring: salesQuery,
      response: { 200: salesAnswer },
    },
    // this route is expensive, because a collection may have many items
    config: { errors: 'own', guard: open, isDear: true },
    handler: async (request, reply) => {
      const { address, inscription, slug, cursor, limit } = request.query;
      const filter = {
        script: address === undefined ? null : scriptOfAddress(address, network),
        inscription: inscription === undefined ? null : inscriptionIn(inscription),
      };
      const after = saleCursor(cursor);
      return readUnkept({ pool, node, request, reply }, async ({ client }, { revision }) => {
        await requireSales(client);
        const collection = slug === undefined ? null : await findMarketCollection(client, slug);
        // an unknown slug has no sales, as on the path for a slug's activity
        if (slug !== undefined && collection === null)
          return { revision, floor: null, sales: [], nextCursor: null };
        const rows = await pendingSales(client, { ...filter, collection }, after, limit + 1);
        const { shown, nextCursor } = pageOf(rows, limit, cursorOf);
        const slugs = await shownSlugs(client, collection, shown);
        return {
          revision,
          floor: collection === null ? null : await floorOf(client, collection),
          sales: shown.map((row, at) => saleJson(row, slugs[at] ?? null, network)),
          nextCursor,
        };
      });
    },
  });
}

async function floorOf(client: ClientBase, collection: FoundCollection): Promise<SalesAnswer['floor']> {
  const floor = await pendingFloor(client, collection);
  if (floor === null) return null;
  const { price, item, txid } = floor;
  return { price, inscriptionId: formatInscriptionId(item.txid, item.index), txid: displayHash(txid) };
}

async function shownSlugs(
  client: ClientBase,
  collection: FoundCollection | null,
  rows: readonly PendingSale[],
): Promise<readonly (string | null)[]> {
  if (collection !== null) return rows.map(() => collection.slug);
  await requireIndexes(client, [galleryIndex], 'galleries');
  return slugsOf(
    client,
    rows.map(({ item }) => item),
  );
}

function saleJson(
  row: PendingSale,
  slug: string | null,
  network: NetworkParameters,
): SalesAnswer['sales'][number] {
  const { item, fromTxid, fromVout, input, price, grossPayout, form, confidence, maker, taker } = row;
  const { payoutOutput, feeOutput, sighash, bundle, isWash, rules } = row;
  return {
    inscriptionId: formatInscriptionId(item.txid, item.index),
    ...transactionJson(row),
    outpoint: `${displayHash(fromTxid)}:${fromVout}`,
    input,
    class: row.class === 'offer' ? 'offer' : 'sale',
    price,
    grossPayout,
    makerAddress: scriptToAddress(maker, network),
    takerAddress: taker === null ? null : scriptToAddress(taker, network),
    form,
    confidence,
    payoutOutput,
    feeOutput,
    sighash,
    bundle,
    wash: isWash,
    rules,
    slug,
  };
}

const cursorOf = ({ position, input, place }: PendingSale): string => `${position}.${input}.${place}`;

/** Maximum value of an input or a position. The database columns are integers. */
const integerMax = 2 ** 31 - 1;

function saleCursor(text: string | undefined): PendingSaleCursor | null {
  if (text === undefined) return null;
  const [position = '', input = '', place = '', ...more] = text.split('.');
  if (more.length > 0) throw notOurs();
  return {
    position: wholeNumber(position),
    input: Math.min(wholeNumber(input), integerMax),
    place: Math.min(wholeNumber(place), integerMax),
  };
}
