/**
 * Accounts that can hold sats of customers (docs/orders-operator.md, "Ledger"):
 *
 * - `outside`: everything that does not belong to the service.
 * - `owed`: sats that were received, but neither delivered nor refunded.
 * - `deposit`: values of parents.
 * - `postage`: sats with the customer's inscriptions.
 * - `fee`: sats of miners.
 * - `service`: revenue.
 * - `operator`: anchors, bumps, rounding and funds.
 * - `refund`: sats that are set aside for refunds.
 * - `inventory`: sats that deliveries took from the inventory. The balance is never above 0.
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
 * Accounts that exist once for each owner. The owner of `referral` is a code, of `creator` an address, and of `token`
 * the name of an account. The database requires the owner.
 */
type OwnedAccount = Extract<LedgerAccount, 'referral' | 'creator' | 'token'>;

/**
 * Accounts of partners who get a share of deliveries. The owner is the code of a referral, or the address of a creator.
 */
export const partnerAccounts = ['referral', 'creator'] as const satisfies readonly OwnedAccount[];
export type PartnerAccount = (typeof partnerAccounts)[number];

/** Accounts without an owner, which belong to the service itself. */
export type SharedAccount = Exclude<LedgerAccount, OwnedAccount>;

/** Accounts that may pay more than they received. The database refuses this for all other accounts. */
const overdrawable: ReadonlySet<LedgerAccount> = new Set(['outside', 'operator', 'inventory']);

/** The number of the asset sats in service.assets. All other assets are runes. */
export const satsAsset = 0;

/**
 * Subjects of entries. `order`, `payout` and `token-order` are single objects with an id. `withdrawal` is a payout that
 * is a batch of withdrawals. `funds` are all funds of the operator.
 */
export type Subject =
  | { readonly kind: 'order' | 'payout' | 'token-order' | 'withdrawal'; readonly id: string }
  | { readonly kind: 'funds' };

/** An amount of one asset that a transaction moved from one account to another. */
export interface LedgerEntry {
  readonly from: LedgerAccount;
  /** Owner of the paying account, or null if the account belongs to the service itself. */
  readonly fromOwner: string | null;
  readonly to: LedgerAccount;
  readonly toOwner: string | null;
  /** Number of the asset in service.assets. */
  readonly asset: number;
  /** Amount in base units, at most 2^128 - 1. */
  readonly amount: bigint;
  /** Txid in hex, in internal order. */
  readonly txid: string;
  /** The output with which the amount arrived, or null if the amount does not belong to a single output. */
  readonly vout: number | null;
}

/** A confirmed output that pays an order, contains a parent, or is a fund of the operator. */
export interface Receipt {
  readonly to: 'owed' | 'deposit' | 'operator';
  readonly txid: string;
  readonly vout: number;
  readonly value: bigint;
}

/** A confirmed transaction of the service, split into the parts of its outputs and its fee. */
export interface Settlement {
  readonly txid: string;
  readonly parts: readonly SettledPart[];
  /** The account that owned the transaction's inputs. */
  readonly from: SharedAccount;
}

/** The part of a settlement that one account gets. */
type SettledPart = { readonly sats: bigint } & (
  | { readonly to: SharedAccount; readonly owner?: undefined }
  | { readonly to: OwnedAccount; readonly owner: string }
);

/** Computes the entries for confirmed receipts and settlements in sats. Pure. */
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
 * Computes the entries that must be added, so that the posted entries become the wanted entries. These are missing
 * entries, and reversals of entries that a reorganisation undid. Entries are only added, never changed. Pure.
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

/** Maximum amount of one entry, as in the database: 2^128 - 1, the largest possible supply of a rune. */
const amountMax = 2n ** 128n - 1n;

/**
 * Splits an amount into entries. If a line changes its direction, the amount may be larger than the total supply of its
 * asset.
 */
const inParts = (entry: LedgerEntry, amount: bigint): LedgerEntry[] =>
  amount <= amountMax
    ? [{ ...entry, amount }]
    : [{ ...entry, amount: amountMax }, ...inParts(entry, amount - amountMax)];

/**
 * Computes the entries to add now. `waits`: the facts disagree. Payments and index may differ by a block for a moment,
 * because a reorganisation reaches one of them first. Money then seems to leave an account that it never reached. The
 * subject's entries stay unchanged until the facts agree. Payouts and withdrawals spend money that came from other
 * subjects, so their callers check the accounts over all subjects. Pure.
 */
export function postingOf(
  wanted: readonly LedgerEntry[],
  posted: readonly LedgerEntry[],
  kind: Subject['kind'] = 'order',
): readonly LedgerEntry[] | 'waits' {
  const missing = correctionsTo(wanted, posted);
  return missing.length > 0 && !takesOfOthers.has(kind) && isOverdrawn(wanted) ? 'waits' : missing;
}

/** Subjects whose entries spend money that came from other subjects. */
const takesOfOthers: ReadonlySet<Subject['kind']> = new Set(['payout', 'withdrawal']);

/** The amount of an asset that an owner's account holds: incoming minus outgoing amounts. */
export interface Holding {
  readonly account: LedgerAccount;
  readonly owner: string | null;
  readonly asset: number;
  readonly amount: bigint;
}

/** Computes the holdings of each account, owner and asset. For each asset, the sum is zero. Pure. */
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

/** The sats of each account, over all its owners. The sum of all accounts is zero. */
export function balancesOf(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerAccount, bigint> {
  return satsByAccount(holdingsOf(entries));
}

/** Adds up holdings of sats by account. */
export function satsByAccount(holdings: readonly Holding[]): ReadonlyMap<LedgerAccount, bigint> {
  const balances = new Map<LedgerAccount, bigint>();
  for (const { account, asset, amount } of holdings)
    if (asset === satsAsset) balances.set(account, (balances.get(account) ?? 0n) + amount);
  return balances;
}

/** Whether an account that may not be overdrawn paid more than it received. */
const isOverdrawn = (entries: readonly LedgerEntry[]): boolean =>
  holdingsOf(entries).some(({ account, amount }) => amount < 0n && !overdrawable.has(account));

/**
 * The ledger line of an entry: its accounts, owners, asset, transaction and output. An entry and its reversal have the
 * same line.
 */
function lineOf(entry: LedgerEntry): { key: string; isReversed: boolean } {
  const isReversed = isAfter(entry);
  const { from, fromOwner, to, toOwner, asset, txid, vout } = isReversed ? reversed(entry) : entry;
  return { key: JSON.stringify([txid, vout, asset, from, fromOwner, to, toOwner]), isReversed };
}

/**
 * Whether an entry moves backwards in the order of account names. If both names are equal, the order of owners decides.
 */
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
