import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { KeyFacts } from '#accounts/key-look-ups.ts';
import { isLeftOut } from '#chain/derived/derived-tables.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { text } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { addressOfRequest } from '#http/server/access/client.ts';
import { type Guard, watchPages, watchRequests } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { refuseOtherSites } from '#http/server/requests/other-sites.ts';
import { page, seeOther, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { KeyWatches } from '#watches/key-watches.ts';
import { watchesMax } from '#watches/store/watches.store.ts';
import { type AskedCondition, type Watch, watchKinds } from '#watches/watch.ts';
import type { Site } from '#web/layout.ts';
import {
  type NoWatchesReason,
  newWatchPage,
  noWatchesPage,
  savedWatchPage,
  type WatchLine,
  watchesPage,
} from '#web/pages/watches.page.ts';
import { findingLine } from './finding-lines.ts';
import { type CheckedWatch, readAsked } from './read-asked.ts';
import { refuseTooBroad } from './search-breadth.ts';
import { exampleWatch, searchBody, watchBody } from './watch.schemas.ts';
import { feedPath, foundWatch } from './watch-answers.ts';

/** Number of findings of each watch on the page. Its feed and its findings have more. */
const findingsShown = 5;

/** The page is for everyone, because it reads the key from a cookie. JSON is for the key in a header. */
export const guardOfWatches = (_query: unknown, accept: string | undefined): Guard =>
  prefersHtml(accept) ? watchPages : watchRequests;

/** A field of the form. It is a text, because forms send texts only. */
const field = (description: string): TSchema => text(description, { type: 'string' });

const conditionNames = [
  ...new Set([...Object.keys(searchBody.properties), ...Object.keys(watchBody.properties)]),
].filter((name) => name !== 'kind' && name !== 'webhookUrl');

const kindField = Type.Union(
  watchKinds.map((kind) => Type.Literal(kind)),
  { description: 'the kind of watch; absent on the page: a search' },
);

/** The parameters of the form's page. Those of a search equal those of the search page. */
const conditionFields = {
  kind: Type.Optional(kindField),
  ...Object.fromEntries(conditionNames.map((name) => [name, field(`${name} of the watch, as in its JSON`)])),
  in: field('of a search: metadata, if its text is searched in metadata'),
  all: field('of a search: 1 if its text is a list, separated by commas'),
};

/** Number of hex digits that a form has. 128 bits cannot be guessed. */
const formDigits = 32;
const formField = Type.Optional(
  Type.String({
    pattern: `^[0-9a-f]{${formDigits}}$`,
    description: 'random digits of the form: a form that is sent again saves no second watch',
    examples: ['0123456789abcdef0123456789abcdef'],
  }),
);

type GivenFields = Readonly<Record<string, string | undefined>> & { readonly kind: Watch['kind'] };

/** Routes of the pages and forms of watches, for the key that the browser keeps in its cookie. */
export function watchPageRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/watches/new',
    schema: {
      operationId: 'newWatchPage',
      summary: 'A form that saves a watch for the browser’s key',
      tags: ['pages'],
      querystring: Type.Object(conditionFields),
      response: { 200: page('the form, or a form to give a key'), 304: unchanged },
    },
    config: { errors: 'plain', guard: watchPages, cors: false },
    handler: async (request, reply) => {
      const reader = await readerOf(deps, request, reply);
      if ('reason' in reader) return sendNoWatches(deps, reply, reader.reason, request.url);
      const fields = givenFields(request.query);
      const { kind, condition } = await readFields(deps, reader.watches, fields, reply);
      const form = newForm();
      const shown = await shownNow(deps, reply, kind);
      return sendPage(reply, newWatchPage({ ...shown, kind, condition, form, fields, refused: null }));
    },
  });
  apiRoute(app, {
    method: 'POST',
    url: '/watches/new',
    schema: {
      operationId: 'createWatchByForm',
      summary: 'Saves a watch for the browser’s key',
      tags: ['pages'],
      body: Type.Object({
        ...conditionFields,
        kind: kindField,
        webhookUrl: field('URL that gets each change'),
        form: formField,
      }),
      response: { 200: page('the secret of its webhooks'), 303: seeOther },
    },
    config: { errors: 'plain', guard: watchPages, body: 'form', failures: [401, 403, 409], cors: false },
    handler: async (request, reply) => {
      refuseOtherSites(request, 'a form of another site cannot save a watch; use the form on this site');
      const given = givenFields(request.body);
      try {
        return await saveByForm(deps, request, reply, given);
      } catch (error) {
        return sendFormAgain(deps, request, reply, given, error);
      }
    },
  });
  apiRoute(app, {
    method: 'POST',
    url: '/watches/delete',
    schema: {
      operationId: 'deleteWatchByForm',
      summary: 'Deletes a watch of the browser’s key',
      tags: ['pages'],
      body: Type.Object({ id: Type.String({ description: 'the id of a watch', examples: [exampleWatch] }) }),
      response: { 303: seeOther },
    },
    config: { errors: 'plain', guard: watchPages, body: 'form', failures: [401, 403], cors: false },
    handler: async (request, reply) => {
      refuseOtherSites(request, 'a form of another site cannot delete a watch; use the form on this site');
      const { watches, key } = await neededReader(deps, request, reply);
      foundWatch(await watches.delete(key.id, request.body.id, null), null);
      return reply.redirect('/watches', 303);
    },
  });
}

const newForm = (): string => randomBytes(formDigits / 2).toString('hex');

async function saveByForm(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { webhookUrl, form, ...fields }: GivenFields,
): Promise<FastifyReply> {
  const { watches, key } = await neededReader(deps, request, reply);
  const asked = await readFields(deps, watches, fields as GivenFields, reply, webhookUrl);
  await refuseTooBroad(deps, asked.subject, askerOf(reply));
  const { watch, webhookSecret: secret } = await watches.create(key.id, asked, form);
  if (secret === null) return reply.redirect('/watches', 303);
  const { id, kind, condition } = watch;
  const shown = await shownNow(deps, reply, kind);
  return sendPage(reply, savedWatchPage({ ...shown, id, kind, condition, secret }));
}

/** Status of refusals that people can mend on the page. The other failures have the page of errors. */
const mendable: Readonly<Partial<Record<ErrorCode, number>>> = {
  request_invalid: 400,
  watch_too_broad: 400,
  watches_max: 409,
  watches_off: 503,
};
const keyStatus: Readonly<Record<Exclude<NoWatchesReason, 'off'>, number>> = {
  none: 401,
  invalid: 401,
  scope: 403,
};

/** Shows a refused form again with its values and the reason, or asks for a key. Throws all other failures again. */
async function sendFormAgain(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { webhookUrl = '', form = newForm(), ...fields }: GivenFields,
  error: unknown,
): Promise<FastifyReply> {
  if (!(error instanceof AppError) || !prefersHtml(request.headers.accept)) throw error;
  const reader = await readerOf(deps, request, reply);
  if ('reason' in reader) {
    if (reader.reason === 'off') throw error;
    reply.code(keyStatus[reader.reason]);
    const to = `/watches/new?${new URLSearchParams(fields as Record<string, string>).toString()}`;
    return sendNoWatches(deps, reply, reader.reason, to);
  }
  const status = mendable[error.code];
  if (status === undefined) throw error;
  const { kind, ...searched } = fields as GivenFields;
  const condition = kind === 'search' ? searchFields(searched) : searched;
  const shown = await shownNow(deps, reply, kind);
  reply.code(status);
  const refused = { webhookUrl, reason: error.message };
  const values = fields as Record<string, string>;
  return sendPage(
    reply,
    newWatchPage({ ...shown, kind, condition: condition as AskedCondition, form, fields: values, refused }),
  );
}

/** Sends the page of the watches of the browser's key. */
export async function sendWatchesPage(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = await readerOf(deps, request, reply);
  if ('reason' in reader) return sendNoWatches(deps, reply, reader.reason, '/watches');
  const { watches, key } = reader;
  const lines: WatchLine[] = [];
  for (const watch of await watches.list(key.id, null)) lines.push(await watchLineOf(watches, watch));
  const site = await siteNow(deps, reply);
  return sendPage(
    reply,
    watchesPage({ site, account: key.account, watches: lines.toReversed(), watchesMax }),
  );
}

async function watchLineOf(watches: KeyWatches, watch: Watch): Promise<WatchLine> {
  const { id, kind, condition, webhookUrl, endReason, createdAt, found } = watch;
  const findings = found === 0 ? [] : await watches.newest(watch, findingsShown);
  const token = await watches.feedToken(id);
  return {
    id,
    kind,
    condition,
    webhookHost: webhookUrl === null ? null : new URL(webhookUrl).host,
    endReason,
    createdAt: Math.floor(createdAt.getTime() / 1000),
    found,
    findings: findings.map((finding) => findingLine(finding, kind)),
    feed: token === null ? null : feedPath(watch, token),
  };
}

interface Reader {
  readonly watches: KeyWatches;
  readonly key: KeyFacts;
}

/** The key of the browser, or the reason why the browser cannot use watches. */
async function readerOf(
  { watches = null, access = null }: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Reader | { readonly reason: NoWatchesReason }> {
  varyBy(reply, 'Cookie', 'Accept');
  reply.header('cache-control', 'no-store');
  if (watches === null || access === null) return { reason: 'off' };
  const key = await access.keyOfCookie(request.headers.cookie, addressOfRequest(request));
  if (typeof key === 'string') return { reason: key };
  return key.scopes.includes('search') ? { watches, key } : { reason: 'scope' };
}

/** The key of the browser that sends a form. Throws `key_missing`, `key_refused`, `key_scope` or `watches_off`. */
async function neededReader(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Reader> {
  const reader = await readerOf(deps, request, reply);
  if (!('reason' in reader)) return reader;
  switch (reader.reason) {
    case 'off':
      throw new AppError('watches_off', 'this service keeps no watches');
    case 'none':
      throw new AppError('key_missing', 'this browser has no key; open /watches and enter yours');
    case 'invalid':
      throw new AppError('key_refused', 'the key in this browser is not valid here');
    case 'scope':
      throw new AppError('key_scope', 'the key in this browser has no scope search, which watches need');
  }
}

async function sendNoWatches(
  deps: AppDependencies,
  reply: FastifyReply,
  reason: NoWatchesReason,
  to: string,
): Promise<FastifyReply> {
  return sendPage(reply, noWatchesPage(await siteNow(deps, reply), reason, to));
}

const siteNow = (deps: AppDependencies, reply: FastifyReply): Promise<Site> =>
  withSnapshot(deps.pool, async ({ tip }) => siteOf(deps, tip), askerOf(reply).signal);

/** The site, and what a watch of a kind cannot find here, or finds only in blocks. */
const shownNow = (
  deps: AppDependencies,
  reply: FastifyReply,
  kind: Watch['kind'],
): Promise<{ readonly site: Site; readonly notes: readonly string[] }> =>
  withSnapshot(
    deps.pool,
    async ({ client, tip }) => {
      const notes: string[] = [];
      if (kind === 'receipts') {
        notes.push(
          (await isLeftOut(client, 'outputs'))
            ? 'Receipts of sats are not found, because this service has no index of addresses.'
            : 'Receipts of sats are told only when a block has them.',
        );
        if (await isLeftOut(client, 'runes'))
          notes.push('Receipts of runes are not found, because this service has no index of runes.');
      }
      return { site: siteOf(deps, tip), notes };
    },
    askerOf(reply).signal,
  );

/** Fields with a value, because forms also send empty fields. The kind is always there. */
const givenFields = (given: object): GivenFields & Record<string, string> => ({
  kind: 'search',
  ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')) as Record<
    string,
    string
  >),
});

/** The watch that the fields of a form describe. Throws `request_invalid`. */
async function readFields(
  deps: AppDependencies,
  watches: KeyWatches,
  { kind, ...fields }: GivenFields,
  reply: FastifyReply,
  webhookUrl?: string,
): Promise<CheckedWatch> {
  const condition = kind === 'search' ? searchFields(fields) : fields;
  const body = webhookUrl === undefined ? condition : { ...condition, webhookUrl };
  return readAsked(kind, body, { ...deps, watches }, askerOf(reply).signal);
}

/** The body of a search that has the parameters of the search page. */
function searchFields({
  in: where,
  all,
  words,
  text: content,
  ...filters
}: Readonly<Record<string, string | undefined>>): object {
  if (content === undefined) return filters;
  const match = words === '1' ? { words: true } : all === '1' ? {} : { phrase: true };
  return { [where === 'metadata' ? 'metadata' : 'text']: content, ...match, ...filters };
}
