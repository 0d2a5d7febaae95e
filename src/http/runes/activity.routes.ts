import { Type } from 'typebox';
import {
  type ActivityPlace,
  activityKinds,
  type RuneActivity,
  runeActivity,
} from '#chain/runes/rune-activity.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { isLongPage, pagingOf, pagingQuery } from '#http/parameters/list-parameters.ts';
import { runeQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { storedOwner } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { pageRows, sendActivityPage } from './rune-list-pages.ts';
import { foundRune } from './rune-moment.ts';
import { amountParts, amountView, ownerParts, runeParts, runeView, textOrNull } from './rune-views.ts';

/** Number of bytes of a cursor. The cursor names the event before the page by height, transaction, kind and output. */
const positionBytes = 16;

const activitySchema = Type.Object({
  kind: Type.String({ description: activityKinds.join(', ') }),
  blockHeight: Type.Integer(),
  blockHash: Type.String(),
  timestamp: Type.Integer({ description: 'Unix seconds of the block’s header' }),
  txid: Type.String(),
  output: Type.Union([Type.String(), Type.Null()], {
    description: 'the output that got the units of a transfer',
  }),
  ...ownerParts,
  ...amountParts,
});
const activityAnswer = Type.Object({
  ...runeParts,
  activity: Type.Array(activitySchema),
  nextCursor: textOrNull,
});

const noOwner = { address: null, script: null, scriptSha256: null };

/** Route of a rune's events. ord does not have this route. */
export function activityRoutes(app: App, deps: AppDependencies): void {
  const { pool, network } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/rune/:rune/activity',
    schema: {
      operationId: 'runeActivity',
      summary: 'The events of a rune: etching, mints, transfers and burns',
      tags: ['runes'],
      params: Type.Object({ rune: pathParts.rune }),
      querystring: Type.Object(pagingQuery),
      response: { 200: pageOrJson(activityAnswer, 'the events'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, failures: [410], isDear: isLongPage },
    handler: async (request, reply) => {
      runeQuestionOf(request.params.rune);
      const { order, limit: asked, cursor } = pagingOf(request.query, 'desc');
      varyBy(reply, 'Accept');
      const isPage = prefersHtml(request.headers.accept);
      if (!isPage && (await answeredUnchanged(pool, request, reply))) return reply;
      const limit = isPage ? Math.min(asked, pageRows) : asked;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          const rune = await foundRune(client, request.params.rune);
          const { id, ...named } = runeView(rune);
          const list = `activity ${id} ${order}`;
          const place = cursor === undefined ? null : await readCursor(client, list, cursor, positionBytes);
          const after = place === null ? null : placeOf(place.position);
          const events = await runeActivity(client, rune.key, { order, limit: limit + 1, after });
          const shown = events.slice(0, limit);
          const last = shown.at(-1);
          const nextCursor =
            events.length > limit && last !== undefined
              ? await writeCursor(client, list, last.height, {
                  page: (place?.page ?? 0) + 1,
                  position: bytesOf(last),
                })
              : null;
          if (isPage) {
            const found = { rune, events: shown, order, isFirst: place === null, nextCursor, tip };
            return sendActivityPage(deps, reply, found);
          }
          setMoment(request, reply, tip);
          const activity = shown.map((event) => eventView(event, rune.divisibility, network));
          return { id, ...named, activity, nextCursor };
        },
        askerOf(reply).signal,
      );
    },
  });
}

function eventView(
  event: RuneActivity,
  divisibility: number,
  network: NetworkParameters,
): Type.Static<typeof activitySchema> {
  const { kind, height, blockHash, timestamp, vout, script, amount } = event;
  const txid = displayHash(event.txid);
  return {
    kind,
    blockHeight: height,
    blockHash: displayHash(blockHash),
    timestamp,
    txid,
    output: script === null ? null : `${txid}:${vout}`,
    ...(script === null ? noOwner : storedOwner(script, network)),
    ...amountView(amount, divisibility),
  };
}

function bytesOf({ height, txIndex, step, vout }: ActivityPlace): Buffer {
  const bytes = Buffer.alloc(positionBytes);
  [height, txIndex, step, vout].forEach((part, at) => bytes.writeInt32BE(part, at * 4));
  return bytes;
}

/**
 * The position in a cursor. Cursors can be forged, so the position may have any numbers that fit into the database
 * columns.
 */
function placeOf(bytes: Uint8Array): ActivityPlace {
  const position = Buffer.from(bytes);
  const [height = 0, txIndex = 0, step = 0, vout = 0] = [0, 4, 8, 12].map((at) => position.readInt32BE(at));
  return { height, txIndex, step, vout };
}
