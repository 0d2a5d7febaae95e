import { Type } from 'typebox';
import { ownContent } from '#chain/inscriptions/content.queries.ts';
import { rawMetadata } from '#chain/inscriptions/inscription.queries.ts';
import { contentAnswers, contentFailures, sendContent } from '#http/content/content.routes.ts';
import { answerFromIndex, answerOfTip, idText, sendOrd } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { BlockAnswers } from '#http/ord/blocks/block-answers.ts';
import type { BlockInfo } from '#http/ord/blocks/block-info.ts';
import { blockQuestionOf, inscriptionIdOf, quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged } from '#http/server/answers/conditional.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { charmNames } from '#kernel/primitives/charm.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
const path = Type.Object({ id: pathParts.id });
const form = { recursive: true };

function missing(id: string, what = ''): AppError {
  return new AppError('not_found', `inscription ${quoted(id)}${what} not found`);
}

/** Routes of the recursive endpoints about one inscription. */
export function recursiveRoutes(app: App, deps: PieceDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/r/inscription/:id',
    schema: {
      operationId: 'recursiveInscription',
      summary: 'An inscription, for recursive inscriptions',
      tags,
      params: path,
      response: ordAnswers.recursiveInscription,
    },
    config: { ...config, isReadTogether: () => true },
    handler: async (request, reply) => {
      const id = inscriptionIdOf(request.params.id);
      return answerOfTip(deps, request, reply, form, async () => {
        const { tip, detail } = await deps.inscriptions.find({ kind: 'id', id }, askerOf(reply).signal);
        if (detail === null) throw missing(request.params.id);
        const { location, storedCharms } = detail;
        const body = JSON.stringify({
          charms: storedCharms === null ? null : charmNames(storedCharms),
          content_type: detail.contentType,
          content_length: detail.contentLength,
          delegate: detail.delegate === null ? null : idText(detail.delegate),
          fee: detail.fee,
          height: detail.height,
          id: idText(detail.id),
          number: detail.number,
          output: location?.outpoint ?? null,
          sat: detail.sat,
          satpoint: location?.satpoint ?? null,
          timestamp: detail.timestamp,
          value: location?.value ?? null,
          address: location?.script == null ? null : scriptToAddress(location.script, deps.network),
        });
        return { tip, body };
      });
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/r/metadata/:id',
    schema: {
      operationId: 'recursiveMetadata',
      summary: 'The metadata of an inscription as CBOR in hex',
      tags,
      params: path,
      response: ordAnswers.metadata,
    },
    // 4 MB of metadata, the maximum in a block, become 8 MB of hex
    config: { ...config, answersLarge: true },
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
}

/**
 * Route of `/r/undelegated-content/<id>`. It sends the inscription's own body, even if the inscription has a delegate.
 */
export function undelegatedRoute(app: App, reads: ContentReads): void {
  apiRoute(app, {
    method: 'GET',
    url: '/r/undelegated-content/:id',
    schema: {
      operationId: 'undelegatedContent',
      summary: 'The inscription’s own content, even with a delegate',
      tags,
      params: path,
      response: contentAnswers,
    },
    config: { ...config, failures: contentFailures, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const id = inscriptionIdOf(request.params.id);
      const content = await reads.read(asker, (client) => ownContent(client, id));
      if (content === null) throw missing(request.params.id);
      return sendContent(reads, asker, content, request, reply);
    },
  });
}

/** Routes of the recursive endpoints about blocks. */
export function recursiveBlockRoutes(
  app: App,
  deps: PieceDependencies,
  blocks: BlockAnswers,
  info: BlockInfo,
): void {
  const blockPath = Type.Object({ query: pathParts.block });
  apiRoute(app, {
    method: 'GET',
    url: '/r/block/:query',
    schema: {
      operationId: 'recursiveBlock',
      summary: 'A raw block in hex',
      tags,
      params: blockPath,
      response: ordAnswers.hex,
    },
    config: { ...config, answersLarge: true },
    handler: async (request, reply) => blocks.blockHex(request, reply, request.params.query),
  });

  apiRoute(app, {
    method: 'GET',
    url: '/r/blockinfo/:query',
    schema: {
      operationId: 'recursiveBlockInfo',
      summary: 'Header, work and fees of a block',
      tags,
      params: blockPath,
      response: ordAnswers.blockInfo,
    },
    // expensive, because for a block that is not indexed, the fees of all its transactions are added up
    config: { ...config, isDear: true },
    handler: async (request, reply) => {
      blockQuestionOf(request.params.query);
      if (await answeredUnchanged(deps.pool, request, reply)) return reply;
      const { tip, json, live } = await info.answer(request.params.query, askerOf(reply));
      return sendOrd(request, reply, tip, json, { ...form, live });
    },
  });
}
