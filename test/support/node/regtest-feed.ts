import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';

/**
 * Feeds a golden chain to an empty regtest node: stale branches first, so that the node reorganises to the best one.
 */
export async function feedGoldenChain(rpc: NodeRpc, golden: GoldenChain): Promise<void> {
  const { headers, staleBranches } = golden.chain;
  const stale = staleBranches.flatMap((branch) => [
    ...headers.slice(0, branch.forkHeight + 1),
    ...branch.headers,
  ]);
  const fed = new Set<string>();
  for (const header of [...stale, ...headers]) {
    // every regtest node has block 0
    if (header.height === 0 || fed.has(header.hash)) continue;
    fed.add(header.hash);
    await submitBlock(rpc, golden.block(header).bytes);
  }
}

/** Results of `submitblock` for an accepted block. It is on the best chain, already known, or on another branch. */
const taken: ReadonlySet<unknown> = new Set([null, 'duplicate', 'inconclusive', 'duplicate-inconclusive']);
// checking a block of 2 MB takes a second, or several on a busy machine
const submitTimeoutMs = 120_000;

/** Submits a block to the node. Throws the node's reason if the node refuses the block. */
export async function submitBlock(rpc: NodeRpc, bytes: Uint8Array): Promise<void> {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  const said = await rpc.call<unknown>('submitblock', [hex], { timeoutMs: submitTimeoutMs });
  if (!taken.has(said)) throw new Error(`submitblock: ${String(said)}`);
}
