import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';

/**
 * Broadcasts a transaction. Returns the time just before, when its sender begins to wait: the time in which the node
 * checks the transaction counts too.
 */
export async function broadcastAt(chain: RegtestChain, made: RegtestTransaction): Promise<number> {
  const at = performance.now();
  await chain.broadcast(made);
  return at;
}
