import type pg from 'pg';
import { heldAtScript } from '#chain/outputs/received-output.queries.ts';
import { coinbaseMaturity } from '#kernel/bitcoin/consensus.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { specialAmong } from '#tokenpay/following/read-contents.ts';
import { mempoolSpenders } from '#utxos/mempool-spenders.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';
import type { TestCoin } from './plan-test-payment.ts';

export interface TestCoinParts {
  readonly pool: pg.Pool;
  readonly utxos: UtxoReader;
  readonly node: NodeRpc;
}

export interface TestCoinOwner {
  readonly script: Uint8Array;
  readonly address: string;
  /** Outputs of the wallet's recent payments. */
  readonly recent: readonly TestCoin[];
  readonly special: readonly Satribute[];
}

/**
 * Finds outputs of the wallet that the next transaction may spend. They are outputs in blocks, according to the index,
 * and outputs of the wallet's own recent payments. Outputs with inscriptions or special sats are omitted, and so are
 * outputs that the index does not know yet. Throws the codes of UtxoReader and NodeRpc.
 */
export async function testCoins(
  client: pg.ClientBase,
  parts: TestCoinParts,
  owner: TestCoinOwner,
  asker: Asker,
): Promise<TestCoin[]> {
  const { script, address, recent, special } = owner;
  const { outputs } = await parts.utxos.listed([{ script, address }], asker);
  const held = await heldAtScript(
    parts.pool,
    script,
    outputs.map(({ txid, vout, height, blockHash }) => ({
      txid,
      vout,
      block: { height, hash: Buffer.from(blockHash, 'hex').reverse() },
    })),
    [],
  );
  const money = outputs.flatMap(({ txid, vout, value, blockHash }, place): TestCoin[] => {
    const { isIndexed = false, inscriptions = [], runes = null } = held[place] ?? {};
    if (!isIndexed || runes === null || inscriptions.length > 0) return [];
    return [{ txid, vout, value: BigInt(value), runes, blockHash }];
  });
  const areSpecial = await specialAmong(client, money, special);
  const mined = money.filter((_, place) => areSpecial[place] === false);
  const known = new Set(outputs.map(outpointOf));
  const pending = recent
    .filter((coin) => !known.has(outpointOf(coin)))
    .map((coin) => ({ ...coin, blockHash: null }));
  const coins = [...mined, ...pending];
  const spent = await mempoolSpenders(parts.node, coins);
  return coins.filter((coin) => !spent.has(outpointOf(coin)));
}

/**
 * Whether the next block may spend a coin, according to the node. The check is needed because the index may be behind,
 * or a payment may have been replaced.
 */
export async function isSpendable(node: NodeRpc, { txid, vout }: TestCoin): Promise<boolean> {
  const found = await node.call<{ readonly coinbase: boolean; readonly confirmations: number } | null>(
    'gettxout',
    [displayHash(txid), vout, true],
  );
  return found !== null && (!found.coinbase || found.confirmations >= coinbaseMaturity);
}
