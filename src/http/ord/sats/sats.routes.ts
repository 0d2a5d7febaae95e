import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { inscriptionIds } from '#chain/inscriptions/inscription.queries.ts';
import { inscriptionsOnSat, rareSatsAfter } from '#chain/sats/sat.queries.ts';
import { hasSatIndex } from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { contentAnswers, contentFailures, contentOf, sendContent } from '#http/content/content.routes.ts';
import { answerFromIndex, idText, sendOrd } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { Outputs } from '#http/ord/outputs/outputs.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { placeFromEitherEnd, satOf, satOfPage, satpointOf, u64Of } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged } from '#http/server/answers/conditional.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { seeOther } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type Sat, satSupply } from '#kernel/sats/sat.ts';
import { satFacts, satJson } from './sat-answer.ts';
import { sendSatPage } from './sat-page.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
/** Maximum number of inscriptions on a page, as in ord. */
const pageSize = 100;
/** Maximum number of rare sats read at once. They take 40 ms and 100 kB of text. */
const rareAtOnce = 1000;
/**
 * How much memory a list of rare sats is assumed to use, in bytes. Only some pieces of the list are in memory at a
 * time.
 */
const rareHeldBytes = 1_000_000;

/**
 * Routes of ord's paths about sats (docs/ord-api.md). Without an index of sats, they answer like an ord that has no
 * such index.
 */
export function satsRoutes(app: App, deps: AppDependencies, node: NodeCalls | null, outputs: Outputs): void {
  satRoutes(app, deps, node, outputs);
  satpointRoute(app, outputs);
  recursiveSatRoutes(app, deps);
}

function satRoutes(app: App, deps: AppDependencies, node: NodeCalls | null, outputs: Outputs): void {
  const params = Type.Object({ sat: pathParts.sat });
  apiRoute(app, {
    method: 'GET',
    url: '/sat/:sat',
    schema: {
      operationId: 'sat',
      summary: 'A sat by its number, name, degree, decimal or percentile',
      tags,
      params,
      response: ordAnswers.sat,
    },
    config,
    handler: async (request, reply) => {
      const isPage = prefersHtml(request.headers.accept);
      // errors also are either a page or JSON
      varyBy(reply, 'Accept');
      const sat = isPage ? satOfPage(request.params.sat) : satOf(request.params.sat);
      const read = () => satFacts(deps, node, outputs, sat, askerOf(reply));
      if (isPage) return sendSatPage(await read(), deps, satributesInForce(deps), reply);
      if (await answeredUnchanged(deps.pool, request, reply)) return reply;
      const facts = await read();
      // the answer also depends on the current time or the node
      const live = facts.source !== 'index';
      return sendOrd(request, reply, facts.tip, satJson(facts), { live });
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/ordinal/:sat',
    schema: {
      operationId: 'ordinal',
      summary: 'Redirects to /sat',
      tags,
      params,
      response: { 303: seeOther },
    },
    config,
    handler: async (request, reply) =>
      reply.redirect(`/sat/${encodeURIComponent(request.params.sat.toWellFormed())}`, 303),
  });
}

/**
 * ord's list of sats that are not common, as of the height `upTo`. If `upTo` is null, the list has only its heading.
 */
async function* rareLines(reads: ContentReads, asker: Asker, upTo: Height | null): AsyncGenerator<string> {
  yield 'sat\tsatpoint\n';
  if (upTo === null) return;
  for (let after = -1; ; ) {
    const from = after;
    const places = await reads.read(asker, (client) =>
      rareSatsAfter(client, { after: from, upTo, limit: rareAtOnce }),
    );
    const last = places.at(-1);
    if (last === undefined) return;
    yield places.map(({ sat, satpoint }) => `${sat}\t${satpoint}\n`).join('');
    after = last.sat;
  }
}

function satpointRoute(app: App, outputs: Outputs): void {
  apiRoute(app, {
    method: 'GET',
    url: '/satpoint/:satpoint',
    schema: {
      operationId: 'satpoint',
      summary: 'Redirects to the sat at a place, with a sat index',
      tags,
      params: Type.Object({ satpoint: pathParts.satpoint }),
      response: { 303: seeOther },
    },
    // the output is looked up as in /output, at the same cost
    config: { ...config, isDear: true, failures: [422] },
    handler: async (request, reply) => {
      const { satpoint } = request.params;
      const { outpoint, offset } = satpointOf(satpoint);
      const missing = new AppError('not_found', `satpoint ${satpoint} not found`);
      const ranges = await outputs.satRanges(outpoint, askerOf(reply)).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        // the output may exist, although it is not in this index
        if (error.code === 'no_node') return null;
        if (error.code !== 'not_found') throw error;
        throw missing;
      });
      // ord sends this message for a spent output, too
      if (ranges === null) throw new AppError('not_found', 'sat index required');
      let left = offset;
      for (const { start, end } of ranges) {
        if (left < end - start) return reply.redirect(`/sat/${start + Number(left)}`, 303);
        left -= BigInt(end - start);
      }
      throw missing;
    },
  });
}

async function requireIndexForInscriptions(client: ClientBase): Promise<void> {
  if (!(await hasSatIndex(client))) throw new AppError('not_found', 'this server has no sat index');
}

/** Recursive routes about sats. Inscriptions request these routes. */
function recursiveSatRoutes(app: App, deps: AppDependencies): void {
  const { satNumber, sat, page, index } = pathParts;
  const ids = { tags, response: ordAnswers.pageOfIds } as const;
  const list = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { readonly sat: string; readonly page?: string },
  ): Promise<FastifyReply> => {
    const number = u64Of(asked.sat, 'sat');
    const place = asked.page === undefined ? 0n : u64Of(asked.page, 'page');
    return answerFromIndex(deps, request, reply, recursive, async ({ client }) => {
      await requireIndexForInscriptions(client);
      // a position beyond any possible inscription is answered without a read
      const isFar = number >= satSupply || place >= 2 ** 31 / pageSize;
      const first = Number(place) * pageSize;
      const keys = isFar
        ? []
        : await inscriptionsOnSat(client, Number(number), { first, limit: pageSize + 1 });
      const shown = (await inscriptionIds(client, keys.slice(0, pageSize))).map(idText);
      return `{"ids":${JSON.stringify(shown)},"more":${keys.length > pageSize},"page":${place}}`;
    });
  };
  apiRoute(app, {
    method: 'GET',
    url: '/r/sat/:sat',
    schema: {
      ...ids,
      operationId: 'satInscriptions',
      summary: 'The inscriptions on a sat; 404 without a sat index',
      params: Type.Object({ sat: satNumber }),
    },
    config,
    handler: async (request, reply) => list(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/r/sat/:sat/:page',
    schema: {
      ...ids,
      operationId: 'satInscriptionsPage',
      summary: 'A page of the inscriptions on a sat; 404 without a sat index',
      params: Type.Object({ sat: satNumber, page }),
    },
    config,
    handler: async (request, reply) => list(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/r/sat/:sat/at/:index',
    schema: {
      operationId: 'satInscription',
      summary: 'One inscription on a sat; 404 without a sat index',
      tags,
      params: Type.Object({ sat, index }),
      response: ordAnswers.satInscription,
    },
    config,
    handler: async (request, reply) => {
      const asked = nthOf(request.params);
      const form = { ...recursive, unkept: asked.place < 0n };
      return answerFromIndex(deps, request, reply, form, async ({ client }) => {
        const id = await nthInscription(client, asked);
        return JSON.stringify({ id });
      });
    },
  });
}

const recursive = { recursive: true } as const;

interface NthOnSat {
  readonly sat: Sat;
  readonly place: bigint;
}

function nthOf(asked: { readonly sat: string; readonly index: string }): NthOnSat {
  return { sat: satOf(asked.sat), place: placeFromEitherEnd(asked.index) };
}

/** The id of the nth inscription on a sat. `null` if the sat has fewer inscriptions. */
async function nthInscription(client: ClientBase, { sat, place }: NthOnSat): Promise<string | null> {
  await requireIndexForInscriptions(client);
  const fromEnd = place < 0n;
  const first = fromEnd ? -place - 1n : place;
  if (first >= 2 ** 31) return null;
  const keys = await inscriptionsOnSat(client, sat, { first: Number(first), limit: 1, fromEnd });
  const [id] = await inscriptionIds(client, keys);
  return id === undefined ? null : idText(id);
}

/**
 * Routes with answers that are read from the database while the client receives them. These are the list of sats that
 * are not common, and the content of an inscription on a sat. If the inscription is named by its position from the end,
 * its content can change later.
 */
export function satReadsRoutes(app: App, { pool }: Pick<AppDependencies, 'pool'>, reads: ContentReads): void {
  apiRoute(app, {
    method: 'GET',
    url: '/rare.txt',
    schema: {
      operationId: 'rareSats',
      summary: 'The places of sats that are not common; only the heading without a sat index',
      tags,
      response: ordAnswers.rareSats,
    },
    config: { ...config, answersLarge: true },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const tip = await withSnapshot(
        pool,
        async (snapshot) => ((await hasSatIndex(snapshot.client)) ? snapshot.tip : null),
        asker.signal,
      );
      const body = { pieces: rareLines(reads, asker, tip?.height ?? null), bytes: rareHeldBytes };
      return sendOrd(request, reply, tip, body, { type: 'text', live: true });
    },
  });

  const { sat, index } = pathParts;
  apiRoute(app, {
    method: 'GET',
    url: '/r/sat/:sat/at/:index/content',
    schema: {
      operationId: 'satContent',
      summary: 'The content of an inscription on a sat; 404 without a sat index',
      tags,
      params: Type.Object({ sat, index }),
      response: contentAnswers,
    },
    config: { ...config, failures: contentFailures, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const asked = nthOf(request.params);
      const id = await withSnapshot(pool, ({ client }) => nthInscription(client, asked), asker.signal);
      if (id === null) throw new AppError('not_found', `inscription on sat ${request.params.sat} not found`);
      const content = await contentOf(reads, asker, id);
      return asked.place < 0n
        ? sendContent(reads, asker, content, request, reply, 'no-store')
        : sendContent(reads, asker, content, request, reply);
    },
  });
}
