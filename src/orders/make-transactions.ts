import assert from 'node:assert/strict';
import type pg from 'pg';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Payment } from '#payments/payments.queries.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { layoutOrder, type OrderLayout, type RevealLayout } from './inscribing/order-layout.ts';
import type { OrderRefusal, OrderTerms } from './inscribing/order-terms.ts';
import { type Arrived, type OwnDestination, planCommit, planReveal } from './inscribing/plan-transactions.ts';
import { type OwedMoney, outpointOf } from './ledger/settlements.ts';
import { type Order, readLeaves } from './order.store.ts';
import { insertTransaction, type OrderTransactionKind, type StoredPlan } from './order-transactions.store.ts';
import { type OwedOutput, owedTooLittle, planRefund } from './plan-refund.ts';
import { nextBlock, ownWatcherOf, refundWatcherOf } from './process-order.ts';
import { termsOf } from './stored-terms.ts';

/** What the wallet does: `src/wallet` has the keys. */
export interface OrderSigner {
  /** The script of a key with a leaf, or of the key alone. */
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  /** What a txid covers, which ends with the lock time; signing changes neither. */
  readonly unsigned: (plan: TransactionPlan) => { readonly bytes: Uint8Array; readonly txid: Txid };
  readonly signPlan: (plan: TransactionPlan) => {
    readonly bytes: Uint8Array;
    readonly txid: Txid;
    readonly fee: bigint;
  };
}

/** Finds the lock times that give transactions their prefix (docs/adr/0042-id-prefixes.md); null: not yet. */
export interface LockTimeSearch {
  readonly of: (orderId: string, unsigned: readonly Uint8Array[], prefix: string) => readonly number[] | null;
}

/**
 * Plans, signs and stores all transactions of a paid order: its reveal, or a commit and its reveals. They are the same
 * for the same payments, whenever they are made. The reason where they cannot be made; null: they are made, or will be
 * once their lock times are found.
 */
export async function makeReveals(
  tx: pg.ClientBase,
  { signer, lockTimes }: { readonly signer: OrderSigner; readonly lockTimes: LockTimeSearch },
  order: Order,
  payments: readonly Payment[],
): Promise<string | null> {
  const planned = await planTransactions(tx, signer, order, payments);
  if ('reason' in planned) return planned.reason;
  const ready = withPrefix(planned, order, signer, lockTimes);
  if (ready === null) return null;
  for (const { kind, place, plan } of ready) await store(tx, signer, order, kind, place, plan);
  // what is ours of them pays for stuck transactions, once a block has it
  const { script } = destination(signer, { key: { branch: 1, index: order.ownIndex }, leafScript: null });
  await watchScripts(tx, ownWatcherOf(order.id), [{ script, sinceHeight: nextBlock }]);
  failpoint('order-reveals');
  return null;
}

interface PlannedTransaction {
  readonly kind: OrderTransactionKind;
  readonly place: Place;
  readonly plan: TransactionPlan;
}

/** With the lock times that give the reveals the prefix of the order; null: they are not known yet. */
function withPrefix(
  planned: readonly PlannedTransaction[],
  { id, request }: Order,
  signer: OrderSigner,
  lockTimes: LockTimeSearch,
): readonly PlannedTransaction[] | null {
  const { inscriptionIdPrefix: prefix } = request;
  if (prefix === null) return planned;
  const reveals = planned.filter(({ kind }) => kind === 'reveal');
  const found = lockTimes.of(
    id,
    reveals.map(({ plan }) => signer.unsigned(plan).bytes),
    prefix,
  );
  if (found === null) return null;
  return planned.map((made) => {
    if (made.kind !== 'reveal') return made;
    const lockTime = found[made.place.index];
    assert(lockTime !== undefined, 'a lock time was found for each reveal');
    const plan = { ...made.plan, lockTime };
    assert(displayHash(signer.unsigned(plan).txid).startsWith(prefix), 'the lock time gives the prefix');
    return { ...made, plan };
  });
}

async function planTransactions(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  payments: readonly Payment[],
): Promise<readonly PlannedTransaction[] | OrderRefusal> {
  const terms = termsOf(order.terms);
  const { reveals } = layoutOf(terms, order);
  const leaves = await readLeaves(tx, order.id);
  const key = { branch: 0, index: order.keyIndex } as const;
  const service = destination(signer, { key: { branch: 1, index: order.ownIndex }, leafScript: null });
  const made = reveals.map((layout, index): PlacedReveal => {
    const leafScript = leaves[index];
    assert(leafScript !== undefined, `order ${order.id} has a leaf for each reveal`);
    return { layout, index, commit: destination(signer, { key, leafScript }) };
  });
  const parts = { signer, order, terms, service };
  if (order.paidTo === 'wallet')
    return planCommitted(parts, made, arrivedOf(payments, { key, leafScript: null }));
  const [only] = made;
  assert(only !== undefined && made.length === 1, 'a direct order has one reveal');
  const plan = planReveal(terms, only.layout, {
    payments: arrivedOf(payments, only.commit.own),
    parents: [],
    service,
  });
  return 'reason' in plan ? plan : [revealOf(only, plan)];
}

const revealOf = ({ index, layout }: PlacedReveal, plan: TransactionPlan): PlannedTransaction => ({
  kind: 'reveal',
  place: { index, count: layout.count },
  plan,
});

interface PlanningParts {
  readonly signer: OrderSigner;
  readonly order: Order;
  readonly terms: OrderTerms;
  /** Our output of each transaction. */
  readonly service: OwnDestination;
}

interface PlacedReveal {
  readonly layout: RevealLayout;
  readonly index: number;
  /** The output that it spends through its leaf. */
  readonly commit: OwnDestination;
}

/** A commit of the wallet, and the reveals that spend it. */
function planCommitted(
  { signer, order, terms, service }: PlanningParts,
  reveals: readonly PlacedReveal[],
  payments: readonly [Arrived, ...Arrived[]],
): readonly PlannedTransaction[] | OrderRefusal {
  const commits = reveals.map(({ commit }) => commit);
  const plan = planCommit(terms, layoutOf(terms, order), {
    payments,
    commits,
    feeInputs: destination(signer, { key: { branch: 0, index: order.keyIndex }, leafScript: null }),
    change: service,
  });
  if ('reason' in plan) return plan;
  const { txid } = signer.unsigned(plan);
  const planned: PlannedTransaction[] = [{ kind: 'commit', place: onlyOne, plan }];
  for (const reveal of reveals) {
    const { own } = reveal.commit;
    const vout = plan.outputs.findIndex((output) => output.own?.leafScript === own.leafScript);
    const output = plan.outputs[vout];
    assert(output !== undefined, 'the commit has an output for each reveal');
    const { value, script } = output;
    const made = planReveal(terms, reveal.layout, {
      payments: [{ txid, vout, value, script, ...own }],
      parents: [],
      service,
    });
    if ('reason' in made) return made;
    planned.push(revealOf(reveal, made));
  }
  return planned;
}

/** Plans, signs and stores the transaction that pays what is owed back. The reason where it cannot be made. */
export async function makeRefund(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  outputs: readonly OwedMoney[],
  feeRate: bigint,
): Promise<string | null> {
  const { refundScript } = order;
  assert(refundScript !== null, 'a refund has an address');
  const [leafScript = null] = order.paidTo === 'direct' ? await readLeaves(tx, order.id) : [];
  const address = destination(signer, { key: { branch: 0, index: order.keyIndex }, leafScript });
  const own = destination(signer, { key: { branch: 1, index: order.ownIndex }, leafScript: null });
  const owed = outputs.map(({ at, ...output }): OwedOutput => {
    const held = at === 'address' ? address : own;
    return { ...output, script: held.script, ...held.own };
  });
  const plan = planRefund(owed, refundScript, own, feeRate);
  if (plan === null) return owedTooLittle;
  await store(tx, signer, order, 'refund', onlyOne, plan);
  // how its block is found
  await watchScripts(tx, refundWatcherOf(order.id), [{ script: refundScript, sinceHeight: nextBlock }]);
  failpoint('order-refund');
  return null;
}

/** The layout that was quoted: what it costs beyond the chain's part is in the amount. */
function layoutOf(terms: OrderTerms, { quote }: Order): OrderLayout {
  const revenue = BigInt(quote.serviceFee) - BigInt(quote.postage) * BigInt(terms.files.length);
  const layout = layoutOrder(terms, { amount: revenue, sizeFeePercent: 0 });
  assert(layout.kind === 'layout', 'terms that were quoted have a layout');
  return layout;
}

/** Of a transaction among those of its kind, and how many files it inscribes. */
interface Place {
  readonly index: number;
  readonly count: number;
}

const onlyOne: Place = { index: 0, count: 0 };

async function store(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  kind: OrderTransactionKind,
  { index, count: files }: Place,
  plan: TransactionPlan,
): Promise<void> {
  const { bytes, txid, fee } = signer.signPlan(plan);
  await insertTransaction(tx, order.id, {
    txid,
    kind,
    index,
    files,
    bytes,
    plan: storedPlan(plan),
    fee: Number(fee),
  });
}

function storedPlan({ inputs, outputs }: TransactionPlan): StoredPlan {
  return {
    inputs: inputs.map((input) => ({ outpoint: outpointOf(input), value: Number(input.value) })),
    outputs: outputs.map(({ kind, value, script }) => ({
      kind,
      value: Number(value),
      script: Buffer.from(script).toString('hex'),
    })),
  };
}

/** Always in one order, so that the same payments make the same transaction. */
function arrivedOf(payments: readonly Payment[], own: OwnScript): readonly [Arrived, ...Arrived[]] {
  const [first, ...others] = payments
    .map(({ txid, vout, value, script }): Arrived => ({ txid, vout, value, script, ...own }))
    .toSorted((a, b) => compareTexts(displayHash(a.txid), displayHash(b.txid)) || a.vout - b.vout);
  assert(first !== undefined, 'a transaction spends something');
  return [first, ...others];
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const destination = (signer: OrderSigner, own: OwnScript): OwnDestination => ({
  script: signer.scriptOf(own),
  own,
});
