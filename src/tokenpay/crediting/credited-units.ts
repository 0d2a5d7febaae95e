import { satsAsset } from '#purse/ledger/ledger.ts';
import type { ChargeKind, TokenOrder } from '#tokenpay/order/token-order.ts';
import type { Credit } from './credit.ts';

/**
 * Computes the units that pay a charge. They are units of the charge's token at the charge's address, first seen in
 * time. All other units are credited to the account, but do not pay the charge. Pure.
 */
export function creditedUnits(
  { rune, expiresAt }: Pick<TokenOrder, 'rune' | 'expiresAt'>,
  kind: ChargeKind,
  credits: readonly Credit[],
): bigint {
  const asset = kind === 'fee' ? satsAsset : rune.asset;
  return credits
    .filter(({ charge, aside, firstSeen }) => charge === kind && aside === null && firstSeen <= expiresAt)
    .reduce((sum, credit) => sum + unitsOf(credit, asset), 0n);
}

function unitsOf({ sats, runes }: Credit, asset: number): bigint {
  if (asset === satsAsset) return sats;
  return runes.filter((rune) => rune.asset === asset).reduce((sum, { amount }) => sum + amount, 0n);
}
