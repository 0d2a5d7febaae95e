import assert from 'node:assert/strict';
import { smallest } from '#kernel/bitcoin/amount.ts';
import type { PlannedOutputKind } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { Settlement, SharedAccount } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type StoredPlan, spentBy, valueIn } from '#purse/transactions/stored-plan.ts';

/** An output with a customer's money that no delivery spends. */
export interface OwedMoney extends Pick<WatchedPayment, 'txid' | 'vout' | 'value'> {
  /** Sats of the output that belong to the customer. */
  readonly owed: bigint;
  /**
   * Location of the output. `address`: at the order's payment address. `own`: our output of one of the order's
   * transactions. `commit`: the commit's output for a reveal.
   */
  readonly at: 'address' | 'own' | 'commit';
  /** Script of the commit's output in hex, made of the reveal's leaf or of our own key. Only for `commit`. */
  readonly commitScript?: string;
}

/**
 * The commit of an order whose reveals were all given up, or can never be mined. All its outputs belong to the
 * customer, and are spent by key. Null if a reveal may be mined, or there is no commit. Pure.
 */
export const strandedCommit = <T extends Pick<OrderTransaction, 'kind'>>(
  transactions: readonly T[],
): T | null =>
  transactions.some(({ kind }) => kind === 'reveal')
    ? null
    : (transactions.find(({ kind }) => kind === 'commit') ?? null);

/** The outputs of a stranded commit, as money of the customer. */
const strandedMoney = ({ txid, plan }: OrderTransaction): readonly OwedMoney[] =>
  plan.outputs.map(({ kind, value, script }, vout) => ({
    txid,
    vout,
    value: BigInt(value),
    owed: BigInt(value),
    ...(kind === 'commit' ? { at: 'commit', commitScript: script } : { at: 'own' }),
  }));

/** Settlement of a stranded commit once it is mined. Only its fee is spent. Pure. */
export const settlementOfStranded = ({ txid, fee }: OrderTransaction): Settlement => ({
  txid: hexOf(txid),
  from: 'owed',
  parts: [{ to: 'fee', sats: BigInt(fee) }],
});

/**
 * Accounts to which a transaction of ours pays, by kind of output. Outputs that the delivery spends later are `owed`
 * until then.
 */
const accountOfKind: Readonly<Record<PlannedOutputKind, SharedAccount>> = {
  postage: 'postage',
  service: 'service',
  change: 'service',
  bump: 'service',
  commit: 'owed',
  anchor: 'operator',
  burn: 'postage',
  // unused sats of an inventory output; they never come from the order's own money
  inventory: 'inventory',
  refund: 'outside',
  // these kinds never occur in an order
  payout: 'outside',
  withdrawal: 'outside',
  aside: 'outside',
  // a parent goes back to its owner, unless the next reveal spends this output
  parent: 'outside',
};

/** The account to which an output of this kind belongs. */
export const accountOfOutput = (kind: PlannedOutputKind): SharedAccount => accountOfKind[kind];

/** Whether a transaction is a refund or a return. Refunds and returns send money or deposits outside. */
export const isClosing = ({ kind }: Pick<OrderTransaction, 'kind'>): boolean =>
  kind === 'refund' || kind === 'return';

/** Facts that settlements need in addition to the transactions. */
export interface SettlementFacts {
  readonly excess: OwedMoney | null;
  /** Our outputs that belong entirely to the customer. Format: `<txid>:<vout>`. */
  readonly given: ReadonlySet<string>;
  /** Outputs at deposit addresses. Format: `<txid>:<vout>`. */
  readonly deposits: ReadonlySet<string>;
  /** Outputs that belong to the service. Format: `<txid>:<vout>`. */
  readonly ours: ReadonlySet<string>;
}

/** Settlements of an order's transactions, all of which must be mined. Pure. */
export function settlementsOf(
  mined: readonly OrderTransaction[],
  { excess, given, deposits, ours }: SettlementFacts,
): Settlement[] {
  const spent = spentBy(mined);
  return mined.flatMap((transaction): Settlement[] => {
    const { txid, kind, plan, fee } = transaction;
    if (kind === 'return') return settlementsOfReturn(transaction, deposits, ours);
    const stocked = givenByInventory(plan);
    const parts = plan.outputs.flatMap((output, vout): Settlement['parts'] => {
      if (output.kind === 'parent' || output.kind === 'inventory') return [];
      if (stocked > 0n && output.kind === 'postage') return [];
      // the output belongs to the customer, or a later transaction of the delivery spends it (an anchor that is burned,
      // or our output that pays for the burn)
      const outpoint = outpointOf({ txid, vout });
      const isPassedOn = spent.has(outpoint) || given.has(outpoint);
      const to = isPassedOn ? 'owed' : accountOfOutput(output.kind);
      // the change of a refund is our part of the outputs that it spends, which is already booked as ours
      if (isClosing({ kind }) && output.kind === 'change') return [];
      const isExcess = excess !== null && outpoint === outpointOf(excess);
      return [{ to, sats: BigInt(output.value) - (isExcess ? excess.owed : 0n) }];
    });
    // a parent that the next reveal spends has not left its deposit
    const returned = valueIn(
      plan.outputs.filter(({ kind: of }, vout) => of === 'parent' && !spent.has(outpointOf({ txid, vout }))),
    );
    const paid: Settlement['parts'] = [...parts, { to: 'fee', sats: BigInt(fee) }];
    const id = hexOf(txid);
    return [
      { txid: id, from: 'owed', parts: paid },
      { txid: id, from: 'deposit', parts: [{ to: 'outside', sats: returned }] },
      ...(stocked > 0n
        ? [{ txid: id, from: 'inventory', parts: [{ to: 'postage', sats: stocked }] } as const]
        : []),
    ];
  });
}

/**
 * Accounts from which a return takes sats, in this sequence. The outputs to others are paid first, then the miner's
 * fee.
 */
const returningAccounts = [
  'deposit',
  'owed',
  'service',
  'operator',
] as const satisfies readonly SharedAccount[];
type ReturningAccount = (typeof returningAccounts)[number];

/**
 * Settlements of a return. The sats of returned deposits and payments go outside. The payer pays the fee and gets the
 * change. Remaining sats of deposits are owed to the customer.
 */
function settlementsOfReturn(
  { txid, plan, fee }: OrderTransaction,
  deposits: ReadonlySet<string>,
  ours: ReadonlySet<string>,
): Settlement[] {
  const open = new Map<ReturningAccount, bigint>();
  for (const input of plan.inputs) {
    const account = accountOfInput(input, deposits, ours);
    open.set(account, (open.get(account) ?? 0n) + BigInt(input.value));
  }
  const payer = open.has('operator') ? 'operator' : open.has('service') ? 'service' : 'owed';
  const change = valueIn(plan.outputs.filter(({ kind }) => kind === 'change'));
  // if the service or the operator pays, the whole change is ours
  if (payer !== 'owed') open.set(payer, (open.get(payer) ?? 0n) - change);
  const outside = valueIn(plan.outputs.filter(({ kind }) => kind === 'parent' || kind === 'refund'));
  const left = payer === 'owed' ? change : 0n;
  const moved = [
    ...takenOf(open, 'outside', outside),
    ...takenOf(open, 'fee', BigInt(fee)),
    ...takenOf(open, 'owed', left),
  ];
  const id = hexOf(txid);
  return moved.map(({ from, to, sats }) => ({ txid: id, from, parts: [{ to, sats }] }));
}

/** The account to which an input of a return belongs. */
function accountOfInput(
  { outpoint, isOperator }: StoredPlan['inputs'][number],
  deposits: ReadonlySet<string>,
  ours: ReadonlySet<string>,
): ReturningAccount {
  if (isOperator === true) return 'operator';
  if (ours.has(outpoint)) return 'service';
  return deposits.has(outpoint) ? 'deposit' : 'owed';
}

/** Takes sats from the accounts, one account after the other, and reduces `open`. */
function takenOf(
  open: Map<ReturningAccount, bigint>,
  to: SharedAccount,
  sats: bigint,
): { readonly from: ReturningAccount; readonly to: SharedAccount; readonly sats: bigint }[] {
  let due = sats;
  const taken = returningAccounts.map((from) => {
    const held = open.get(from) ?? 0n;
    const part = smallest(held, due);
    open.set(from, held - part);
    due -= part;
    return { from, to, sats: part };
  });
  assert(due === 0n, 'a return pays only from its inputs');
  return taken;
}

/** Sats that a transaction took from an operator's coin; 0 if it spends no such coin. */
export const takenFromOperator = ({ inputs, outputs }: StoredPlan): bigint => {
  const brought = valueIn(inputs.filter(({ isOperator }) => isOperator === true));
  return brought === 0n ? 0n : brought - valueIn(outputs.filter(({ kind }) => kind === 'change'));
};

/** Sats of the inventory output that a transaction spends; 0 if it spends no such output. */
export const takenFromInventory = ({ inputs }: StoredPlan): bigint =>
  valueIn(inputs.filter(({ isInventory }) => isInventory === true));

/**
 * Inventory sats that stay with the inscription. The signer has checked that all other sats went back to the inventory.
 */
export const givenByInventory = (plan: StoredPlan): bigint =>
  takenFromInventory(plan) - valueIn(plan.outputs.filter(({ kind }) => kind === 'inventory'));

/**
 * The excess that a customer paid; null if there is no excess. The excess is in our output of the transaction that
 * spent the payment. If a burn spends that output, the excess is in our output of the burn. An excess of at least the
 * dust limit belongs to the customer; a smaller excess is revenue. If our part of the output would be dust, the whole
 * output belongs to the customer.
 */
export function excessOf(
  { amount }: Pick<Order, 'amount'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[],
): OwedMoney | null {
  const spending =
    transactions.find(({ kind }) => kind === 'commit') ?? transactions.find(({ kind }) => kind === 'reveal');
  if (spending === undefined) return null;
  // a parent is returned with its unchanged value, so it does not pay
  const brought = valueIn(spending.plan.outputs.filter(({ kind }) => kind === 'parent'));
  const paid = valueIn(spending.plan.inputs) - brought - takenFromInventory(spending.plan);
  const burn = spending.kind === 'reveal' ? transactions.find(({ kind }) => kind === 'burn') : undefined;
  const { txid, plan } = burn ?? spending;
  const vout = plan.outputs.findIndex(({ kind }) => kind === 'service' || kind === 'change');
  const output = plan.outputs[vout];
  if (paid - amount < p2trDust || output === undefined) return null;
  const value = BigInt(output.value);
  const owed = value - (paid - amount) < p2trDust ? value : paid - amount;
  return { txid, vout, value, owed, at: 'own' };
}

/**
 * Our outputs of a delivery whose rune name went to another transaction. They belong entirely to the customer, because
 * nothing was etched. If a reorganisation later gives the name back to the order, only outputs that a refund has spent
 * entirely are returned. Pure.
 */
export function givenBack(transactions: readonly OrderTransaction[], isNameLost: boolean): OwedMoney[] {
  const refunds = transactions.filter(
    ({ kind, plan }) => kind === 'refund' && !plan.outputs.some((output) => output.kind === 'change'),
  );
  const refunded = spentBy(refunds);
  const delivery = transactions.filter(({ kind }) => kind === 'commit' || kind === 'reveal');
  const ours = delivery.flatMap((made) => wholeOutputs(made, ['service', 'change']));
  return isNameLost ? ours : ours.filter((output) => refunded.has(outpointOf(output)));
}

/** Our outputs of mined mints that minted nothing. They belong entirely to the customer. Pure. */
export const givenByFailedMints = (transactions: readonly OrderTransaction[]): OwedMoney[] =>
  transactions.filter(({ isFailed }) => isFailed === true).flatMap((made) => wholeOutputs(made, ['service']));

/** The outputs of these kinds, as money that belongs entirely to the customer. */
const wholeOutputs = ({ txid, plan }: OrderTransaction, kinds: readonly PlannedOutputKind[]): OwedMoney[] =>
  plan.outputs.flatMap(({ kind, value }, vout): OwedMoney[] =>
    kinds.includes(kind) ? [{ txid, vout, value: BigInt(value), owed: BigInt(value), at: 'own' }] : [],
  );

/** Fields of a bump that its settlement needs. */
export interface SettledBump {
  readonly txid: Txid;
  readonly plan: StoredPlan;
  /** Sats of the bump's fee that the order pays. */
  readonly share: number;
  readonly isMined: boolean;
  /** Whether the bump can probably never be mined. */
  readonly isDead: boolean;
}

/** Settlements of an order's mined bumps. The operator pays for bumps, whatever the order earns. Pure. */
export const bumpSettlements = (bumps: readonly SettledBump[]): Settlement[] =>
  bumps
    .filter(({ isMined }) => isMined)
    .map(({ txid, share }) => ({
      txid: hexOf(txid),
      from: 'operator',
      parts: [{ to: 'fee', sats: BigInt(share) }],
    }));

/**
 * The output that holds the excess payment now. If a bump spent the output of the excess, the excess is in the change
 * of the mined bump. Null if no bump that spends the excess is mined yet, because the output is then not known. Pure.
 */
export function movedExcess(excess: OwedMoney, bumps: readonly SettledBump[]): OwedMoney | null {
  const outpoint = outpointOf(excess);
  const spending = bumps.filter(
    ({ plan, isDead }) => !isDead && plan.inputs.some((input) => input.outpoint === outpoint),
  );
  if (spending.length === 0) return excess;
  const mined = spending.find(({ isMined }) => isMined);
  const [rest] = mined?.plan.outputs ?? [];
  return mined === undefined || rest === undefined
    ? null
    : { ...excess, txid: mined.txid, vout: 0, value: BigInt(rest.value) };
}

/**
 * Remaining outputs of an order's transactions, oldest first. `ours` belong to the service. `theirs` belong to the
 * customer: the change of returns that the customer paid for, and the outputs of a stranded commit. The outputs may
 * already be spent. Pure.
 */
export function restsOf(transactions: readonly OrderTransaction[]): {
  readonly ours: readonly OwedMoney[];
  /** Cost of the returns for the service and the operator, in sats. */
  readonly ourCost: bigint;
  readonly theirs: readonly OwedMoney[];
} {
  const ours: OwedMoney[] = [];
  const theirs: OwedMoney[] = [];
  let ourCost = 0n;
  const stranded = strandedCommit(transactions);
  if (stranded !== null) theirs.push(...strandedMoney(stranded));
  for (const { txid, kind, plan } of transactions.filter((made) => made !== stranded)) {
    const own = new Set(ours.map(outpointOf));
    const spentOfOurs = valueIn(plan.inputs.filter(({ outpoint }) => own.has(outpoint)));
    if (plan.inputs.some(({ isOperator }) => isOperator === true)) {
      // the change of an operator's coin does not belong to the order
      ourCost += takenFromOperator(plan);
      continue;
    }
    const isTheirs = kind === 'return' && spentOfOurs === 0n;
    if (kind === 'return' && !isTheirs)
      ourCost += spentOfOurs - valueIn(plan.outputs.filter((output) => output.kind !== 'parent'));
    for (const [vout, output] of plan.outputs.entries()) {
      if (output.kind !== 'service' && output.kind !== 'change') continue;
      const value = BigInt(output.value);
      if (isTheirs) theirs.push({ txid, vout, value, owed: value, at: 'own' });
      else ours.push({ txid, vout, value, owed: 0n, at: 'own' });
    }
  }
  return { ours, theirs, ourCost };
}

/**
 * Cost of returns without a parent for the customer, in sats. Pure.
 *
 * @param parents outputs that contain a parent
 */
export function strayCostOf(
  transactions: readonly OrderTransaction[],
  parents: ReadonlySet<string>,
  ours: readonly OwedMoney[],
): bigint {
  const own = new Set(ours.map(outpointOf));
  return transactions
    .filter(
      ({ kind, plan }) =>
        kind === 'return' &&
        // leave out a return that pays its fee from its only input; such a return has one output, with a smaller value
        // than the input
        (plan.outputs.length > 1 || plan.outputs[0]?.value === plan.inputs[0]?.value) &&
        !plan.inputs.some(
          ({ outpoint, isOperator }) => isOperator === true || own.has(outpoint) || parents.has(outpoint),
        ),
    )
    .reduce((sum, { fee }) => sum + BigInt(fee), 0n);
}

/** A txid in hex, in internal byte order as in the ledger. */
export const hexOf = (txid: Uint8Array): string => Buffer.from(txid).toString('hex');
