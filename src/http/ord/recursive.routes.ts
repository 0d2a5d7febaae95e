import { Type } from 'typebox';
import { ownContent } from '#chain/inscriptions/content.queries.ts';
import { inscriptionDetail, rawMetadata } from '#chain/inscriptions/inscription.queries.ts';
import { sendContent } from '#http/content/content.routes.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { answeredUnchanged } from '#http/server/conditional.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import { answerFromIndex, idText, sendOrd } from './answers.ts';
import type { BlockAnswers } from './blocks/block-answers.ts';
import type { BlockInfo } from './blocks/block-info.ts';
import { blockQuestionOf, inscriptionIdOf, quoted } from './parameters.ts';

const tags = ['ord'];
const path = Type.Object({ id: Type.String() });
const form = { recursive: true };

function missing(id: string, what = ''): AppError {
  return new AppError('not_found', `inscription ${quoted(id)}${what} not found`);
}

/** What inscriptions ask for: the recursive endpoints that are of one inscription. */
export function recursiveRoutes(app: App, deps: AppDependencies): void {
  app.route({
    method: 'GET',
    url: '/r/inscription/:id',
    schema: { summary: 'An inscription, for inscriptions', tags, params: path },
    handler: async (request, reply) => {
      const id = inscriptionIdOf(request.params.id);
      return answerFromIndex(deps, request, reply, form, async ({ client }) => {
        const detail = await inscriptionDetail(client, { kind: 'id', id });
        if (detail === null) throw missing(request.params.id);
        const { location, storedCharms } = detail;
        return JSON.stringify({
          charms: storedCharms === null ? null : charmNames(storedCharms),
          content_type: detail.contentType,
          content_length: detail.contentLength,
          delegate: detail.delegate === null ? null : idText(detail.delegate),
          fee: detail.fee,
          height: detail.height,
          id: idText(detail.id),
          number: detail.number,
          output: location?.outpoint ?? null,
          sat: null,
          satpoint: location?.satpoint ?? null,
          timestamp: detail.timestamp,
          value: location?.value ?? null,
          address: location?.script == null ? null : scriptToAddress(location.script, deps.network),
        });
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/r/metadata/:id',
    schema: { summary: 'The metadata of an inscription as CBOR in hex', tags, params: path },
    handler: async (request, reply) => {
      const id = inscriptionIdOf(request.params.id);
      return answerFromIndex(deps, request, reply, form, async ({ client }) => {
        const metadata = await rawMetadata(client, id);
        if (metadata === null) throw missing(request.params.id);
        if (metadata.bytes === null) throw missing(request.params.id, ' metadata');
        return JSON.stringify(metadata.bytes.toString('hex'));
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/r/undelegated-content/:id',
    schema: { summary: 'The content of an inscription itself, whatever its delegate', tags, params: path },
    config: { compression: 'none' },
    handler: async (request, reply) => {
      const content = await ownContent(deps.pool, inscriptionIdOf(request.params.id));
      if (content === null) throw missing(request.params.id);
      return sendContent(deps.pool, content, request, reply);
    },
  });
}

/** Blocks, as inscriptions ask for them. */
export function recursiveBlockRoutes(
  app: App,
  deps: AppDependencies,
  blocks: BlockAnswers,
  info: BlockInfo,
): void {
  const blockPath = Type.Object({ query: Type.String() });
  app.route({
    method: 'GET',
    url: '/r/block/:query',
    schema: { summary: 'A raw block in hex', tags, params: blockPath },
    handler: async (request, reply) => blocks.blockHex(request, reply, request.params.query),
  });

  app.route({
    method: 'GET',
    url: '/r/blockinfo/:query',
    schema: { summary: 'Header, work and fees of a block', tags, params: blockPath },
    handler: async (request, reply) => {
      blockQuestionOf(request.params.query);
      if (await answeredUnchanged(deps.pool, request, reply)) return reply;
      const { tip, json, live } = await info.answer(request.params.query);
      return sendOrd(request, reply, tip, json, { ...form, live });
    },
  });
}
