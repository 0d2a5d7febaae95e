import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { HolderLists, type RuneHolders } from '#chain/runes/holder-lists.ts';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { type HoldersMoment, runeTotals } from '#chain/runes/rune-holders.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { runeIdText } from '#http/ord/runes/rune-json.ts';
import { pagingOf, pagingQuery, text } from '#http/parameters/list-parameters.ts';
import { runeQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { storedOwner } from '#kernel/bitcoin/stored-owner.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { zeroU128 } from '#kernel/runes/u128.ts';
import { type FoundHolders, type HoldersAnswer, holdersAnswer } from './holders-answer.ts';
import { pageRows, sendHoldersPage } from './rune-list-pages.ts';
import { foundRune, heightAt, heightOfAt, knownHeight } from './rune-moment.ts';
import { amountView } from './rune-views.ts';

/**
 * Number of bytes of a cursor. It contains the height of its list, so that all pages are about the same height, and the
 * position in the list.
 */
const positionBytes = 8;

/**
 * Bounds of full scans. If no earlier scan found the requested page, all holders of the rune are scanned. This uses one
 * of the ten connections for up to ten seconds. Two scans may run at once, one for each client. A client that would
 * wait longer than one such scan is refused, and must retry.
 */
const gateBounds = { running: 2, each: 1, waiting: 20, waitMs: 10_000 };

const busy = (): AppError =>
  new AppError('holders_busy', 'too many lists of holders are being made; try again in a few seconds');

/** Route of a rune's holders at any height. ord does not have this route. */
export function holdersRoutes(app: App, deps: AppDependencies): void {
  const { pool, network, operations } = deps;
  const gate = new FairGate({ ...gateBounds, refusal: busy });
  const lists = new HolderLists();
  operations.metrics.watchQueue('holders of runes', () => gate.state);
  apiRoute(app, {
    method: 'GET',
    url: '/rune/:rune/holders',
    schema: {
      operationId: 'runeHolders',
      summary: 'The holders of a rune, largest first, with the proof of their sum',
      tags: ['runes'],
      params: Type.Object({ rune: pathParts.rune }),
      querystring: Type.Object({
        at: text('a height: the holders after that block', acceptedForms.count, '840100'),
        limit: pagingQuery.limit,
        cursor: pagingQuery.cursor,
      }),
      response: { 200: pageOrJson(holdersAnswer, 'the holders'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, failures: [410], isDear: true },
    handler: async (request, reply) => {
      runeQuestionOf(request.params.rune);
      const { at, limit: limitText, cursor } = request.query;
      const asked = heightOfAt(at);
      const { limit } = pagingOf({ limit: limitText }, 'asc');
      varyBy(reply, 'Accept');
      const isPage = prefersHtml(request.headers.accept);
      if (!isPage && (await answeredUnchanged(pool, request, reply))) return reply;
      const shown = isPage ? Math.min(limit, pageRows) : limit;
      const question = { name: request.params.rune, asked, limit: shown, cursor };
      /** Null if the page would need a full scan that is not allowed. */
      const read = async (snapshot: Snapshot, mayWalk: boolean): Promise<FoundHolders | null> => {
        const found = await holdersPage(lists, snapshot, network, question, mayWalk);
        if (found !== null && !isPage) setMoment(request, reply, snapshot.tip);
        return found;
      };
      const asker = askerOf(reply);
      const kept = await withSnapshot(pool, (snapshot) => read(snapshot, false), asker.signal);
      const found =
        kept ??
        (await gate.run(asker, () => withSnapshot(pool, (snapshot) => read(snapshot, true), asker.signal)));
      if (!isPage || found === null) return found?.answer;
      return sendHoldersPage(deps, reply, found, asked);
    },
  });
}

interface PageQuestion {
  /** Name of the rune. */
  readonly name: string;
  /** The requested height. `null` for the tip's height. */
  readonly asked: Height | null;
  readonly limit: number;
  readonly cursor: string | undefined;
}

async function holdersPage(
  lists: HolderLists,
  { client, tip }: Snapshot,
  network: NetworkParameters,
  { name, asked, limit, cursor }: PageQuestion,
  mayWalk: boolean,
): Promise<FoundHolders | null> {
  const rune = await foundRune(client, name);
  const list = `holders ${runeIdText(rune)} ${asked ?? 'tip'}`;
  const place = cursor === undefined ? null : await readCursor(client, list, cursor, positionBytes);
  const begin = place === null ? { height: heightAt(asked, tip), offset: 0 } : positionOf(place.position);
  const { offset } = begin;
  const height = await knownHeight(client, begin.height);
  const moment = { height, isTip: isTipAt(tip, height) };
  const found = await lists.read(client, rune.key, moment, { offset, limit }, mayWalk);
  if (found === null) return null;
  const answer = await holdersView(client, rune, moment, found, network);
  const end = offset + answer.holders.length;
  const isLast = answer.holders.length === 0 || end >= answer.count;
  const next = { page: (place?.page ?? 0) + 1, position: bytesOf(height, end) };
  const nextCursor = isLast ? null : await writeCursor(client, list, height, next);
  return { answer: { ...answer, nextCursor }, rune, offset, tip };
}

const isTipAt = (tip: Tip | null, height: Height): boolean => tip !== null && tip.height === height;

async function holdersView(
  client: ClientBase,
  rune: RuneDetail,
  { height }: HoldersMoment,
  { holders, count, held }: RuneHolders,
  network: NetworkParameters,
): Promise<Omit<HoldersAnswer, 'nextCursor'>> {
  const { mints, burned } = await runeTotals(client, rune.key, height);
  // the premine does not exist before the etching
  const premine = rune.height > height ? zeroU128 : rune.premine;
  const minted = BigInt(mints) * BigInt(rune.terms?.amount ?? zeroU128);
  return {
    rune: formatSpacedRune(rune),
    id: runeIdText(rune),
    height,
    divisibility: rune.divisibility,
    held: String(held),
    burned: String(burned),
    minted: String(minted),
    premine: String(premine),
    proven: BigInt(held) + BigInt(burned) === minted + BigInt(premine),
    count,
    holders: holders.map(({ script, amount, outputs }) => ({
      ...storedOwner(script, network),
      ...amountView(amount, rune.divisibility),
      outputs,
    })),
  };
}

function bytesOf(height: Height, offset: number): Buffer {
  const bytes = Buffer.alloc(positionBytes);
  bytes.writeUInt32BE(height);
  bytes.writeUInt32BE(offset, 4);
  return bytes;
}

/** The position in a cursor. Cursors can be forged, so the position may have any numbers. */
function positionOf(bytes: Uint8Array): { height: Height; offset: number } {
  const position = Buffer.from(bytes);
  return {
    height: asHeight(Math.min(position.readUInt32BE(), maxHeight)),
    offset: position.readUInt32BE(4),
  };
}
