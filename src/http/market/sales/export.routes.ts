import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { type ExportForm, exportForms, showExportedSale } from '#http/market/show-exported-sale.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { marketReads } from '#http/server/access/guard.ts';
import { inPieces } from '#http/server/answers/pieces-of-lines.ts';
import { tellOfClients } from '#http/server/budgets/budgets.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { limits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { CollectionSale } from '#market/sales/collection-sales.store.ts';
import { beginExport, exportSales, type SaleExport } from '#market/sales/export-sales.ts';

const busy = (message: string): AppError => new AppError('sales_busy', message);

/**
 * Bounds of reads. Reading a part of an export uses a connection for some ten milliseconds. While other clients read
 * too, a client with several exports reads one part at a time.
 */
const partReads = {
  running: 2,
  eachBesideOthers: 1,
  restsBesideOthers: limits.restsBesideOthers,
  waiting: limits.saleExports,
  waitMs: limits.requestTimeoutMs,
  refusal: () => busy('exports have to wait too long now'),
};

/**
 * Route of an export, which is a stream of all sales of a collection in a range of blocks (docs/marketplace-api.md,
 * "Export").
 */
export function exportRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { pool, network, operations } = deps;
  const places = new Shares({
    what: 'exports of sales',
    total: limits.saleExports,
    each: limits.saleExportsEach,
    full: busy,
  });
  const parts = new FairGate(partReads);
  tellOfClients(app, [parts]);
  operations.metrics.watchQueue('exports of sales', () => places.state);
  const { slug, from, to, format, after } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/export',
    schema: {
      operationId: 'exportSales',
      summary: 'All sales of a collection in a range of blocks, with their evidence, oldest first',
      description: 'A stream, which can be resumed after any of its rows.',
      tags: ['market'],
      querystring: Type.Object({ slug, from, to, format, after }),
      response: {
        200: {
          description: 'one row for each sale',
          content: {
            'application/x-ndjson': { schema: Type.String({ description: 'one JSON object per line' }) },
            'text/csv': {
              schema: Type.String({ description: 'a table (RFC 4180); its first line has the names' }),
            },
          },
        },
      },
    },
    config: {
      errors: 'market',
      guard: marketReads,
      failures: [404, 410],
      isDear: true,
      compression: 'stream',
    },
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const asked = { slug: query.slug(), range: query.range(), after: query.after() };
      const form = exportForms[query.format()];
      query.refuse();
      const asker = askerOf(reply);
      if (request.method !== 'HEAD') places.take(asker);
      const begun = await reads.read<SaleExport>(asked.slug, asker, async (sales, { client, tip }) => {
        if (sales === null || tip === null)
          throw new AppError('collection_unknown', 'no collection has this slug', { parameter: 'slug' });
        reply.header('x-indexed-height', tip.height);
        const moment = await beginExport(client, tip, asked.after);
        return { ...sales, range: asked.range, after: asked.after?.place ?? null, moment };
      });
      asDownload(reply, begun.collection.slug, form);
      const pieces =
        request.method === 'HEAD'
          ? []
          : written(exportSales(pool, parts, asker, begun), begun, form, network, asker);
      return sendPieces(reply, pieces);
    },
  });
}

function asDownload(reply: FastifyReply, slug: string, { contentType, extension }: ExportForm): void {
  reply.type(contentType).headers({
    'cache-control': 'no-store',
    // without this header nginx would buffer the stream
    'x-accel-buffering': 'no',
    // the slug needs no escapes, because the collection exists, so its slug is a word or an inscription id
    'content-disposition': `attachment; filename="sales-${slug}.${extension}"`,
  });
}

const sendPieces = (reply: FastifyReply, pieces: Iterable<string> | AsyncIterable<string>): FastifyReply =>
  reply.send(Readable.from(pieces, { objectMode: false }));

async function* written(
  parts: AsyncIterable<readonly CollectionSale[]>,
  { collection: { slug } }: SaleExport,
  { head, line }: ExportForm,
  network: NetworkParameters,
  { client, signal }: Asker,
): AsyncGenerator<string> {
  const addressOf = (script: Uint8Array): string | null => scriptToAddress(script, network);
  if (head !== '') yield head;
  for await (const sales of parts) {
    for (const piece of inPieces(
      sales.values().map((sale) => line(showExportedSale(sale, slug, addressOf))),
    )) {
      await nextTurn(client);
      if (signal.aborted) return;
      yield piece;
    }
  }
}
