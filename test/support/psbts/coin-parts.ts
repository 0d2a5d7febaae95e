import { networks } from '#kernel/primitives/network.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import type { IndexedNode } from '#test/support/utxos/indexed-node.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';

/**
 * Definitions for chains of a few hundred blocks. Usually all sats of such a chain are vintage; here only those of the
 * genesis block are. There are no palindromes.
 */
export const shortChainSatributes = (): SatributeBook => shortChainBook;

const shortChainBook = new SatributeBook('regtest', [
  { ...known('vintage'), rule: { kind: 'blocks', heights: [[0, 0]] } },
  { ...known('number-palindrome'), rule: { kind: 'ranges', ranges: [] } },
]);

function known(id: string): Satribute {
  const found = regtestSatributes().find(id);
  if (found === null) throw new Error(`there is no satribute ${id}`);
  return found;
}

/** Parts that read coins of a test's node and index. */
export const testCoinParts = ({ bitcoind, database, tracer }: IndexedNode): CoinParts => ({
  pool: database.readers,
  utxos: utxosOfIndex(database.readers, bitcoind.rpc, tracer),
  node: bitcoind.rpc,
  network: networks.regtest,
  satributes: shortChainSatributes(),
  ownAmong: null,
});
