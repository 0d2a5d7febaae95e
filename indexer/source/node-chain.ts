import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { HeaderRef } from '#kernel/contracts/live-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, type BlockHash, displayHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { headersMax } from '#node/block-reads.ts';
import { askChainInfo, fieldsOf, invalidAnswer } from '#node/node-answers.ts';

/**
 * Maximum number of times that a changing chain is read. Reorganisations are at least seconds apart, so more changes
 * mean a broken node.
 */
const looksMax = 20;
/**
 * Maximum depth below an invalid tip in which a block is searched. It is deeper than any reorganisation of a real
 * network.
 */
const invalidDepthMax = 2016;

/** The best block of a node. Throws as NodeRpc does. */
export async function tipOf(rpc: NodeRpc, signal?: AbortSignal): Promise<BlockRef> {
  const { blocks, bestblockhash } = await askChainInfo(rpc, signal);
  const hash = parseBlockHash(bestblockhash);
  if (hash === null) throw invalidAnswer(rpc, 'getblockchaininfo');
  return { height: blocks, hash };
}

/**
 * The size of the block at a height of the node's best chain. Null: the node does not give the size. Throws as NodeRpc
 * does.
 */
export async function sizeAt(rpc: NodeRpc, height: Height, signal: AbortSignal): Promise<number | null> {
  const options = { signal };
  const hash = await rpc.call<unknown>('getblockhash', [height], options);
  const block = await rpc.call<unknown>('getblock', [hash, 1], options);
  const size = (block as { readonly size?: unknown } | null)?.size;
  return typeof size === 'number' ? size : null;
}

/**
 * Up to `count` headers of the best chain from a height on. The parent of each header is the header before it. Headers
 * are read in pages: if the chain changes between two pages, all are read again.
 *
 * @param expected the hash of a block of this height. If the best chain has this block, one request is enough. At the
 *   tip this saves four requests
 */
export async function headersOfOneMoment(
  node: BitcoinNode,
  fromHeight: Height,
  count: number,
  signal?: AbortSignal,
  expected?: BlockHash,
): Promise<HeaderRef[]> {
  const atOnce = await headersAtOnce(node, expected, fromHeight, count, signal);
  if (atOnce !== null) return refsOf(atOnce, fromHeight);
  let refs: HeaderRef[] = [];
  for (let looks = 0; looks < looksMax; ) {
    const height = asHeight(fromHeight + refs.length);
    const page = await node.headers(height, count - refs.length, signal);
    if (page?.length === 0 && (await isStillBest(node, refs.at(-1), signal))) return refs;
    const parent = refs.at(-1)?.hash;
    const isLinked = page?.[0] !== undefined && (parent === undefined || isParent(parent, page[0]));
    if (!isLinked) {
      refs = [];
      looks++;
      continue;
    }
    refs.push(...refsOf(page, height));
    if (refs.length >= count) return refs;
  }
  throw new AppError('node_answer_invalid', `The chain of ${node.name} changes each time it is read.`, {
    fromHeight,
  });
}

/** All headers from a block on, up to `count`. Null if no block is given, or if one request does not give them. */
async function headersAtOnce(
  node: BitcoinNode,
  first: BlockHash | undefined,
  firstHeight: Height,
  count: number,
  signal: AbortSignal | undefined,
): Promise<readonly Uint8Array[] | null> {
  if (first === undefined || count <= 0 || count > headersMax) return null;
  const headers = await node.headersFrom(first, count, signal);
  // REST needs no credentials. If nothing is new, a request by RPC shows whether the node still accepts ours
  if (headers !== null && headers.length <= 1) await node.headers(firstHeight, 1, signal);
  return headers;
}

const refsOf = (headers: readonly Uint8Array[], fromHeight: Height): HeaderRef[] =>
  headers.map((header, index) => ({
    height: asHeight(fromHeight + index),
    hash: asBlockHash(Uint8Array.from(doubleSha256(header))),
    header,
  }));

/** Whether the last header is still the tip. If not, a reorganisation has removed its block. */
async function isStillBest(
  node: BitcoinNode,
  last: HeaderRef | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (last === undefined) return true;
  const page = await node.headers(last.height, 1, signal);
  return page?.[0] !== undefined && Buffer.compare(page[0], last.header) === 0;
}

const isParent = (hash: BlockHash, header: Uint8Array): boolean =>
  Buffer.compare(hash, header.subarray(4, 36)) === 0;

/**
 * Whether a block is on a branch of its own, at or below a tip that the node calls invalid. The best chain of a node
 * ends in the valid block with the most work, so callers ask this about a block with more work than the node's tip.
 */
export async function isOfInvalidBranch(
  rpc: NodeRpc,
  hash: BlockHash,
  signal?: AbortSignal,
): Promise<boolean> {
  const options = signal === undefined ? {} : { signal };
  const wanted = displayHash(hash);
  const tips = await rpc.call<unknown>('getchaintips', [], options);
  if (!Array.isArray(tips)) throw invalidAnswer(rpc, 'getchaintips');
  for (const tip of tips.map(fieldsOf)) {
    if (tip['status'] !== 'invalid') continue;
    const depth = Math.min(Number(tip['branchlen']), invalidDepthMax);
    let at: unknown = tip['hash'];
    for (let step = 0; step < depth && typeof at === 'string'; step++) {
      if (at === wanted) return true;
      at = fieldsOf(await rpc.call<unknown>('getblockheader', [at], options))['previousblockhash'];
    }
  }
  return false;
}
