import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { inscriptionIds, inscriptionKey } from '#chain/inscriptions/inscription.queries.ts';
import {
  childPage,
  type InscriptionEntry,
  inscriptionEntries,
  type KeyPage,
  parentPage,
} from '#chain/inscriptions/relative.queries.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import { type AnswerForm, answerFromIndex, idText } from './answers.ts';
import { inscriptionIdOf, placeOf, quoted } from './parameters.ts';

const path = Type.Object({ id: Type.String(), page: Type.Optional(Type.String()) });

interface Question {
  readonly id: string;
  readonly page?: string;
}

/** What a page of relatives becomes. */
type Shown = (snapshot: Snapshot, keys: KeyPage, page: number) => Promise<object>;

/** `/children`, `/parents`, and the same for inscriptions under `/r/`. */
export function relativesRoutes(app: App, deps: AppDependencies): void {
  const children = async ({ client }: Snapshot, key: number, page: number): Promise<KeyPage> =>
    childPage(client, key, page);
  const parents = async ({ client }: Snapshot, key: number, page: number): Promise<KeyPage> =>
    parentPage(client, key, page);

  const route = (url: string, name: string, read: typeof children, show: Shown): void => {
    const form: AnswerForm = { recursive: url.startsWith('/r/') };
    const handler = async (
      request: FastifyRequest<{ Params: Question }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const id = inscriptionIdOf(request.params.id);
      const page = placeOf(request.params.page, 'page');
      return answerFromIndex(deps, request, reply, form, async (snapshot) => {
        const key = await inscriptionKey(snapshot.client, { kind: 'id', id });
        if (key === null)
          throw new AppError('not_found', `inscription ${quoted(request.params.id)} not found`);
        return JSON.stringify(await show(snapshot, await read(snapshot, key, page), page));
      });
    };
    const schema = { tags: ['ord'], params: path };
    const words = `${name} of an inscription, 100 a page`;
    app.route({ method: 'GET', url, schema: { ...schema, summary: words }, handler });
    app.route({ method: 'GET', url: `${url}/:page`, schema: { ...schema, summary: words }, handler });
  };

  route('/children/:id', 'Children', children, idsWith('page'));
  route('/r/children/:id', 'Children', children, idsWith('page'));
  route('/r/children/:id/inscriptions', 'Children', children, entriesAs('children'));
  route('/parents/:id', 'Parents', parents, idsWith('page_index'));
  route('/r/parents/:id', 'Parents', parents, idsWith('page_index'));
  route('/r/parents/:id/inscriptions', 'Parents', parents, entriesAs('parents'));
}

/** Ids; ord has two names for the number of a page. */
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

function entryFields({ id, charms, fee, height, number, location, timestamp }: InscriptionEntry): object {
  return {
    charms: charms === null ? null : charmNames(charms),
    fee,
    height,
    id: idText(id),
    number,
    output: location?.outpoint ?? null,
    sat: null,
    satpoint: location?.satpoint ?? null,
    timestamp,
  };
}
