import { smallest } from '#kernel/bitcoin/amount.ts';

/**
 * Accounts that sats of customers can be in (docs/orders.md, "Ledger"). `outside`: everything that is not ours. `owed`:
 * received, and not delivered or refunded. `deposit`: values of parents. `postage`: with the customer's inscriptions.
 * `fee`: of miners. `service`: revenue. `operator`: anchors, bumps, rounding and funds. `refund`: set aside for
 * refunds. `inventory`: what deliveries took of it, so never above 0.
 */
export const ledgerAccounts = [
  'outside',
  'owed',
  'deposit',
  'postage',
  'fee',
  'service',
  'referral',
  'creator',
  'token',
  'operator',
  'refund',
  'inventory',
] as const;
export type LedgerAccount = (typeof ledgerAccounts)[number];

/** Sats that a transaction moved from one account to another. */
export interface LedgerEntry {
  readonly from: LedgerAccount;
  readonly to: LedgerAccount;
  readonly sats: bigint;
  /** As it is shown. */
  readonly txid: string;
  /** The output that they came in with; null: more than one. */
  readonly vout: number | null;
}

/** A confirmed output that pays an order, brings a parent, or is a fund of the operator. */
export interface Receipt {
  readonly to: 'owed' | 'deposit' | 'operator';
  readonly txid: string;
  readonly vout: number;
  readonly value: bigint;
}

/** A confirmed transaction of ours, by what its outputs and its fee are. */
export interface Settlement {
  readonly txid: string;
  readonly parts: readonly { readonly to: LedgerAccount; readonly sats: bigint }[];
  /** Where its inputs came from. */
  readonly from: LedgerAccount;
}

/** What a delivered order owes the referral that it names. Sats. */
export interface ReferralShare {
  /** What the customer paid for it. */
  readonly additional: bigint;
  /** Of the service's own base fee. */
  readonly commission: bigint;
}

/** Accounts of outputs that are ours, those first that a share is taken from first. */
const ours = ['service', 'operator'] as const satisfies readonly LedgerAccount[];

/**
 * The settlements of a delivery with the share of a referral: two entries, of which the first was never revenue. The
 * sats lie in our outputs all the same. Never more than these hold: where dust went back to the customer there may be
 * less than the share. Pure.
 */
export function withReferral(
  delivered: readonly Settlement[],
  { additional, commission }: ReferralShare,
): Settlement[] {
  let open = additional;
  let split = [...delivered];
  for (const account of ours) {
    split = split.map((settlement) => ({
      ...settlement,
      parts: settlement.parts.flatMap(({ to, sats }): Settlement['parts'] => {
        const taken = to === account ? smallest(sats, open) : 0n;
        open -= taken;
        return taken === 0n
          ? [{ to, sats }]
          : [
              { to, sats: sats - taken },
              { to: 'referral', sats: taken },
            ];
      }),
    }));
  }
  const last = split.at(-1);
  if (last === undefined) return split;
  let due = commission;
  for (const account of ours) {
    const held = split.flatMap(({ parts }) => parts).filter(({ to }) => to === account);
    const taken = smallest(
      held.reduce((sum, { sats }) => sum + sats, 0n),
      due,
    );
    due -= taken;
    if (taken > 0n) split.push({ txid: last.txid, from: account, parts: [{ to: 'referral', sats: taken }] });
  }
  return split;
}

/** The entries that the confirmed facts of an order ask for. Pure. */
export function entriesOf(receipts: readonly Receipt[], settlements: readonly Settlement[]): LedgerEntry[] {
  const received = receipts
    .filter(({ value }) => value > 0n)
    .map(({ txid, vout, value, to }): LedgerEntry => ({ from: 'outside', to, sats: value, txid, vout }));
  const settled = settlements.flatMap(({ txid, parts, from }) =>
    parts
      .filter(({ sats, to }) => sats > 0n && to !== from)
      .map(({ to, sats }): LedgerEntry => ({ from, to, sats, txid, vout: null })),
  );
  return [...received, ...settled];
}

/**
 * The entries to add so that those that were posted come to those that are wanted: what is missing, and the other way
 * round what a reorganisation took back. Entries are only ever added. Pure.
 */
export function correctionsTo(wanted: readonly LedgerEntry[], posted: readonly LedgerEntry[]): LedgerEntry[] {
  const open = new Map<string, { entry: LedgerEntry; sats: bigint }>();
  const count = (entry: LedgerEntry, sign: 1n | -1n): void => {
    const { key, isReversed } = lineOf(entry);
    const line = open.get(key) ?? { entry: isReversed ? reversed(entry) : entry, sats: 0n };
    line.sats += entry.sats * sign * (isReversed ? -1n : 1n);
    open.set(key, line);
  };
  for (const entry of wanted) count(entry, 1n);
  for (const entry of posted) count(entry, -1n);
  return [...open.values()]
    .filter(({ sats }) => sats !== 0n)
    .map(({ entry, sats }) => (sats > 0n ? { ...entry, sats } : { ...reversed(entry), sats: -sats }));
}

/** The balance of each account: what came in less what went out. Their sum is zero. */
export function balancesOf(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerAccount, bigint> {
  const balances = new Map<LedgerAccount, bigint>();
  for (const { from, to, sats } of entries) {
    balances.set(from, (balances.get(from) ?? 0n) - sats);
    balances.set(to, (balances.get(to) ?? 0n) + sats);
  }
  return balances;
}

/** An entry and its reversal are one line. */
function lineOf({ from, to, txid, vout }: LedgerEntry): { key: string; isReversed: boolean } {
  const isReversed = ledgerAccounts.indexOf(from) > ledgerAccounts.indexOf(to);
  const [first, second] = isReversed ? [to, from] : [from, to];
  return { key: `${txid} ${vout ?? ''} ${first} ${second}`, isReversed };
}

const reversed = (entry: LedgerEntry): LedgerEntry => ({ ...entry, from: entry.to, to: entry.from });
