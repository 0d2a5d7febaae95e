import { runeBurnBy } from '#chain/runes/transaction-runes.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { mempoolTransaction } from '#psbts/accelerating/mempool-package.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import type { TokenAmount } from '#tokenpay/token-amount.ts';
import { type BurnVerdict, burnVerdict, nameOf, readRuneBurn } from './burn-verdict.ts';
import { runeIdOf } from './rune-inputs.ts';
import { spentRunes } from './spent-runes.ts';

/** A transaction that is claimed to burn runes. It is named by its txid, or given in hex, signed or unsigned. */
export type NamedTransaction =
  | { readonly kind: 'txid'; readonly txid: Txid }
  | { readonly kind: 'transaction'; readonly txid: Txid; readonly transaction: RawTransaction };

export interface JudgedBurn extends BurnVerdict {
  readonly txid: Txid;
  /**
   * Number of confirmations at the tip of the index. 0 if the transaction is in the mempool. Null if it is neither in a
   * block nor in the mempool.
   */
  readonly confirmations: number | null;
}

/**
 * Checks whether a transaction burns exactly an amount of a rune. Burns in blocks are read from the index. For mempool
 * transactions and unsent ones, the protocol rules are applied here. Throws `coins_unproven`, and the codes of
 * UtxoReader and NodeRpc.
 */
export async function judgeRuneBurn(
  parts: CoinParts,
  named: NamedTransaction,
  wanted: TokenAmount,
  asker: Asker,
): Promise<JudgedBurn> {
  const { txid } = named;
  const stored = await withSnapshot(
    parts.pool,
    async ({ client, tip }) => {
      const burn = await runeBurnBy(client, wanted.rune.key, txid);
      return burn === null || tip === null
        ? null
        : { burned: burn.amount, confirmations: tip.height - burn.height + 1 };
    },
    asker.signal,
  );
  if (stored !== null) {
    const { burned, confirmations } = stored;
    return { txid, confirmations, ...burnVerdict(wanted, { burned: BigInt(burned), warnings: [] }) };
  }
  const pending = await mempoolTransaction(parts.node, displayHash(txid));
  const transaction = pending ?? (named.kind === 'transaction' ? named.transaction : null);
  if (transaction === null) return { txid, confirmations: null, ...unproven(notSeen(wanted)) };
  const confirmations = pending === null ? null : 0;
  return { txid, confirmations, ...(await judged(parts, transaction, wanted, asker)) };
}

const unproven = (reason: string): BurnVerdict => ({ valid: false, reason, burned: 0n, warnings: [] });

const notSeen = (wanted: TokenAmount): string =>
  `no indexed block has a transaction with this txid that burns ${nameOf(wanted)}, and the mempool does not have the transaction.`;

async function judged(
  parts: CoinParts,
  transaction: RawTransaction,
  wanted: TokenAmount,
  asker: Asker,
): Promise<BurnVerdict> {
  const spent = await spentRunes(parts, transaction, asker);
  if (spent.kind === 'unknown') return unproven(spent.reason);
  const { runes, rivals } = spent;
  const found = readRuneBurn(transaction.outputs, runes, runeIdOf(wanted.rune));
  if (found.kind === 'unknown') return unproven(found.reason);
  const ofRivals = rivals.map(
    (rival) =>
      `${rival} in the mempool spends the same outputs, so only one of the two transactions can be mined.`,
  );
  return burnVerdict(wanted, { burned: found.burned, warnings: [...found.warnings, ...ofRivals] });
}
