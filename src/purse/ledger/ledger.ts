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

/**
 * Accounts of which each owner has one: of `referral` the code, of `creator` an address, of `token` the name of an
 * account. The database requires the owner.
 */
type OwnedAccount = Extract<LedgerAccount, 'referral' | 'creator' | 'token'>;

/** Accounts of partners, whom deliveries bring a share: a referral by its code, a creator by an address. */
export const partnerAccounts = ['referral', 'creator'] as const satisfies readonly OwnedAccount[];
export type PartnerAccount = (typeof partnerAccounts)[number];

/** Accounts that are the service's as a whole. */
export type SharedAccount = Exclude<LedgerAccount, OwnedAccount>;

/** Accounts that may give more than they got. The database refuses it of all others. */
const overdrawable: ReadonlySet<LedgerAccount> = new Set(['outside', 'operator', 'inventory']);

/** The number of sats in service.assets. All other assets are runes. */
export const satsAsset = 0;

/**
 * The things that entries are of. `order`, `payout`, `token-order`: one of them, by its id. `withdrawal`: a payout that is
 * a batch of them. `funds`: the funds of the operator.
 */
export type Subject =
  | { readonly kind: 'order' | 'payout' | 'token-order' | 'withdrawal'; readonly id: string }
  | { readonly kind: 'funds' };

/** An amount of one asset that a transaction moved from one account to another. */
export interface LedgerEntry {
  readonly from: LedgerAccount;
  /** Null: the account is the service's as a whole. */
  readonly fromOwner: string | null;
  readonly to: LedgerAccount;
  readonly toOwner: string | null;
  /** Its number in service.assets. */
  readonly asset: number;
  /** In base units, at most 2^128 - 1. */
  readonly amount: bigint;
  /** In hex, in internal order. */
  readonly txid: string;
  /** The output that it came in with; null: more than one. */
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
  readonly parts: readonly SettledPart[];
  /** Where its inputs came from. */
  readonly from: SharedAccount;
}

/** The part of a settlement that one account gets. */
type SettledPart = { readonly sats: bigint } & (
  | { readonly to: SharedAccount; readonly owner?: undefined }
  | { readonly to: OwnedAccount; readonly owner: string }
);

/** The entries that confirmed receipts and settlements in sats ask for. Pure. */
export function entriesOf(receipts: readonly Receipt[], settlements: readonly Settlement[]): LedgerEntry[] {
  const received = receipts
    .filter(({ value }) => value > 0n)
    .map(
      ({ txid, vout, value, to }): LedgerEntry => ({
        from: 'outside',
        fromOwner: null,
        to,
        toOwner: null,
        asset: satsAsset,
        amount: value,
        txid,
        vout,
      }),
    );
  const settled = settlements.flatMap(({ txid, parts, from }) =>
    parts
      .filter(({ sats, to }) => sats > 0n && to !== from)
      .map(
        ({ to, owner, sats }): LedgerEntry => ({
          from,
          fromOwner: null,
          to,
          toOwner: owner ?? null,
          asset: satsAsset,
          amount: sats,
          txid,
          vout: null,
        }),
      ),
  );
  return [...received, ...settled];
}

/**
 * The entries to add so that those that were posted come to those that are wanted: what is missing, and the other way
 * round what a reorganisation took back. Entries are only ever added. Pure.
 */
export function correctionsTo(wanted: readonly LedgerEntry[], posted: readonly LedgerEntry[]): LedgerEntry[] {
  const open = new Map<string, { entry: LedgerEntry; amount: bigint }>();
  const count = (entry: LedgerEntry, sign: 1n | -1n): void => {
    const { key, isReversed } = lineOf(entry);
    const line = open.get(key) ?? { entry: isReversed ? reversed(entry) : entry, amount: 0n };
    line.amount += entry.amount * sign * (isReversed ? -1n : 1n);
    open.set(key, line);
  };
  for (const entry of wanted) count(entry, 1n);
  for (const entry of posted) count(entry, -1n);
  return [...open.values()]
    .filter(({ amount }) => amount !== 0n)
    .flatMap(({ entry, amount }) =>
      amount > 0n ? inParts(entry, amount) : inParts(reversed(entry), -amount),
    );
}

/** The most that one entry holds, as the database has it: 2^128 - 1, the most of a rune that there can be. */
const amountMax = 2n ** 128n - 1n;

/** A line that changes its direction may move more than all there is of its asset. */
const inParts = (entry: LedgerEntry, amount: bigint): LedgerEntry[] =>
  amount <= amountMax
    ? [{ ...entry, amount }]
    : [{ ...entry, amount: amountMax }, ...inParts(entry, amount - amountMax)];

/**
 * The entries to add now. `waits`: the facts disagree. Payments and index are a block apart for a moment, and a
 * reorganisation reaches one of them first; then money seems to leave an account that it never came to. All of the
 * subject stays as it is posted until the facts agree. Payouts and withdrawals take what orders gave: their accounts are
 * judged over all subjects, by who posts them. Pure.
 */
export function postingOf(
  wanted: readonly LedgerEntry[],
  posted: readonly LedgerEntry[],
  kind: Subject['kind'] = 'order',
): readonly LedgerEntry[] | 'waits' {
  const missing = correctionsTo(wanted, posted);
  return missing.length > 0 && !takesOfOthers.has(kind) && isOverdrawn(wanted) ? 'waits' : missing;
}

/** Subjects whose entries give what came by others. */
const takesOfOthers: ReadonlySet<Subject['kind']> = new Set(['payout', 'withdrawal']);

/** The amount of an asset that an account of an owner holds: what came in less what went out. */
export interface Holding {
  readonly account: LedgerAccount;
  readonly owner: string | null;
  readonly asset: number;
  readonly amount: bigint;
}

/** Each account of each owner and asset. Those of an asset come to zero. Pure. */
export function holdingsOf(entries: readonly LedgerEntry[]): Holding[] {
  const holdings = new Map<string, Holding>();
  const add = (account: LedgerAccount, owner: string | null, asset: number, amount: bigint): void => {
    const key = JSON.stringify([account, owner, asset]);
    const held = holdings.get(key)?.amount ?? 0n;
    holdings.set(key, { account, owner, asset, amount: held + amount });
  };
  for (const { from, fromOwner, to, toOwner, asset, amount } of entries) {
    add(from, fromOwner, asset, -amount);
    add(to, toOwner, asset, amount);
  }
  return [...holdings.values()];
}

/** The sats of each account, of all of its owners. Their sum is zero. */
export function balancesOf(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerAccount, bigint> {
  return satsByAccount(holdingsOf(entries));
}

/** The same of holdings. */
export function satsByAccount(holdings: readonly Holding[]): ReadonlyMap<LedgerAccount, bigint> {
  const balances = new Map<LedgerAccount, bigint>();
  for (const { account, asset, amount } of holdings)
    if (asset === satsAsset) balances.set(account, (balances.get(account) ?? 0n) + amount);
  return balances;
}

/** Whether an account gave what it never got, of those that may not. */
const isOverdrawn = (entries: readonly LedgerEntry[]): boolean =>
  holdingsOf(entries).some(({ account, amount }) => amount < 0n && !overdrawable.has(account));

/** An entry and its reversal are one line. */
function lineOf(entry: LedgerEntry): { key: string; isReversed: boolean } {
  const isReversed = isAfter(entry);
  const { from, fromOwner, to, toOwner, asset, txid, vout } = isReversed ? reversed(entry) : entry;
  return { key: JSON.stringify([txid, vout, asset, from, fromOwner, to, toOwner]), isReversed };
}

/** Whether an entry leads back in the order of accounts, and of owners where both accounts have one name. */
function isAfter({ from, fromOwner, to, toOwner }: LedgerEntry): boolean {
  if (from === to) return (fromOwner ?? '') > (toOwner ?? '');
  return ledgerAccounts.indexOf(from) > ledgerAccounts.indexOf(to);
}

const reversed = (entry: LedgerEntry): LedgerEntry => ({
  ...entry,
  from: entry.to,
  fromOwner: entry.toOwner,
  to: entry.from,
  toOwner: entry.fromOwner,
});
