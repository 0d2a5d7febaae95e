import { displayHash } from '#kernel/primitives/hash.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { StoredMint } from '#orders/minting/ordered-mints.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { mintTermsOf, type StoredTerms } from '#orders/order/stored-terms.ts';

/** Mints and transactions of an order, for the answer about the order. */
interface MintProgress {
  readonly transactions: readonly Pick<OrderTransaction, 'txid' | 'sentAt'>[];
  readonly mints: readonly StoredMint[];
  /** Whether the whole payment is refunded, or will be refunded. */
  readonly isRefunded: boolean;
}

const nothingMinted: MintProgress = { transactions: [], mints: [], isRefunded: false };

/**
 * The mints of an order in the form that the public client uses (client-compat 1.5, 3.6). `mintingTxs` were sent.
 * `failedMints` were mined when no mint was left. All other mints of `numberOfMints` wait or are refunded. Empty if the
 * order mints nothing.
 */
export function mintFields(
  { mint: stored }: Pick<StoredTerms, 'mint'>,
  { transactions, mints, isRefunded }: MintProgress = nothingMinted,
): object {
  if (stored === undefined) return {};
  const mint = mintTermsOf(stored);
  const sent = new Set(
    transactions.filter(({ sentAt }) => sentAt !== null).map(({ txid }) => displayHash(txid)),
  );
  const isUnsent = ({ fault, height }: StoredMint): boolean => fault !== null && height === null;
  const mined = mints.filter(({ height }) => height !== null).length;
  const txidsOf = (of: (each: StoredMint) => boolean): string[] =>
    mints.filter(of).map(({ txid }) => displayHash(txid));
  return {
    rune: formatSpacedRune(mint),
    runeId: stored.id,
    numberOfMints: mint.count,
    executedMints: mints.filter(({ isExecuted }) => isExecuted === true).length,
    mintingTxs: txidsOf(({ txid, height }) => height !== null || sent.has(displayHash(txid))),
    failedMints: txidsOf(({ isExecuted }) => isExecuted === false),
    refundedMints: isRefunded ? mint.count - mined : mints.filter(isUnsent).length,
  };
}
