import { coinFaults } from '#orders/audit/audit-order.ts';
import type { Coin, ListedCoin, OrderDifference, Unspent } from '#orders/audit/audited-order.ts';
import type { PayoutShare, PayoutTransaction } from '#payouts/payout/payout.ts';
import type { LedgerEntry } from '#purse/ledger/ledger.ts';
import { valueIn } from '#purse/transactions/stored-plan.ts';

/** A transaction of a payout. The txid is in the usual display order. */
export interface AuditedPayoutTransaction extends Pick<PayoutTransaction, 'plan' | 'height'> {
  readonly txid: string;
}

/** A payout with all its data in the database and the ledger, at one moment. */
export interface AuditedPayout {
  readonly id: string;
  /** Whether the payout joins coins of accounts. The change then belongs to the accounts. */
  readonly isOfAccounts: boolean;
  readonly shares: readonly Pick<PayoutShare, 'account' | 'owner' | 'script' | 'sats'>[];
  /** All transactions of the payout. Superseded ones are included, because one of them may be mined. */
  readonly transactions: readonly AuditedPayoutTransaction[];
  /** Ledger entries of the payout. Their txids are in display order. */
  readonly entries: readonly LedgerEntry[];
  /** The payout's coins in the wallet's table of coins. Null while the table is incomplete. */
  readonly listed: readonly ListedCoin[] | null;
  /** Outputs of the payout's transactions that mined transactions of the service spend. */
  readonly spent: readonly string[];
}

/**
 * Outputs to look up at the node. They are the change, and outputs that show whether a block has a transaction, if no
 * other data shows this. Pure.
 */
export function questionsOfPayout({ transactions, listed }: AuditedPayout): string[] {
  const mined = transactions.filter(({ height }) => height !== null);
  const gone = new Set(mined.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  const asked = new Set(coinsOf(mined).map(({ outpoint }) => outpoint));
  for (const { outpoint } of listed ?? []) asked.add(outpoint);
  for (const { txid, plan } of transactions) {
    // skipped, because a block has another transaction that spends one of the transaction's inputs
    if (plan.inputs.some(({ outpoint }) => gone.has(outpoint))) continue;
    for (const vout of plan.outputs.keys()) asked.add(`${txid}:${vout}`);
  }
  return [...asked];
}

/** Compares a payout in the blocks, the node and the ledger at one block, and returns all differences. Pure. */
export function auditPayout(payout: AuditedPayout, unspent: Unspent): OrderDifference[] {
  const mined = payout.transactions.filter(
    ({ txid, height, plan }) =>
      height !== null || plan.outputs.some((_, vout) => unspent.has(`${txid}:${vout}`)),
  );
  return [
    ...countingFaults(payout, mined),
    ...mined.flatMap((made) => sumFaults(payout, made)),
    ...onceFaults(payout, mined),
    ...coinsOf(mined)
      .filter(({ outpoint }) => !payout.spent.includes(outpoint))
      .flatMap((coin) => coinFaults(coin, unspent.get(coin.outpoint))),
    ...listedFaults(payout, mined, unspent),
  ];
}

const difference = (
  kind: OrderDifference['kind'],
  where: string | null,
  ledger: bigint,
  chain: bigint,
): OrderDifference => ({ kind, where, ledger, chain });

/** Change outputs of transactions at scripts of the wallet. */
const coinsOf = (transactions: readonly AuditedPayoutTransaction[]): Coin[] =>
  transactions.flatMap(({ txid, plan }) =>
    plan.outputs.flatMap(({ kind, value, script }, vout): Coin[] =>
      kind === 'change' ? [{ outpoint: `${txid}:${vout}`, value: BigInt(value), script }] : [],
    ),
  );

const paidBy = ({ plan }: AuditedPayoutTransaction): bigint =>
  valueIn(plan.outputs.filter(({ kind }) => kind === 'payout'));

const sumOf = (shares: readonly { readonly sats: bigint }[]): bigint =>
  shares.reduce((sum, { sats }) => sum + sats, 0n);

/**
 * Sats that a transaction moved to an account according to the ledger, from all matching accounts. Corrections are
 * negative.
 */
function booked(
  { entries }: AuditedPayout,
  txid: string,
  to: LedgerEntry['to'],
  isFrom: (entry: Pick<LedgerEntry, 'from' | 'fromOwner'>) => boolean = () => true,
): bigint {
  return entries
    .filter((entry) => entry.txid === txid)
    .reduce((sum, entry) => {
      if (entry.to === to && isFrom(entry)) return sum + entry.amount;
      const { from, to: account, toOwner } = entry;
      return from === to && isFrom({ from: account, fromOwner: toOwner }) ? sum - entry.amount : sum;
    }, 0n);
}

/** Checks that the ledger has entries for exactly the transactions that are in blocks. */
function countingFaults(
  payout: AuditedPayout,
  mined: readonly AuditedPayoutTransaction[],
): OrderDifference[] {
  const there = new Set(mined.map(({ txid }) => txid));
  const counted = (txid: string): bigint => booked(payout, txid, 'outside') + booked(payout, txid, 'fee');
  const notMined = [...new Set(payout.entries.map(({ txid }) => txid))].filter(
    (txid) => !there.has(txid) && counted(txid) !== 0n,
  );
  const notCounted = mined.filter(({ txid }) => counted(txid) === 0n);
  return [
    ...notMined.map((txid) => difference('not-mined', txid, counted(txid), 0n)),
    ...notCounted.map((made) => difference('not-counted', made.txid, 0n, valueIn(made.plan.inputs))),
  ];
}

/** Compares one mined transaction with the ledger: each share, each script, and the miner's fee. */
function sumFaults(payout: AuditedPayout, made: AuditedPayoutTransaction): OrderDifference[] {
  const { txid, plan } = made;
  if (booked(payout, txid, 'outside') + booked(payout, txid, 'fee') === 0n) return [];
  const byShare = payout.shares.flatMap(({ account, owner, sats }): OrderDifference[] => {
    // sats that were never in the ledger have no ledger entry
    if (account === 'outside') return [];
    const got = booked(
      payout,
      txid,
      'outside',
      ({ from, fromOwner }) => from === account && fromOwner === owner,
    );
    const where = `${txid} ${account}${owner === null ? '' : ` ${owner}`}`;
    return got === sats ? [] : [difference('paid', where, got, sats)];
  });
  const named = new Map<string, bigint>();
  for (const { script, sats } of payout.shares)
    named.set(hexOf(script), (named.get(hexOf(script)) ?? 0n) + sats);
  const outputs = new Map<string, bigint>();
  for (const { kind, script, value } of plan.outputs)
    if (kind === 'payout') outputs.set(script, (outputs.get(script) ?? 0n) + BigInt(value));
  const byScript = [...new Set([...named.keys(), ...outputs.keys()])]
    .filter((script) => named.get(script) !== outputs.get(script))
    .map((script) =>
      difference('paid', `${txid} ${script}`, named.get(script) ?? 0n, outputs.get(script) ?? 0n),
    );
  const fee = valueIn(plan.inputs) - valueIn(plan.outputs);
  const unbooked = payout.shares.filter(({ account }) => account === 'outside');
  const all = booked(payout, txid, 'outside') + sumOf(unbooked);
  return [
    ...byShare,
    ...byScript,
    ...(all === paidBy(made) ? [] : [difference('paid', txid, all, paidBy(made))]),
    ...(booked(payout, txid, 'fee') === fee
      ? []
      : [difference('fee', txid, booked(payout, txid, 'fee'), fee)]),
  ];
}

/** Checks that each share is paid only once, so that blocks have at most one transaction of a payout. */
function onceFaults(
  { shares }: AuditedPayout,
  mined: readonly AuditedPayoutTransaction[],
): OrderDifference[] {
  if (mined.length < 2) return [];
  const named = sumOf(shares);
  return [
    difference(
      'paid',
      null,
      named,
      mined.reduce((sum, made) => sum + paidBy(made), 0n),
    ),
  ];
}

/**
 * Checks the table of coins. It must have the change of mined transactions, either as free or as held for accounts, and
 * no other coin of these transactions.
 */
function listedFaults(
  { listed, spent, isOfAccounts }: AuditedPayout,
  mined: readonly AuditedPayoutTransaction[],
  unspent: Unspent,
): OrderDifference[] {
  if (listed === null) return [];
  const byOutpoint = new Map(listed.map((coin) => [coin.outpoint, coin]));
  const expected = coinsOf(mined);
  const known = new Set([...expected.map(({ outpoint }) => outpoint), ...spent]);
  return [
    ...expected.flatMap(({ outpoint, value }): OrderDifference[] => {
      const coin = byOutpoint.get(outpoint);
      if (coin === undefined) return [difference('unlisted', outpoint, 0n, value)];
      return coin.isFree !== isOfAccounts ? [] : [difference('holder', outpoint, value, value)];
    }),
    ...listed
      .filter(({ outpoint, isInBlock }) => isInBlock && !known.has(outpoint) && !unspent.has(outpoint))
      .map(({ outpoint, value }) => difference('not-there', outpoint, value, 0n)),
  ];
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
