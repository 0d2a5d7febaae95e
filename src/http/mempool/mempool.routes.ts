import { Type } from 'typebox';
import { inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import {
  departures,
  mempoolState,
  type PendingCursor,
  pendingInscriptions,
  pendingTransfers,
  type TransferCursor,
} from '#chain/pending/pending.queries.ts';
import { pendingRunes } from '#chain/pending/pending-runes.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { sendMempoolPage } from '#http/pages/mempool-page.ts';
import { text } from '#http/parameters/list-parameters.ts';
import { runeQuestionOf } from '#http/parameters/path-parameters.ts';
import { foundRune } from '#http/runes/rune-moment.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { mempoolTabs } from '#web/pages/mempool.page.ts';
import {
  departuresAnswer,
  inscriptionsAnswer,
  listQuery,
  runesAnswer,
  runesQuery,
  summaryAnswer,
  transfersAnswer,
  transfersQuery,
} from './mempool.schemas.ts';
import { inscriptionIn, notOurs, pageOf, readList, scriptOfAddress, wholeNumber } from './mempool-lists.ts';
import { pendingInscriptionJson, pendingTransferJson } from './mempool-views.ts';
import { pendingRunesJson } from './pending-runes-view.ts';
import { pendingSalesRoute } from './pending-sales.routes.ts';
import { FeeEstimates } from './recommended-fees.ts';

const tags = ['mempool'] as const;
const config = { errors: 'own', guard: open } as const;

/**
 * Routes of the mempool (docs/mempool.md). Lists respond with 404 if there is no node, and with 503 while the node's
 * mempool is not followed.
 */
export function mempoolRoutes(app: App, deps: AppDependencies): void {
  summaryRoute(app, deps);
  inscriptionsRoute(app, deps);
  transfersRoute(app, deps);
  pendingSalesRoute(app, deps);
  runesRoute(app, deps);
  departuresRoute(app, deps);
}

const neverFollowed: Type.Static<typeof summaryAnswer> = {
  following: false,
  state: 'off',
  source: null,
  since: null,
  revision: null,
  transactions: null,
  kept: null,
  keptBytes: null,
  leftOut: null,
  problem: null,
};

function summaryRoute(app: App, deps: AppDependencies): void {
  const { pool, node } = deps;
  const estimates = node == null ? null : new FeeEstimates(node);
  apiRoute(app, {
    method: 'GET',
    url: '/mempool',
    schema: {
      operationId: 'mempool',
      summary: 'Whether a mempool is followed, and the number of kept transactions',
      tags,
      querystring: Type.Object({
        tab: text('the list that the HTML page shows', { enum: [...mempoolTabs] }, 'sales'),
        kind: text(
          'a kind of content: the HTML page shows only this kind',
          { enum: [...inscriptionKinds] },
          'images',
        ),
        before: text('a place from a link of the HTML page; older rows are shown', acceptedForms.cursor),
      }),
      response: { 200: pageOrJson(summaryAnswer, 'the state'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      varyBy(reply, 'Accept');
      if (prefersHtml(request.headers.accept)) return sendMempoolPage(deps, estimates, reply, request.query);
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          if (tip !== null) reply.header('x-indexed-height', tip.height);
          reply.header('cache-control', 'no-store');
          const state = await mempoolState(client);
          if (state === null) return neverFollowed;
          const { isFollowed, since, ...shown } = state;
          return { following: isFollowed, since: since.toISOString(), ...shown };
        },
        askerOf(reply).signal,
      );
    },
  });
}

function inscriptionsRoute(app: App, { pool, network, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/inscriptions',
    schema: {
      operationId: 'pendingInscriptions',
      summary: 'Unconfirmed reveals, in the order of their arrival',
      tags,
      querystring: listQuery,
      response: { 200: inscriptionsAnswer, 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { cursor, limit } = request.query;
      const after = inscriptionCursor(cursor);
      return readList({ pool, node, request, reply }, async ({ client }, { revision }) => {
        const rows = await pendingInscriptions(client, after, limit + 1);
        const { shown, nextCursor } = pageOf(rows, limit, (last) => `${last.position}.${last.index}`);
        return {
          revision,
          inscriptions: shown.map((row) => pendingInscriptionJson(row, network)),
          nextCursor,
        };
      });
    },
  });
}

function transfersRoute(app: App, { pool, network, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/transfers',
    schema: {
      operationId: 'pendingTransfers',
      summary: 'Unconfirmed transfers of inscriptions: all, of an address, or of an inscription',
      tags,
      querystring: transfersQuery,
      response: { 200: transfersAnswer, 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { address, inscription, cursor, limit } = request.query;
      const filter = {
        script: address === undefined ? null : scriptOfAddress(address, network),
        inscription: inscription === undefined ? null : inscriptionIn(inscription),
      };
      const after = transferCursor(cursor);
      return readList({ pool, node, request, reply }, async ({ client }, { revision }) => {
        const rows = await pendingTransfers(client, filter, after, limit + 1);
        const { shown, nextCursor } = pageOf(
          rows,
          limit,
          (last) => `${last.position}.${formatInscriptionId(last.inscription_txid, last.inscription_index)}`,
        );
        return {
          revision,
          transfers: shown.map((row) => pendingTransferJson(row, network)),
          nextCursor,
        };
      });
    },
  });
}

function runesRoute(app: App, { pool, network, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/runes',
    schema: {
      operationId: 'pendingRunes',
      summary: 'Changes of runes by pending transactions: all, those of an address, or of a rune',
      tags,
      querystring: runesQuery,
      response: { 200: runesAnswer, 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { address, rune, cursor, limit } = request.query;
      const script = address === undefined ? null : scriptOfAddress(address, network);
      if (rune !== undefined) runeQuestionOf(rune);
      const after = cursor === undefined ? 0 : wholeNumber(cursor);
      return readList({ pool, node, request, reply }, async ({ client }, { revision }) => {
        if (rune === undefined) await requireRunes(client);
        const key = rune === undefined ? null : (await foundRune(client, rune)).key;
        const rows = await pendingRunes(client, { script, key }, after, limit + 1);
        const { shown, nextCursor } = pageOf(rows, limit, (last) => String(last.position));
        return {
          revision,
          transactions: shown.map((row) => pendingRunesJson(row, network)),
          nextCursor,
        };
      });
    },
  });
}

function departuresRoute(app: App, { pool, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/departures',
    schema: {
      operationId: 'departures',
      summary: 'Pending transactions that left the mempool unconfirmed: replaced or evicted, newest first',
      tags,
      querystring: listQuery,
      response: { 200: departuresAnswer, 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { cursor, limit } = request.query;
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : wholeNumber(cursor);
      return readList({ pool, node, request, reply }, async ({ client }, { revision }) => {
        const rows = await departures(client, before, limit + 1);
        const { shown, nextCursor } = pageOf(rows, limit, (last) => String(last.position));
        return {
          revision,
          departures: shown.map((row) => ({
            txid: displayHash(row.txid),
            reason: row.reason,
            replacedBy: row.replaced_by === null ? null : displayHash(row.replaced_by),
            leftAt: row.left_at.toISOString(),
          })),
          nextCursor,
        };
      });
    },
  });
}

function inscriptionCursor(text: string | undefined): PendingCursor {
  if (text === undefined) return { position: 0, index: 0 };
  const [position = '', index = '', ...more] = text.split('.');
  if (more.length > 0) throw notOurs();
  return { position: wholeNumber(position), index: Math.min(wholeNumber(index), 2 ** 31 - 1) };
}

function transferCursor(text: string | undefined): TransferCursor | null {
  if (text === undefined) return null;
  const [position = '', id = '', ...more] = text.split('.');
  const inscription = parseInscriptionId(id);
  if (inscription === null || more.length > 0) throw notOurs();
  return { position: wholeNumber(position), inscription };
}
