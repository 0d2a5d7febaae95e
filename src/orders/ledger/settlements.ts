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

/** An output with a customer's money that no delivery uses. */
export interface OwedMoney extends Pick<WatchedPayment, 'txid' | 'vout' | 'value'> {
  /** Sats of it that belong to the customer. */
  readonly owed: bigint;
  /** At the order's payment address, at our output of one of its transactions, or in its commit for a reveal. */
  readonly at: 'address' | 'own' | 'commit';
  /** Script of a commit's output in hex: made of its reveal's leaf, or of our own key. */
  readonly commitScript?: string;
}

/**
 * The commit of an order whose reveals were all given up, or can never be mined. Everything in it belongs to the
 * customer, and is spent by key. Null: a reveal may be mined, or there is no commit. Pure.
 */
export const strandedCommit = <T extends Pick<OrderTransaction, 'kind'>>(
  transactions: readonly T[],
): T | null =>
  transactions.some(({ kind }) => kind === 'reveal')
    ? null
    : (transactions.find(({ kind }) => kind === 'commit') ?? null);

/** The outputs of such a commit. */
const strandedMoney = ({ txid, plan }: OrderTransaction): readonly OwedMoney[] =>
  plan.outputs.map(({ kind, value, script }, vout) => ({
    txid,
    vout,
    value: BigInt(value),
    owed: BigInt(value),
    ...(kind === 'commit' ? { at: 'commit', commitScript: script } : { at: 'own' }),
  }));

/** Settlement of such a commit once it is mined: only its fee is gone. Pure. */
export const settlementOfStranded = ({ txid, fee }: OrderTransaction): Settlement => ({
  txid: hexOf(txid),
  from: 'owed',
  parts: [{ to: 'fee', sats: BigInt(fee) }],
});

/**
 * Accounts that a transaction of ours pays to, by kind of output. Outputs that the delivery spends later stay owed
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
  // the rest of the inventory output that gives a sat: the entry is never of an order's own money
  inventory: 'inventory',
  refund: 'outside',
  // never in an order
  payout: 'outside',
  withdrawal: 'outside',
  aside: 'outside',
  // returned to its owner, except if the next reveal spends it
  parent: 'outside',
};

/** The account of an output of this kind. */
export const accountOfOutput = (kind: PlannedOutputKind): SharedAccount => accountOfKind[kind];

/** A refund or a return: it ends with money or deposits outside. */
export const isClosing = ({ kind }: Pick<OrderTransaction, 'kind'>): boolean =>
  kind === 'refund' || kind === 'return';

/** Facts that settlements need beside the transactions. */
export interface SettlementFacts {
  readonly excess: OwedMoney | null;
  /** Our outputs that belong entirely to the customer: `<txid>:<vout>`. */
  readonly given: ReadonlySet<string>;
  /** Outputs at deposits: `<txid>:<vout>`. */
  readonly deposits: ReadonlySet<string>;
  /** Outputs that are ours: `<txid>:<vout>`. */
  readonly ours: ReadonlySet<string>;
}

/** Settlements of an order's mined transactions. Pure. */
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
      // an anchor that the burn of a reveal spends, or our output that pays for the burn
      const outpoint = outpointOf({ txid, vout });
      const isPassedOn = spent.has(outpoint) || given.has(outpoint);
      const to = isPassedOn ? 'owed' : accountOfOutput(output.kind);
      // our part of the outputs that a refund spends is ours already
      if (isClosing({ kind }) && output.kind === 'change') return [];
      const isExcess = excess !== null && outpoint === outpointOf(excess);
      return [{ to, sats: BigInt(output.value) - (isExcess ? excess.owed : 0n) }];
    });
    // a parent that the next reveal spends is still at its deposit
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

/** Accounts that a return takes sats from. Each pays for outside first, then for miners. */
const returningAccounts = [
  'deposit',
  'owed',
  'service',
  'operator',
] as const satisfies readonly SharedAccount[];
type ReturningAccount = (typeof returningAccounts)[number];

/**
 * Settlements of a return. What deposits and payments held goes outside. The payer bears the fee and gets the change;
 * remaining sats of deposits are owed to the customer.
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
  // the change of our money is entirely ours
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

/** Account of an input of a return. */
function accountOfInput(
  { outpoint, isOperator }: StoredPlan['inputs'][number],
  deposits: ReadonlySet<string>,
  ours: ReadonlySet<string>,
): ReturningAccount {
  if (isOperator === true) return 'operator';
  if (ours.has(outpoint)) return 'service';
  return deposits.has(outpoint) ? 'deposit' : 'owed';
}

/** Takes sats from the accounts, one after the other. */
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

/** Sats that a transaction took from an operator's coin; 0: it spends none. */
export const takenFromOperator = ({ inputs, outputs }: StoredPlan): bigint => {
  const brought = valueIn(inputs.filter(({ isOperator }) => isOperator === true));
  return brought === 0n ? 0n : brought - valueIn(outputs.filter(({ kind }) => kind === 'change'));
};

/** Sats of the inventory output that a transaction spends; 0: it spends none. */
export const takenFromInventory = ({ inputs }: StoredPlan): bigint =>
  valueIn(inputs.filter(({ isInventory }) => isInventory === true));

/** Inventory sats that stay with the inscription: the signer has checked that all others went back. */
export const givenByInventory = (plan: StoredPlan): bigint =>
  takenFromInventory(plan) - valueIn(plan.outputs.filter(({ kind }) => kind === 'inventory'));

/**
 * The sats that a customer paid too much. They are in our output of the transaction that spent the payment, or of the
 * burn that spends that one. From dust on they belong to the customer; less is revenue. If our part of the output would
 * be dust, the whole output belongs to the customer.
 */
export function excessOf(
  { amount }: Pick<Order, 'amount'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[],
): OwedMoney | null {
  const spending =
    transactions.find(({ kind }) => kind === 'commit') ?? transactions.find(({ kind }) => kind === 'reveal');
  if (spending === undefined) return null;
  // a parent leaves with all that it brought
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
 * Our outputs of a delivery whose rune name went to another transaction: they belong entirely to the customer, because
 * nothing was etched. If a reorganisation returns the name later, only outputs that a refund has spent whole count.
 * Pure.
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

/** Our outputs of mined mints that minted nothing: they belong entirely to the customer. Pure. */
export const givenByFailedMints = (transactions: readonly OrderTransaction[]): OwedMoney[] =>
  transactions.filter(({ isFailed }) => isFailed === true).flatMap((made) => wholeOutputs(made, ['service']));

/** Outputs of some kinds, as money that belongs entirely to the customer. */
const wholeOutputs = ({ txid, plan }: OrderTransaction, kinds: readonly PlannedOutputKind[]): OwedMoney[] =>
  plan.outputs.flatMap(({ kind, value }, vout): OwedMoney[] =>
    kinds.includes(kind) ? [{ txid, vout, value: BigInt(value), owed: BigInt(value), at: 'own' }] : [],
  );

/** Fields of a bump that its settlement needs. */
export interface SettledBump {
  readonly txid: Txid;
  readonly plan: StoredPlan;
  /** Sats of its fee that the order bears. */
  readonly share: number;
  readonly isMined: boolean;
  /** It can never be mined, as far as is known. */
  readonly isDead: boolean;
}

/** Settlements of an order's mined bumps: the operator pays for them, whatever the order brings. Pure. */
export const bumpSettlements = (bumps: readonly SettledBump[]): Settlement[] =>
  bumps
    .filter(({ isMined }) => isMined)
    .map(({ txid, share }) => ({
      txid: hexOf(txid),
      from: 'operator',
      parts: [{ to: 'fee', sats: BigInt(share) }],
    }));

/**
 * The excess payment after a bump has spent its output: it is in the rest of the mined bump. Null: none of the bumps
 * that spend it is mined yet, so it has no place. Pure.
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
 * Rests of money beside the delivery, the oldest first: `ours`, and `theirs`, which belong to the customer: the change
 * of returns that the customer paid for, and the outputs of a commit whose reveals were given up. They may be spent.
 * Pure.
 */
export function restsOf(transactions: readonly OrderTransaction[]): {
  readonly ours: readonly OwedMoney[];
  /** Sats of ours and of the operator that returns took. */
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
      // the rest of the operator's coin does not belong to an order
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
 * Sats of the customer that returns without a parent took. Pure.
 *
 * @param parents outputs that brought a parent
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
        // sats that pay for their own return give one output with another value
        (plan.outputs.length > 1 || plan.outputs[0]?.value === plan.inputs[0]?.value) &&
        !plan.inputs.some(
          ({ outpoint, isOperator }) => isOperator === true || own.has(outpoint) || parents.has(outpoint),
        ),
    )
    .reduce((sum, { fee }) => sum + BigInt(fee), 0n);
}

/** Internal byte order, as in the ledger. */
export const hexOf = (txid: Uint8Array): string => Buffer.from(txid).toString('hex');
