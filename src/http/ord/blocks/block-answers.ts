import type { FastifyReply, FastifyRequest } from 'fastify';
import { blocksBelow } from '#chain/blocks/block.queries.ts';
import { featuredInBlocks, type HeaderFacts, headerFacts } from '#chain/blocks/header.queries.ts';
import { inscriptionIds } from '#chain/inscriptions/inscription.queries.ts';
import { runesEtchedAt } from '#chain/runes/rune.queries.ts';
import { knowsRunesAt } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { answerFromIndex, idText, sendOrd } from '#http/ord/answers/answers.ts';
import { hexPieces, joined, transactionJson } from '#http/ord/answers/transaction-json.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeBlock, nodeBlockHash } from '#http/ord/sources/node-questions.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import { blockQuestionOf, quoted } from '#http/parameters/path-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { answeredUnchanged } from '#http/server/answers/conditional.ts';
import type { PiecesOfAnswer } from '#http/server/budgets/answer-pieces.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { keysBetween } from '#kernel/primitives/inscription-key.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { targetHex } from './block-stats.ts';

/**
 * Numbers, equal to ord's: how many blocks are listed, how many blocks at the head of the list show inscriptions, and
 * how many inscriptions each of these blocks shows. The inscriptions with the highest fees are shown.
 */
const blocksListed = 100;
const blocksFeatured = 5;
const featuredPerBlock = 8;

interface FoundBlock {
  readonly tip: Tip | null;
  /** The block's data in the index. `null` if the block is not indexed and comes from the node. */
  readonly facts: HeaderFacts | null;
  readonly bytes: Uint8Array;
  readonly height: Height | null;
  /** Ids of the block's inscriptions, in the order of application. They are read only if requested. */
  readonly inscriptions: readonly string[];
  /** Names of the runes that the block etched, read only if requested. `null` if unknown. */
  readonly runes: readonly string[] | null;
}

/** Responses that contain complete blocks, and the list of blocks. */
export class BlockAnswers {
  readonly #deps: AppDependencies;
  readonly #node: NodeCalls | null;
  readonly #rawBlocks: RawBlocks;

  constructor(deps: AppDependencies, node: NodeCalls | null, rawBlocks: RawBlocks) {
    this.#deps = deps;
    this.#node = node;
    this.#rawBlocks = rawBlocks;
  }

  /** `/block/<height or hash>` as JSON. */
  async block(request: FastifyRequest, reply: FastifyReply, query: string): Promise<FastifyReply> {
    blockQuestionOf(query);
    varyBy(reply, 'Accept');
    if (await answeredUnchanged(this.#deps.pool, request, reply)) return reply;
    const found = await this.find(query, true, askerOf(reply));
    const live = found.facts === null;
    return sendOrd(
      request,
      reply,
      found.tip,
      { pieces: joined(blockJson(found)), bytes: bytesBehind(found.bytes) },
      {
        recursive: true,
        live,
      },
    );
  }

  /** `/r/block/<height or hash>`: the raw block in hex, as a JSON string. */
  async blockHex(request: FastifyRequest, reply: FastifyReply, query: string): Promise<FastifyReply> {
    blockQuestionOf(query);
    if (await answeredUnchanged(this.#deps.pool, request, reply)) return reply;
    const { tip, facts, bytes } = await this.find(query, false, askerOf(reply));
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

  /**
   * The bytes of a block, from the source of blocks if possible, otherwise from the node. Throws `not_found` and
   * `no_node`.
   */
  async find(query: string, withContents: boolean, asker: Asker): Promise<FoundBlock> {
    const question = blockQuestionOf(query);
    const indexed = await withSnapshot(
      this.#deps.pool,
      async ({ client, tip: now }) => {
        const found = await headerFacts(client, question);
        if (found === null || !withContents) return { tip: now, facts: found, inscriptions: [], runes: null };
        const { firstKey, nextKey } = found;
        const keys = keysBetween(firstKey, nextKey);
        const ids = await inscriptionIds(client, keys);
        const etched = (await knowsRunesAt(client, found.height))
          ? await runesEtchedAt(client, found.height)
          : null;
        const names = etched?.map(formatSpacedRune) ?? null;
        return { tip: now, facts: found, inscriptions: ids.map(idText), runes: names };
      },
      asker.signal,
    );
    const { facts } = indexed;
    const node = this.#node?.of(asker) ?? null;
    if (facts !== null) {
      const block = await this.#rawBlocks.read({ height: facts.height, hash: facts.hash }, asker);
      const bytes = block?.bytes ?? (await fromNode(node, displayHash(facts.hash)));
      return { ...indexed, bytes, height: facts.height };
    }
    const missing = new AppError('not_found', `block ${quoted(query)} not found`);
    if (node === null) throw missing;
    const isHash = question.kind === 'hash';
    const hash = isHash ? displayHash(question.hash) : await nodeBlockHash(node, question.height);
    const bytes = hash === null ? null : await nodeBlock(node, hash);
    if (bytes === null) throw missing;
    return { ...indexed, bytes, height: isHash ? null : question.height };
  }
}

async function fromNode(node: NodeRpc | null, hash: BlockHashHex): Promise<Uint8Array> {
  if (node === null)
    throw new AppError('no_node', 'this server has neither the bytes of this block nor a node');
  const bytes = await nodeBlock(node, hash);
  if (bytes === null) throw new AppError('no_node', `the node no longer has the bytes of block ${hash}`);
  return bytes;
}

function* blockJson({ tip, height, bytes, inscriptions, runes }: FoundBlock): Generator<string> {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, 80);
  const fields = JSON.stringify({
    best_height: tip?.height ?? null,
    hash: displayHash(doubleSha256(header)),
    height,
    inscriptions,
    runes,
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

/**
 * The number of bytes that a part of a block keeps in memory. This is the size of the complete block, because the part
 * is a view of its buffer.
 */
export const bytesBehind = ({ buffer }: Uint8Array): number => buffer.byteLength;

/** Bytes in hex as a JSON string. */
export const quotedHex = (bytes: Uint8Array): PiecesOfAnswer => ({
  pieces: hexInQuotes(bytes),
  bytes: bytesBehind(bytes),
});

function* hexInQuotes(bytes: Uint8Array): Generator<string> {
  yield '"';
  yield* hexPieces(bytes);
  yield '"';
}
