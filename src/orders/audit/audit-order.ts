import { accountOfOutput, givenByInventory, takenFromOperator } from '#orders/ledger/settlements.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { LedgerAccount } from '#purse/ledger/ledger.ts';
import { shownTxidOf } from '#purse/transactions/outpoint.ts';
import { listedFaults, unexplainedCoins } from './audit-coins.ts';
import type { AuditedOrder, AuditedTransaction, Coin, OrderDifference, Unspent } from './audited-order.ts';
import type { DifferenceKind } from './differences.ts';

/** Kinds of outputs that are at scripts of the wallet. */
const ownKinds: ReadonlySet<string> = new Set(['commit', 'service', 'change', 'bump']);
const opReturnHex = '6a';
/** States in which the ledger must contain every transaction of the order that is in a block. */
const settledStates: ReadonlySet<OrderState> = new Set<OrderState>(['completed', 'refunded']);

/**
 * Outputs to ask the node about. There are two kinds. First, outputs that should be unspent at our scripts. Second,
 * outputs of transactions that are not known to be in a block, because an unspent output shows that its transaction is
 * mined. Pure.
 */
export function questionsOf(order: AuditedOrder): string[] {
  const known = knownMined(order);
  const open = order.transactions.filter(({ txid }) => !known.has(txid));
  const coins = [...coinsOf(order, known), ...unexplainedCoins(order, known)];
  const asked = new Set(coins.map(({ outpoint }) => outpoint));
  for (const { txid, plan } of open) {
    for (const [vout, { kind }] of plan.outputs.entries()) {
      // the node is not asked about outputs with inscriptions, because the index knows them, and there can be 10,000
      if (kind !== 'postage') asked.add(`${txid}:${vout}`);
    }
  }
  return [...asked];
}

/** All differences of an order. Blocks, index, node and ledger must be read at the same block. Pure. */
export function auditOrder(order: AuditedOrder, unspent: Unspent): OrderDifference[] {
  const mined = minedOf(order, unspent);
  const counted = countedOf(order);
  return [
    ...countingFaults(order, mined, counted),
    ...sumFaults(order, counted),
    ...coinsOf(order, mined).flatMap((coin) => coinFaults(coin, unspent.get(coin.outpoint))),
    ...listedFaults(order, mined, unspent),
    ...deliveryFaults(order, counted),
    ...order.keptStock.map(
      (outpoint): OrderDifference => ({ kind: 'reserved', where: outpoint, ledger: 1n, chain: 0n }),
    ),
  ];
}

/**
 * Transactions of the order that are in a block according to the index or the payments, with their ancestors in the
 * order.
 */
function knownMined({ transactions }: AuditedOrder): Set<string> {
  const mined = new Set(
    transactions
      .filter(({ inscriptions, isSeenInBlock }) => inscriptions.length > 0 || isSeenInBlock)
      .map(({ txid }) => txid),
  );
  return withAncestors(transactions, mined);
}

/** Transactions that are known to be mined, and transactions of which the node has an unspent output. */
function minedOf(order: AuditedOrder, unspent: Unspent): Set<string> {
  const mined = knownMined(order);
  for (const { txid, plan } of order.transactions) {
    if (plan.outputs.some((_, vout) => unspent.has(`${txid}:${vout}`))) mined.add(txid);
  }
  return withAncestors(order.transactions, mined);
}

/** Adds the ancestors of mined transactions, because the inputs of a mined transaction are mined, too. */
function withAncestors(transactions: readonly AuditedTransaction[], mined: Set<string>): Set<string> {
  const byTxid = new Map(transactions.map((transaction) => [transaction.txid, transaction]));
  for (const txid of mined) {
    for (const { outpoint } of byTxid.get(txid)?.plan.inputs ?? []) {
      const ancestor = shownTxidOf(outpoint);
      // the loop also visits elements that are added to the set during the loop
      if (byTxid.has(ancestor)) mined.add(ancestor);
    }
  }
  return mined;
}

/** Outputs that should be unspent at our scripts if the transactions in `mined` are in blocks. */
function coinsOf(
  { payments, transactions, spentByOthers }: AuditedOrder,
  mined: ReadonlySet<string>,
): Coin[] {
  const there = transactions.filter(({ txid }) => mined.has(txid));
  const spent = new Set(spentByOthers);
  for (const { plan } of there) for (const { outpoint } of plan.inputs) spent.add(outpoint);
  const made = there.flatMap(({ txid, plan }) =>
    plan.outputs.flatMap(({ kind, value, script }, vout): Coin[] =>
      ownKinds.has(kind) ? [{ outpoint: `${txid}:${vout}`, value: BigInt(value), script }] : [],
    ),
  );
  return [...payments, ...made].filter(({ outpoint }) => !spent.has(outpoint));
}

/** Our transactions that have entries in the ledger. */
const countedOf = ({ ledger }: AuditedOrder): Set<string> =>
  new Set(ledger.filter(({ isReceipt }) => !isReceipt).map(({ txid }) => txid));

function countingFaults(
  { transactions, state }: AuditedOrder,
  mined: ReadonlySet<string>,
  counted: ReadonlySet<string>,
): OrderDifference[] {
  const byTxid = new Map(transactions.map((transaction) => [transaction.txid, transaction]));
  const amountOf = (txid: string): bigint => {
    const { plan, fee } = byTxid.get(txid) ?? { plan: { outputs: [] }, fee: 0n };
    return plan.outputs.reduce((sum, { value }) => sum + BigInt(value), fee);
  };
  const notMined = [...counted].filter((txid) => !mined.has(txid));
  const notCounted = transactions.filter(
    ({ txid, isSuperseded }) =>
      mined.has(txid) && !counted.has(txid) && (isSuperseded || settledStates.has(state)),
  );
  return [
    ...notMined.map(
      (txid): OrderDifference => ({ kind: 'not-mined', where: txid, ledger: amountOf(txid), chain: 0n }),
    ),
    ...notCounted.map(
      ({ txid }): OrderDifference => ({
        kind: 'not-counted',
        where: txid,
        ledger: 0n,
        chain: amountOf(txid),
      }),
    ),
  ];
}

/**
 * Accounts whose sats left our scripts. The other accounts contain the sats that are still at our scripts, including
 * anchors.
 */
const leftAccounts = ['postage', 'fee', 'outside'] as const satisfies readonly LedgerAccount[];

/** Compares balances of the order's accounts with the sums of its payments and of its transactions in the ledger. */
function sumFaults(order: AuditedOrder, counted: ReadonlySet<string>): OrderDifference[] {
  const { ledger } = order;
  const balances = balancesOf(ledger);
  const received = -sumOf(ledger.filter(({ isReceipt, account }) => isReceipt && account === 'outside'));
  const kept = sumOf(ledger.filter(({ account }) => !leftAccounts.some((left) => left === account)));
  const paid = sumOf(order.payments.map(({ value }) => ({ sats: value })));
  const left = leftBy(order, counted);
  const booked = (account: LedgerAccount): bigint => balances.get(account) ?? 0n;
  const sums: readonly (readonly [DifferenceKind, bigint, bigint])[] = [
    ['received', received, paid],
    ['paid-back', booked('outside') + received, left.outside],
    ['postage', booked('postage'), left.postage],
    ['fee', booked('fee'), left.fee],
    ['held', kept, paid - left.outside - left.postage - left.fee],
  ];
  // the operator pays for bumps, whatever the order earned, so this account may be negative
  const bumped = order.transactions
    .filter(({ kind, txid }) => kind === 'bump' && counted.has(txid))
    .reduce((all, { fee }) => all + fee, 0n);
  // the operator also pays the sats that returns take from the operator's coins
  const returned = order.transactions
    .filter(({ txid }) => counted.has(txid))
    .reduce((all, { plan }) => all + takenFromOperator(plan), 0n);
  // the inventory pays the sats that stay with inscriptions on inventory sats
  const given = order.transactions
    .filter(({ txid }) => counted.has(txid))
    .reduce((all, { plan }) => all + givenByInventory(plan), 0n);
  const leastOf: Readonly<Partial<Record<LedgerAccount, bigint>>> = {
    operator: -bumped - returned,
    inventory: -given,
  };
  const overdrawn = [...balances].filter(
    ([account, sats]) => account !== 'outside' && sats < (leastOf[account] ?? 0n),
  );
  return [
    ...sums
      .filter(([, inLedger, inChain]) => inLedger !== inChain)
      .map(([kind, inLedger, inChain]) => ({ kind, where: null, ledger: inLedger, chain: inChain })),
    ...overdrawn.map(
      ([account, sats]): OrderDifference => ({ kind: 'overdrawn', where: account, ledger: sats, chain: 0n }),
    ),
  ];
}

function balancesOf(ledger: AuditedOrder['ledger']): ReadonlyMap<LedgerAccount, bigint> {
  const balances = new Map<LedgerAccount, bigint>();
  for (const { account, sats } of ledger) balances.set(account, (balances.get(account) ?? 0n) + sats);
  return balances;
}

/** Sats that the transactions in the ledger paid to others, by account. */
function leftBy(
  { transactions }: AuditedOrder,
  counted: ReadonlySet<string>,
): Record<(typeof leftAccounts)[number], bigint> {
  const left = { postage: 0n, fee: 0n, outside: 0n };
  const there = transactions.filter(({ txid }) => counted.has(txid));
  const spent = new Set(there.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  for (const { txid, plan, fee } of there) {
    left.fee += fee;
    for (const [vout, { kind, value }] of plan.outputs.entries()) {
      // the sats of a spent output have not left our scripts, because the next reveal spends a parent at its deposit,
      // and the burn spends an anchor
      if (spent.has(`${txid}:${vout}`)) continue;
      const account = leftAccounts.find((name) => name === accountOfOutput(kind));
      if (account !== undefined) left[account] += BigInt(value);
    }
  }
  return left;
}

const sumOf = (lines: readonly { readonly sats: bigint }[]): bigint =>
  lines.reduce((all, { sats }) => all + sats, 0n);

/** Difference of an output that should be unspent at one of our scripts. Empty if the node has the same output. */
export function coinFaults({ outpoint, value, script }: Coin, found: Coin | undefined): OrderDifference[] {
  if (found !== undefined && found.value === value && found.script === script) return [];
  return [{ kind: 'missing', where: outpoint, ledger: value, chain: found?.value ?? 0n }];
}

/**
 * Differences of deliveries. Each inscription of a reveal in the ledger must be in an output of the reveal at the
 * script of its receiver. An inscription of a burn must be in an OP_RETURN output.
 */
function deliveryFaults(
  { transactions, receivers }: AuditedOrder,
  counted: ReadonlySet<string>,
): OrderDifference[] {
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  const filesOf = new Map(reveals.map(({ index, files }) => [index, files]));
  const delivering = transactions.filter(({ kind }) => kind === 'reveal' || kind === 'burn');
  return delivering.flatMap((made): OrderDifference[] => {
    if (!counted.has(made.txid)) return [];
    const before = [...filesOf].filter(([index]) => index < made.index);
    const first = before.reduce((files, [, more]) => files + more, 0);
    const delivered = deliveredBy(made, receivers, first);
    if (delivered === made.files) return [];
    const amounts = { ledger: BigInt(made.files), chain: BigInt(delivered) };
    return [{ kind: 'delivered', where: made.txid, ...amounts }];
  });
}

/**
 * Counts the inscriptions of a reveal or a burn that are in the right output. `first` is the index of the transaction's
 * first file in the order.
 */
function deliveredBy(
  { kind, plan, files, inscriptions }: AuditedTransaction,
  receivers: readonly string[],
  first: number,
): number {
  // a set, because two inscriptions on the same sat are only one correct delivery
  const places = new Set<string>();
  for (const { index, vout, offset, script } of inscriptions) {
    const output = vout === null ? undefined : plan.outputs[vout];
    if (index >= files || output === undefined || script === null || !output.script.startsWith(script))
      continue;
    const receiver = receivers.length > 1 ? receivers[first + index] : receivers[0];
    const isAtReceiver = output.kind === 'postage' && output.script === receiver;
    // until the burn, an inscription is on the anchor of its reveal
    const isToBurn = output.kind === 'burn' && output.script.startsWith(opReturnHex) === (kind === 'burn');
    if (isAtReceiver || isToBurn) places.add(`${vout}:${offset}`);
  }
  return places.size;
}
