import { Type } from 'typebox';
import { type Transfer, transfersOf } from '#chain/inscriptions/transfer.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { pagingOf, pagingQuery } from '#http/parameters/list-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { pageRows, sendTransfersPage } from './transfers-page.ts';

/** Number of bytes of a cursor. It contains the height and the step of the last listed transfer. */
const placeBytes = 8;

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const transferSchema = Type.Object({
  kind: Type.String({ description: 'reveal, transfer, burned, lost or unbound' }),
  blockHeight: Type.Integer(),
  blockHash: Type.String(),
  timestamp: Type.Integer({ description: 'Unix seconds of the block’s header' }),
  txid: nullable(Type.String()),
  from: nullable(Type.String({ description: 'satpoint' })),
  to: Type.String({ description: 'satpoint' }),
  address: nullable(Type.String()),
  value: nullable(Type.Integer({ description: 'sats of the output' })),
});

const transfersAnswer = Type.Object({
  id: Type.String(),
  transfers: Type.Array(transferSchema),
  more: Type.Boolean(),
  nextCursor: nullable(Type.String()),
});

/** Routes of the history of an inscription's locations. ord has no such routes. */
export function transfersRoutes(app: App, deps: AppDependencies): void {
  const { pool, network } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/inscription/:query/transfers',
    schema: {
      operationId: 'transfers',
      summary: 'Locations of an inscription, oldest first or newest first: a page, or JSON',
      tags: ['inscriptions'],
      params: Type.Object({ query: pathParts.id }),
      querystring: Type.Object(pagingQuery),
      response: { 200: pageOrJson(transfersAnswer, 'its locations'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, failures: [410] },
    handler: async (request, reply) => {
      const id = parseInscriptionId(request.params.query);
      if (id === null) {
        throw new AppError('request_invalid', 'this is not an inscription id', { parameter: 'query' });
      }
      const { order, limit: asked, cursor } = pagingOf(request.query, 'asc');
      varyBy(reply, 'Accept');
      const isPage = prefersHtml(request.headers.accept);
      if (!isPage && (await answeredUnchanged(pool, request, reply))) return reply;
      const limit = isPage ? Math.min(asked, pageRows) : asked;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          const idText = formatInscriptionId(id.txid, id.index);
          const list = `transfers ${idText} ${order}`;
          const place = cursor === undefined ? null : await readCursor(client, list, cursor, placeBytes);
          const after = place === null ? null : positionOf(place.position);
          const page = await transfersOf(client, id, { order, limit, after });
          if (page === null) throw new AppError('not_found', `inscription ${idText} not found`);
          const last = page.transfers.at(-1);
          const nextCursor =
            page.more && last !== undefined
              ? await writeCursor(client, list, last.height, {
                  page: (place?.page ?? 0) + 1,
                  position: positionBytes(last),
                })
              : null;
          if (isPage) {
            const found = { id, transfers: page.transfers, order, isFirst: place === null, nextCursor, tip };
            return sendTransfersPage(deps, reply, client, found);
          }
          setMoment(request, reply, tip);
          const transfers = page.transfers.map((transfer) => transferJson(transfer, network));
          return { id: idText, transfers, more: page.more, nextCursor };
        },
        askerOf(reply).signal,
      );
    },
  });
}

function transferJson(transfer: Transfer, network: NetworkParameters): Type.Static<typeof transferSchema> {
  const { kind, height, blockHash, timestamp, txid, from, to, value, script } = transfer;
  return {
    kind,
    blockHeight: height,
    blockHash: displayHash(blockHash),
    timestamp,
    txid: txid === null ? null : displayHash(txid),
    from,
    to,
    address: script === null ? null : scriptToAddress(script, network),
    value,
  };
}

function positionBytes({ height, step }: Transfer): Buffer {
  const bytes = Buffer.alloc(placeBytes);
  bytes.writeInt32BE(height);
  bytes.writeInt32BE(step, 4);
  return bytes;
}

function positionOf(bytes: Uint8Array): { height: number; step: number } {
  const position = Buffer.from(bytes);
  return { height: position.readInt32BE(), step: position.readInt32BE(4) };
}
