import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type AnswerForm, answerFromIndex, sendOrd } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeBlockHash } from '#http/ord/sources/node-questions.ts';
import { heightOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged } from '#http/server/answers/conditional.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

const text: AnswerForm = { type: 'text', recursive: true };
const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;

/** Routes for the height, hash and time of the tip, for the number of blocks, and for hashes by height. */
export function heightsRoutes(app: App, deps: AppDependencies, node: NodeCalls | null): void {
  const route = (
    paths: Readonly<Record<string, string>>,
    summary: string,
    form: AnswerForm,
    read: (snapshot: Snapshot) => Promise<string>,
  ): void => {
    const response = form.type === 'text' ? ordAnswers.text : ordAnswers.hash;
    for (const [url, operationId] of Object.entries(paths)) {
      apiRoute(app, {
        method: 'GET',
        url,
        schema: { operationId, summary, tags, response },
        config,
        handler: async (request, reply) => answerFromIndex(deps, request, reply, form, read),
      });
    }
  };
  const tipOf = (tip: Tip | null): Tip => {
    if (tip === null) throw new AppError('not_found', 'no block is indexed');
    return tip;
  };

  route({ '/blockcount': 'blockCount' }, 'Number of blocks', { type: 'text' }, async ({ tip }) =>
    String(tip === null ? 0 : tip.height + 1),
  );
  const heights = { '/blockheight': 'blockHeight', '/r/blockheight': 'recursiveBlockHeight' };
  route(heights, 'Height of the tip', text, async ({ tip }) => String(tipOf(tip).height));
  route({ '/blockhash': 'blockHash' }, 'Hash of the tip', text, async ({ tip }) =>
    displayHash(tipOf(tip).hash),
  );
  const recursiveHash = { '/r/blockhash': 'recursiveBlockHash' };
  route(recursiveHash, 'Hash of the tip', { recursive: true }, async ({ tip }) =>
    JSON.stringify(displayHash(tipOf(tip).hash)),
  );
  const times = { '/blocktime': 'blockTime', '/r/blocktime': 'recursiveBlockTime' };
  route(times, 'Time of the tip in Unix seconds', text, async ({ client, tip }) => {
    const block = await blockAt(client, { kind: 'height', height: tipOf(tip).height });
    return String(block?.time);
  });

  const hashAt = (
    url: string,
    operationId: string,
    form: AnswerForm,
    show: (hash: BlockHashHex) => string,
  ): void => {
    apiRoute(app, {
      method: 'GET',
      url,
      schema: {
        operationId,
        summary: 'Hash of the block at a height',
        tags,
        params: Type.Object({ height: pathParts.height }),
        response: form.type === 'text' ? ordAnswers.text : ordAnswers.hash,
      },
      config,
      handler: async (request, reply) =>
        sendHashAt(deps, request, reply, { node, form, show, height: heightOf(request.params.height) }),
    });
  };
  hashAt('/blockhash/:height', 'blockHashAt', text, (hash) => hash);
  hashAt('/r/blockhash/:height', 'recursiveBlockHashAt', { recursive: true }, (hash) => JSON.stringify(hash));
}

interface HashQuestion {
  readonly node: NodeCalls | null;
  readonly form: AnswerForm;
  readonly show: (hash: BlockHashHex) => string;
  readonly height: Height;
}

/** Sends the hash at a height. The hash comes from the index. Below the first indexed block it comes from the node. */
async function sendHashAt(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { node, form, show, height }: HashQuestion,
): Promise<FastifyReply> {
  if (await answeredUnchanged(deps.pool, request, reply)) return reply;
  const asker = askerOf(reply);
  const { tip, block } = await withSnapshot(
    deps.pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      block: await blockAt(snapshot.client, { kind: 'height', height }),
    }),
    asker.signal,
  );
  if (block !== null) return sendOrd(request, reply, tip, show(displayHash(block.hash)), form);
  const isBelow = tip !== null && height < tip.height;
  if (isBelow && node === null)
    throw new AppError('no_node', `block ${height} is not indexed, and this server has no node`);
  const hash = isBelow && node !== null ? await nodeBlockHash(node.of(asker), height) : null;
  if (hash === null) throw new AppError('not_found', `block ${height} not found`);
  return sendOrd(request, reply, tip, show(hash), { ...form, live: true });
}
