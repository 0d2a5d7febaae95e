import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { type PendingBalance, pendingBalances } from '#chain/pending/pending-runes.queries.ts';
import {
  balancesOfScript,
  type HistoryPlace,
  historyOfScript,
  type ScriptBalance,
  type ScriptChange,
} from '#chain/runes/address-runes.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { type Cursor, readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import {
  addressPath,
  choice,
  isLongPage,
  pagingOf,
  pagingQuery,
  scriptOf,
  text,
} from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { whyNotFollowed } from '#http/server/errors/why-not-followed.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import { heightAt, heightOfAt, knownHeight } from './rune-moment.ts';
import { amountParts, amountSchema, amountView, runeParts, runeView, textOrNull } from './rune-views.ts';

const tags = ['runes'] as const;
/** Number of bytes of a cursor of balances. The cursor names the height of the list, and the rune before the page. */
const balancePositionBytes = 8;
/** Number of bytes of a cursor of a history. The cursor names height, transaction and rune. */
const historyPositionBytes = 12;

const balancesAnswer = Type.Object({
  address: Type.String(),
  height: Type.Integer({ description: 'the state after the block at this height' }),
  runes: Type.Array(Type.Object({ ...runeParts, ...amountParts, outputs: Type.Integer() })),
  pending: Type.Optional(
    Type.Array(Type.Object({ ...runeParts, received: amountSchema, sent: amountSchema }), {
      description: 'only with pending=1: units that unconfirmed transactions would add and take',
    }),
  ),
  nextCursor: textOrNull,
});

const historyEntry = Type.Object({
  blockHeight: Type.Integer(),
  blockHash: Type.String(),
  timestamp: Type.Integer({ description: 'Unix seconds of the block’s header' }),
  txid: Type.String(),
  ...runeParts,
  received: amountSchema,
  sent: amountSchema,
  change: Type.String({ pattern: '^-?[0-9]+$', description: 'received - sent, in base units' }),
});
const historyAnswer = Type.Object({
  address: Type.String(),
  history: Type.Array(historyEntry),
  nextCursor: textOrNull,
});

/** Routes of an address's runes at any height, and of the history of these runes. They need no index of addresses. */
export function addressRunesRoutes(app: App, deps: AppDependencies): void {
  balancesRoute(app, deps);
  historyRoute(app, deps);
}

function balancesRoute(app: App, { pool, network, node }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/address/:address/runes',
    schema: {
      operationId: 'runesOfAddress',
      summary: 'The runes of an address, at any height',
      tags,
      params: addressPath,
      querystring: Type.Object({
        at: text('a height: the balances after that block', acceptedForms.count, '840100'),
        pending: text('1: unconfirmed transactions too', { enum: ['0', '1'] }, '1'),
        limit: pagingQuery.limit,
        cursor: pagingQuery.cursor,
      }),
      response: { 200: balancesAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: open, failures: [410, 422, 503], isDear: isLongPage },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', network);
      const { at, limit: limitText, cursor } = request.query;
      const asked = heightOfAt(at);
      const withPending = choice(request.query.pending, 'pending', ['0', '1']) === '1';
      if (withPending && asked !== null)
        throw new AppError('request_invalid', 'pending=1 only works at the tip, so leave out at', {
          parameter: 'pending',
        });
      const { limit } = pagingOf({ limit: limitText }, 'asc');
      if (await answeredUnchanged(pool, request, reply, withPending)) return reply;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          await requireRunes(client);
          const answer = await balancesPage(client, tip, { address, script, asked, limit, cursor });
          const revision = withPending ? await requireFollowed(client, node) : null;
          setMoment(request, reply, tip, revision);
          if (!withPending) return answer;
          return { ...answer, pending: (await pendingBalances(client, script)).map(pendingView) };
        },
        askerOf(reply).signal,
      );
    },
  });
}

function historyRoute(app: App, { pool, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/address/:address/runes/history',
    schema: {
      operationId: 'runeHistoryOfAddress',
      summary: 'Units of runes that an address received and sent, by transaction',
      tags,
      params: addressPath,
      querystring: Type.Object(pagingQuery),
      response: { 200: historyAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: open, failures: [410], isDear: isLongPage },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', network);
      const { order, limit, cursor } = pagingOf(request.query, 'desc');
      if (await answeredUnchanged(pool, request, reply)) return reply;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          await requireRunes(client);
          const list = `rune history of ${Buffer.from(script).toString('hex')} ${order}`;
          const place =
            cursor === undefined ? null : await readCursor(client, list, cursor, historyPositionBytes);
          const after = place === null ? null : placeOf(place.position);
          const changes = await historyOfScript(client, script, { order, limit: limit + 1, after });
          const shown = changes.slice(0, limit);
          const last = shown.at(-1);
          const nextCursor =
            changes.length > limit && last !== undefined
              ? await writeCursor(client, list, last.height, {
                  page: pageAfter(place),
                  position: bytesOf(last),
                })
              : null;
          setMoment(request, reply, tip);
          return { address, history: shown.map(changeView), nextCursor };
        },
        askerOf(reply).signal,
      );
    },
  });
}

interface BalancesQuestion {
  readonly address: string;
  readonly script: Uint8Array;
  /** The requested height. `null` for the tip's height. */
  readonly asked: Height | null;
  readonly limit: number;
  readonly cursor: string | undefined;
}

async function balancesPage(
  client: ClientBase,
  tip: Tip | null,
  { address, script, asked, limit, cursor }: BalancesQuestion,
): Promise<Type.Static<typeof balancesAnswer>> {
  const list = `runes of ${Buffer.from(script).toString('hex')} ${asked ?? 'tip'}`;
  const place = cursor === undefined ? null : await readCursor(client, list, cursor, balancePositionBytes);
  const position = place === null ? null : balancePosition(place.position);
  const height = await knownHeight(client, heightAt(position?.height ?? asked, tip));
  const above = position?.key ?? -1;
  const balances = await balancesOfScript(client, script, { height, above, limit: limit + 1 });
  const last = balances[limit - 1];
  const runes = balances.slice(0, limit).map(balanceView);
  if (balances.length <= limit || last === undefined) return { address, height, runes, nextCursor: null };
  const next = { page: pageAfter(place), position: balanceBytes(height, last.rune.key) };
  return { address, height, runes, nextCursor: await writeCursor(client, list, height, next) };
}

const pageAfter = (place: Cursor | null): number => (place?.page ?? 0) + 1;

function balanceBytes(height: Height, key: number): Buffer {
  const bytes = Buffer.alloc(balancePositionBytes);
  bytes.writeUInt32BE(height);
  bytes.writeInt32BE(key, 4);
  return bytes;
}

/** The position in a cursor. Cursors can be forged, so the position may have any numbers. */
function balancePosition(bytes: Uint8Array): { height: Height; key: number } {
  const position = Buffer.from(bytes);
  return { height: asHeight(Math.min(position.readUInt32BE(), maxHeight)), key: position.readInt32BE(4) };
}

/** The revision of the mempool. Throws `no_node` and `mempool_not_followed`. */
async function requireFollowed(client: ClientBase, node: AppDependencies['node']): Promise<number> {
  const state = await mempoolState(client);
  if (state?.isFollowed === true) return state.revision;
  throw whyNotFollowed(state, node, '; leave out pending=1');
}

function pendingView({ rune, received, sent }: PendingBalance) {
  return {
    ...runeView(rune),
    received: amountView(received, rune.divisibility),
    sent: amountView(sent, rune.divisibility),
  };
}

function balanceView({ rune, amount, outputs }: ScriptBalance) {
  return { ...runeView(rune), ...amountView(amount, rune.divisibility), outputs };
}

function changeView(change: ScriptChange): Type.Static<typeof historyEntry> {
  const { height, blockHash, timestamp, txid, rune, received, sent } = change;
  return {
    blockHeight: height,
    blockHash: displayHash(blockHash),
    timestamp,
    txid: displayHash(txid),
    ...runeView(rune),
    received: amountView(received, rune.divisibility),
    sent: amountView(sent, rune.divisibility),
    change: String(BigInt(received) - BigInt(sent)),
  };
}

function bytesOf({ height, txIndex, key }: HistoryPlace): Buffer {
  const bytes = Buffer.alloc(historyPositionBytes);
  [height, txIndex, key].forEach((part, at) => bytes.writeInt32BE(part, at * 4));
  return bytes;
}

/**
 * The position in a cursor. Cursors can be forged, so the position may have any numbers that fit into the database
 * columns.
 */
function placeOf(bytes: Uint8Array): HistoryPlace {
  const position = Buffer.from(bytes);
  const [height = 0, txIndex = 0, key = 0] = [0, 4, 8].map((at) => position.readInt32BE(at));
  return { height, txIndex, key };
}
