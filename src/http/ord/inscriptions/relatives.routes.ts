import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { inscriptionIds, inscriptionKey, inscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import {
  childPage,
  type InscriptionEntry,
  inscriptionEntries,
  type KeyPage,
  parentPage,
} from '#chain/inscriptions/relative.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type RelativesOf, sendRelatives } from '#http/lists/relatives-page.ts';
import { type AnswerForm, answerFromIndex, idText } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { inscriptionIdOf, placeOf, quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { apiRoute, type RouteSchema } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

const firstPage = Type.Object({ id: pathParts.id });
const laterPage = Type.Object({ id: pathParts.id, page: pathParts.page });

interface Question {
  readonly id: string;
  readonly page?: string;
}

/** A kind of relatives that can be listed, with its description in the API document. */
interface Relation {
  readonly url: string;
  readonly operationId: string;
  readonly name: RelativesOf['name'];
  readonly response: RouteSchema['response'];
}

/** Makes the response for a page of relatives. */
type Shown = (snapshot: Snapshot, keys: KeyPage, page: number) => Promise<object>;

type Read = (snapshot: Snapshot, key: InscriptionKey, page: number) => Promise<KeyPage>;

/** Routes of `/children` and `/parents`, and of the paths below `/r/` that return the same lists to inscriptions. */
export function relativesRoutes(app: App, deps: AppDependencies): void {
  const children: Read = async ({ client }, key, page) => childPage(client, key, page);
  const parents: Read = async ({ client }, key, page) => parentPage(client, key, page);
  const route = (relation: Relation, form: AnswerForm, read: Read, show: Shown): void => {
    relativesRoute(app, deps, relation, { form, read, show });
  };
  const plain: AnswerForm = { recursive: false, page: true };
  const recursive: AnswerForm = { recursive: true };
  const { pageOfIds, pageIndexOfIds, pageOfRelatives, pageIndexOfRelatives } = ordAnswers;
  const ofChildren = { name: 'Children', response: pageOfIds } as const;
  const ofParents = { name: 'Parents', response: pageIndexOfIds } as const;
  route(
    { ...ofChildren, response: pageOfRelatives, url: '/children/:id', operationId: 'children' },
    plain,
    children,
    idsWith('page'),
  );
  route(
    { ...ofChildren, url: '/r/children/:id', operationId: 'recursiveChildren' },
    recursive,
    children,
    idsWith('page'),
  );
  route(
    {
      url: '/r/children/:id/inscriptions',
      operationId: 'recursiveChildInscriptions',
      name: 'Children',
      response: ordAnswers.children,
    },
    recursive,
    children,
    entriesAs('children'),
  );
  route(
    { ...ofParents, response: pageIndexOfRelatives, url: '/parents/:id', operationId: 'parents' },
    plain,
    parents,
    idsWith('page_index'),
  );
  route(
    { ...ofParents, url: '/r/parents/:id', operationId: 'recursiveParents' },
    recursive,
    parents,
    idsWith('page_index'),
  );
  route(
    {
      url: '/r/parents/:id/inscriptions',
      operationId: 'recursiveParentInscriptions',
      name: 'Parents',
      response: ordAnswers.parents,
    },
    recursive,
    parents,
    entriesAs('parents'),
  );
}

function relativesRoute(
  app: App,
  deps: AppDependencies,
  { url, operationId, name, response }: Relation,
  { form, read, show }: { readonly form: AnswerForm; readonly read: Read; readonly show: Shown },
): void {
  const handler = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: Question,
  ): Promise<FastifyReply> => {
    const id = inscriptionIdOf(asked.id);
    const page = placeOf(asked.page, 'page');
    const missing = new AppError('not_found', `inscription ${quoted(asked.id)} not found`);
    // only people use these paths with a browser; inscriptions use the paths below /r/
    if (form.page === true && prefersHtml(request.headers.accept)) {
      return withSnapshot(
        deps.pool,
        async (snapshot) => {
          const of = await inscriptionName(snapshot.client, { kind: 'id', id });
          if (of === null) throw missing;
          const { keys, more } = await read(snapshot, of.key, page);
          const path = (to: number): string => `${url.replace(':id', idText(id))}/${to}`;
          return sendRelatives(deps, reply, snapshot, { name, of, keys, more, page, path });
        },
        askerOf(reply).signal,
      );
    }
    return answerFromIndex(deps, request, reply, form, async (snapshot) => {
      const key = await inscriptionKey(snapshot.client, { kind: 'id', id });
      if (key === null) throw missing;
      return JSON.stringify(await show(snapshot, await read(snapshot, key, page), page));
    });
  };
  const schema = { tags: ['ord'], response, summary: `${name} of an inscription, 100 per page` } as const;
  const policy = { errors: 'plain', guard: open } as const;
  apiRoute(app, {
    method: 'GET',
    url,
    schema: { ...schema, operationId, params: firstPage },
    config: policy,
    handler: async (request, reply) => handler(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: `${url}/:page`,
    schema: { ...schema, operationId: `${operationId}Page`, params: laterPage },
    config: policy,
    handler: async (request, reply) => handler(request, reply, request.params),
  });
}

/** Makes the response for a page of ids. ord has two names for the field that contains the page number. */
function idsWith(pageName: 'page' | 'page_index'): Shown {
  return async ({ client }, { keys, more }, page) => ({
    ids: (await inscriptionIds(client, keys)).map(idText),
    more,
    [pageName]: page,
  });
}

function entriesAs(name: 'children' | 'parents'): Shown {
  return async ({ client }, { keys, more }, page) => ({
    [name]: (await inscriptionEntries(client, keys)).map(entryFields),
    more,
    page,
  });
}

function entryFields({
  id,
  charms,
  fee,
  height,
  number,
  location,
  sat,
  timestamp,
}: InscriptionEntry): object {
  return {
    charms: charms === null ? null : charmNames(charms),
    fee,
    height,
    id: idText(id),
    number,
    output: location?.outpoint ?? null,
    sat,
    satpoint: location?.satpoint ?? null,
    timestamp,
  };
}
