import type { PayoutShare } from '#payouts/payout/payout.ts';
import { type PartnerAccount, partnerAccounts } from '#purse/ledger/ledger.ts';
import type { FoundOutput } from './found-transaction.ts';

/** A partner whom the database owes sats that no open payout pays. */
export interface OwedPartner {
  readonly account: PartnerAccount;
  readonly owner: string;
  /** Script in hex. */
  readonly script: string;
  readonly address: string;
  readonly sats: bigint;
}

/**
 * Finds the shares that a payout after the backup paid: each output pays a partner at most what the partner is owed.
 * All partners have the same kind, as in every payout. Returns null if an output pays someone else, or too much, or if
 * it is not certain whose share an output is. Pure.
 */
export function sharesOf(
  payments: readonly FoundOutput[],
  partners: readonly OwedPartner[],
): readonly PayoutShare[] | null {
  const scripts = new Set(payments.map(({ script }) => script));
  // a payout has one output for each script
  if (payments.length === 0 || scripts.size < payments.length) return null;
  const [shares, ...others] = partnerAccounts.flatMap((account) => {
    const ofKind = partners.filter((partner) => partner.account === account);
    const found = payments.map((output) => sharesIn(output, ofKind));
    const isWhole = found.every((each) => each !== null);
    return isWhole ? [found.flat()] : [];
  });
  return shares === undefined || others.length > 0 ? null : shares;
}

/** The shares in one output. Partners with the same address share it, and the split is known only if all is paid. */
function sharesIn({ script, value }: FoundOutput, partners: readonly OwedPartner[]): PayoutShare[] | null {
  const owed = partners.filter((partner) => partner.script === script);
  const sum = owed.reduce((total, { sats }) => total + sats, 0n);
  const isCertain = owed.length === 1 ? value <= sum : value === sum;
  if (owed.length === 0 || !isCertain) return null;
  return owed.map(({ account, owner, address, sats }) => ({
    account,
    owner,
    script: Buffer.from(script, 'hex'),
    address,
    sats: owed.length === 1 ? value : sats,
  }));
}

/** Sats that partners are still owed after these shares. Pure. */
export const owedAfter = (
  partners: readonly OwedPartner[],
  shares: readonly PayoutShare[],
): readonly OwedPartner[] =>
  partners.flatMap((partner) => {
    const paid = shares.filter(
      ({ account, owner }) => account === partner.account && owner === partner.owner,
    );
    const sats = paid.reduce((left, share) => left - share.sats, partner.sats);
    return sats > 0n ? [{ ...partner, sats }] : [];
  });
