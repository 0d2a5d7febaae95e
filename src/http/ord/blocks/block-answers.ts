import type { FastifyReply, FastifyRequest } from 'fastify';
import { blocksBelow } from '#chain/blocks/block.queries.ts';
import { featuredInBlocks, type HeaderFacts, headerFacts } from '#chain/blocks/header.queries.ts';
import { inscriptionIds } from '#chain/inscriptions/inscription.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { answerFromIndex, idText, sendOrd } from '#http/ord/answers.ts';
import { nodeBlock, nodeBlockHash } from '#http/ord/node-questions.ts';
import { blockQuestionOf, quoted } from '#http/ord/parameters.ts';
import { hexPieces, joined, transactionJson } from '#http/ord/transactions/transaction-json.ts';
import type { AppDependencies } from '#http/server/app-dependencies.ts';
import { answeredUnchanged } from '#http/server/conditional.ts';
import { varyBy } from '#http/server/vary.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { keysBetween } from '#kernel/primitives/inscription-key.ts';
import { targetHex } from './block-stats.ts';
import type { RawBlocks } from './raw-blocks.ts';

/** As in ord: blocks in the list, blocks at its head that show inscriptions, and inscriptions of each by fee. */
const blocksListed = 100;
const blocksFeatured = 5;
const featuredPerBlock = 8;

interface FoundBlock {
  readonly tip: Tip | null;
  /** Null: the block comes from the node; the index does not have it. */
  readonly facts: HeaderFacts | null;
  readonly bytes: Uint8Array;
  readonly height: Height | null;
  /** Ids of its inscriptions in the order of application, where requested. */
  readonly inscriptions: readonly string[];
}

/** Answers with whole blocks, and the list of blocks. */
export class BlockAnswers {
  readonly #deps: AppDependencies;
  readonly #rawBlocks: RawBlocks;

  constructor(deps: AppDependencies, rawBlocks: RawBlocks) {
    this.#deps = deps;
    this.#rawBlocks = rawBlocks;
  }

  /** `/block/<height or hash>` as JSON. */
  async block(request: FastifyRequest, reply: FastifyReply, query: string): Promise<FastifyReply> {
    blockQuestionOf(query);
    varyBy(reply, 'Accept');
    if (await answeredUnchanged(this.#deps.pool, request, reply)) return reply;
    const found = await this.find(query, true);
    const live = found.facts === null;
    return sendOrd(request, reply, found.tip, joined(blockJson(found)), {
      recursive: true,
      live,
    });
  }

  /** `/r/block/<height or hash>`: the raw block in hex, as a JSON string. */
  async blockHex(request: FastifyRequest, reply: FastifyReply, query: string): Promise<FastifyReply> {
    blockQuestionOf(query);
    if (await answeredUnchanged(this.#deps.pool, request, reply)) return reply;
    const { tip, facts, bytes } = await this.find(query, false);
    return sendOrd(request, reply, tip, quotedHex(bytes), { recursive: true, live: facts === null });
  }

  /** `/blocks` as JSON: the newest blocks. */
  async blocks(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = { recursive: true, page: true };
    return answerFromIndex(this.#deps, request, reply, form, async ({ client }) => {
      const blocks = await blocksBelow(client, null, blocksListed);
      const first = blocks.slice(0, blocksFeatured);
      const featured = await featuredInBlocks(
        client,
        first.map(({ height }) => height),
        featuredPerBlock,
      );
      const featuredBlocks: Record<string, string[]> = {};
      for (const { height, hash } of first) {
        const ids = await inscriptionIds(client, featured.get(height) ?? []);
        featuredBlocks[displayHash(hash)] = ids.map(idText);
      }
      return JSON.stringify({
        last: blocks[0]?.height ?? 0,
        blocks: blocks.map(({ hash }) => displayHash(hash)),
        featured_blocks: featuredBlocks,
      });
    });
  }

  /** The bytes of a block, from the source of blocks or else the node. Throws `not_found` and `no_node`. */
  async find(query: string, withInscriptions: boolean): Promise<FoundBlock> {
    const question = blockQuestionOf(query);
    const { tip, facts, inscriptions } = await withSnapshot(this.#deps.pool, async (snapshot) => {
      const found = await headerFacts(snapshot.client, question);
      if (found === null || !withInscriptions) return { tip: snapshot.tip, facts: found, inscriptions: [] };
      const { firstKey, nextKey } = found;
      const keys = keysBetween(firstKey, nextKey);
      const ids = await inscriptionIds(snapshot.client, keys);
      return { tip: snapshot.tip, facts: found, inscriptions: ids.map(idText) };
    });
    if (facts !== null) {
      const block = await this.#rawBlocks.read({ height: facts.height, hash: facts.hash });
      const bytes = block?.bytes ?? (await this.#fromNode(displayHash(facts.hash)));
      return { tip, facts, bytes, height: facts.height, inscriptions };
    }
    const missing = new AppError('not_found', `block ${quoted(query)} not found`);
    const { node } = this.#deps;
    if (node == null) throw missing;
    const isHash = question.kind === 'hash';
    const hash = isHash ? displayHash(question.hash) : await nodeBlockHash(node, question.height);
    const bytes = hash === null ? null : await nodeBlock(node, hash);
    if (bytes === null) throw missing;
    return { tip, facts, bytes, height: isHash ? null : question.height, inscriptions };
  }

  async #fromNode(hash: BlockHashHex): Promise<Uint8Array> {
    const { node } = this.#deps;
    if (node == null)
      throw new AppError('no_node', 'this server has neither the bytes of this block nor a node to ask');
    const bytes = await nodeBlock(node, hash);
    if (bytes === null) throw new AppError('no_node', `the node no longer has the bytes of block ${hash}`);
    return bytes;
  }
}

function* blockJson({ tip, height, bytes, inscriptions }: FoundBlock): Generator<string> {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, 80);
  const fields = JSON.stringify({
    best_height: tip?.height ?? null,
    hash: displayHash(doubleSha256(header)),
    height,
    inscriptions,
    target: targetHex(header.readUInt32LE(72)),
  });
  yield `${fields.slice(0, -1)},"transactions":[`;
  const transactions = RawTransactions.ofBlock(bytes);
  for (let place = 0; place < transactions.count; place++) {
    if (place > 0) yield ',';
    yield* transactionJson(transactions.at(place));
  }
  yield ']}';
}

export function* quotedHex(bytes: Uint8Array): Generator<string> {
  yield '"';
  yield* hexPieces(bytes);
  yield '"';
}
