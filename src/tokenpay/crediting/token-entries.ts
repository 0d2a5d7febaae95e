import { type LedgerAccount, type LedgerEntry, satsAsset } from '#purse/ledger/ledger.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { type Credit, inChainOrder } from './credit.ts';

/**
 * Computes the ledger entries for the credits of an order. Runes, and the sats in their outputs, belong to the account.
 * In the fee charge, the sats up to the base fee are `owed` until the order ends. After the end, they are revenue of
 * the service, or also belong to the account. Pure.
 */
export function tokenEntries(
  { account, baseFee, state }: Pick<TokenOrder, 'account' | 'baseFee' | 'state'>,
  credits: readonly Credit[],
): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  let feeLeft = state === 'error' ? 0n : baseFee;
  const feeTo = state === 'completed' ? 'service' : 'owed';
  for (const credit of inChainOrder(credits)) {
    if (credit.aside !== null) continue;
    const fee = credit.charge === 'fee' ? least(feeLeft, credit.sats) : 0n;
    feeLeft -= fee;
    const ofAccount = [{ asset: satsAsset, amount: credit.sats - fee }, ...credit.runes];
    if (fee > 0n) entries.push(entryOf(credit, feeTo, null, { asset: satsAsset, amount: fee }));
    for (const units of ofAccount)
      if (units.amount > 0n) entries.push(entryOf(credit, 'token', account, units));
  }
  return entries;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

const entryOf = (
  { txid, vout }: Credit,
  to: LedgerAccount,
  toOwner: string | null,
  { asset, amount }: { readonly asset: number; readonly amount: bigint },
): LedgerEntry => ({
  from: 'outside',
  fromOwner: null,
  to,
  toOwner,
  asset,
  amount,
  txid: Buffer.from(txid).toString('hex'),
  vout,
});
