import type pg from 'pg';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { allFreeCoins, type ProveFree } from '#orders/funds/free-coins.ts';
import { insertFundAddress, unusedFundAddress } from '#orders/funds/fund-addresses.store.ts';
import { type FundCoin, readFundCoins } from '#orders/funds/fund-coins.queries.ts';
import { areKnown } from '#purse/destinations/known-scripts.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { leaseIndices } from '#wallet/indices/release.store.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

/**
 * A coin of the funds in the form that people see. `free`: orders may spend it. `unconfirmed`: it is not in a block.
 * `spending`: a stored, unmined transaction spends it. `held`: it holds an inscription or a rune, or may hold one.
 * `spent elsewhere`: another wallet with the seed has spent it.
 */
export interface ShownFund {
  /** `<txid>:<vout>` */
  readonly output: string;
  readonly sats: number;
  readonly state: 'free' | 'unconfirmed' | 'spending' | 'held' | 'spent elsewhere';
}

/**
 * Whether an output is unspent according to the node. `mempool` decides whether transactions in the node's mempool are
 * included.
 */
export type AskNode = (
  coin: Pick<FundCoin, 'txid' | 'vout'>,
  where: { readonly mempool: boolean },
) => Promise<boolean>;

export interface ShownFunds {
  /** The address to which the operator sends coins. It has received no payment yet. */
  readonly address: string;
  readonly funds: readonly ShownFund[];
  /** Sats of all free coins, including revenue. */
  readonly free: number;
  /** Whether a node was asked if other wallets have spent the coins. No node is asked if there are no coins. */
  readonly isNodeAsked: boolean;
}

/**
 * Maximum number of concurrent calls. A node before Bitcoin Core 29 processes only 4 calls at a time by default, and
 * other callers need it, too.
 */
const lanes = 2;

/**
 * Shows an address for coins of the operator, and the present funds. The address is watched from the next block on.
 */
export async function showFunds(
  pool: pg.Pool,
  wallet: PublicWallet,
  proveFree: ProveFree,
  findNode: () => Promise<AskNode | null>,
): Promise<ShownFunds> {
  const address = await withTransaction(pool, (tx) => fundAddress(tx, wallet));
  const maybeFree = await allFreeCoins(pool, proveFree);
  const there = (await readFundCoins(pool)).filter(({ spending }) => spending !== 'mined');
  const inBlocks = there.filter(({ height }) => height !== null);
  const isAny = maybeFree.length > 0 || inBlocks.length > 0;
  const ask = isAny ? await findNode() : null;
  const gone = ask === null ? new Set<string>() : await spentElsewhere(ask, maybeFree, inBlocks);
  const free = maybeFree.filter((coin) => !gone.has(outpointOf(coin)));
  const outpoints = new Set(free.map(outpointOf));
  return {
    address,
    funds: there.map((coin) => ({
      output: outpointOf(coin),
      sats: Number(coin.value),
      state: gone.has(outpointOf(coin)) ? 'spent elsewhere' : stateOf(coin, outpoints),
    })),
    free: free.reduce((sum, { value }) => sum + Number(value), 0),
    isNodeAsked: ask !== null,
  };
}

/**
 * Outpoints of coins that an unknown transaction spends. If a stored transaction spends a coin, its spend in the
 * mempool is not counted.
 */
async function spentElsewhere(
  ask: AskNode,
  free: readonly Pick<FundCoin, 'txid' | 'vout'>[],
  inBlocks: readonly FundCoin[],
): Promise<ReadonlySet<string>> {
  const questions = new Map<string, { coin: Pick<FundCoin, 'txid' | 'vout'>; mempool: boolean }>();
  for (const coin of free) questions.set(outpointOf(coin), { coin, mempool: true });
  for (const coin of inBlocks) questions.set(outpointOf(coin), { coin, mempool: coin.spending === null });
  const gone = await inLanes([...questions], lanes, async ([outpoint, { coin, mempool }]) =>
    (await ask(coin, { mempool })) ? null : outpoint,
  );
  return new Set(gone.filter((outpoint) => outpoint !== null));
}

async function fundAddress(tx: pg.ClientBase, wallet: PublicWallet): Promise<string> {
  const unused = await unusedFundAddress(tx);
  if (unused !== null) return unused;
  for (;;) {
    const { first: ownIndex } = await leaseIndices(tx, 'own', { least: 1, most: 1 });
    const made = wallet.ownAddress(ownIndex);
    // skips keys that are already in use, for example after a restore of an older database without the mark file
    if (await areKnown(tx, [made])) continue;
    await insertFundAddress(tx, { ownIndex, script: made.script, address: made.address });
    return made.address;
  }
}

function stateOf(coin: FundCoin, free: ReadonlySet<string>): ShownFund['state'] {
  if (coin.height === null) return 'unconfirmed';
  // shown as free, because the stored transaction that spends the coin may never be mined
  if (free.has(outpointOf(coin))) return 'free';
  return coin.spending === 'stored' ? 'spending' : 'held';
}
