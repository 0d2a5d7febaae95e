import { Type } from 'typebox';
import { requireSales, salesOfTransaction, salesOfTransactionIndex } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import { salePage } from '#web/pages/sale.page.ts';
import { salePageView } from './sale-page-view.ts';

const saleSchema = Type.Object({
  inscriptionId: Type.String(),
  txid: Type.String(),
  height: Type.Integer(),
  time: Type.Integer({ description: 'Unix seconds of the block’s header' }),
  input: Type.Integer({ description: 'index of the input that spent the inscription' }),
  class: Type.String({ description: 'sale or offer' }),
  form: Type.String({ description: 'the layout of the transaction' }),
  confidence: Type.String(),
  grossPayout: Type.Integer({ description: 'sats' }),
  price: Type.Integer({ description: 'sats' }),
  bundle: Type.Integer({ description: 'inscriptions that share the payout' }),
  payoutOutput: Type.Integer(),
  feeOutput: Type.Union([Type.Integer(), Type.Null()]),
  sighash: Type.Integer(),
  rules: Type.Integer({ description: 'version of the rules' }),
  maker: Type.String({
    description:
      'seller: an address; for a script without one its hex, or sha256: and its hash if it is longer than 128 bytes',
  }),
  taker: Type.Union([Type.String(), Type.Null()], {
    description: 'buyer; null: the inscription went into the fee',
  }),
  wash: Type.Boolean(),
});

/**
 * Maximum number of sales in a response. They are one or two megabytes. One output may contain thousands of
 * inscriptions, and each of them is a sale.
 */
const salesMax = 1_000;

const saleAnswer = Type.Object({
  txid: Type.String(),
  sales: Type.Array(saleSchema),
  hasAll: Type.Boolean({
    description: `false: the transaction has more sales, and these are the first ${salesMax}`,
  }),
});

/** Routes of a transaction's sales, with the evidence for each sale (docs/marketplace.md). */
export function saleRoutes(app: App, deps: AppDependencies): void {
  const { pool, network } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/sale/:txid',
    schema: {
      operationId: 'sale',
      summary: 'The sales of a transaction, with the evidence of each',
      tags: ['market'],
      params: Type.Object({ txid: pathParts.txid }),
      response: { 200: pageOrJson(saleAnswer, 'the sales'), 304: unchanged },
    },
    config: { errors: 'own', guard: open },
    handler: async (request, reply) => {
      const { txid: text } = request.params;
      const txid = parseTxid(text);
      if (txid === null) {
        throw new AppError('request_invalid', 'a txid has 64 hexadecimal digits', { parameter: 'txid' });
      }
      varyBy(reply, 'Accept');
      const isJson = prefersJson(request.headers.accept);
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          await requireSales(client);
          await requireIndexes(client, [salesOfTransactionIndex], 'sales by transaction');
          const stored = await salesOfTransaction(client, txid, salesMax + 1);
          const isOwn = stored.length > 0 && (await ownTransactions(client, [txid])).length > 0;
          const sales = isOwn ? [] : stored.slice(0, salesMax);
          const hasAll = stored.length <= salesMax;
          if (!isJson) {
            const view = await salePageView(client, deps, { txid, sales, hasAll, site: siteOf(deps, tip) });
            if (view !== null) return sendPage(reply, salePage(view), { thumbnails: true });
          }
          if (sales.length === 0)
            throw new AppError('not_found', `no sale in transaction ${quoted(text)} is indexed`);
          if (tip !== null) reply.header('x-indexed-height', tip.height);
          // do not cache, because another version of the rules can give other evidence at the same tip
          reply.header('cache-control', 'no-store');
          return { txid: displayHash(txid), sales: sales.map((sale) => saleView(sale, network)), hasAll };
        },
        askerOf(reply).signal,
      );
    },
  });
}
