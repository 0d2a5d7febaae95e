import assert from 'node:assert/strict';
import type pg from 'pg';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Payment } from '#payments/payments.queries.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { layoutOrder, type OrderLayout, type RevealLayout } from './inscribing/order-layout.ts';
import type { OrderTerms } from './inscribing/order-terms.ts';
import { type Arrived, type OwnDestination, planCommit, planReveal } from './inscribing/plan-transactions.ts';
import {
  insertTransaction,
  type Order,
  type OrderTransactionKind,
  readLeaves,
  type StoredPlan,
} from './order.store.ts';
import { type OwedOutput, planRefund } from './plan-refund.ts';
import { nextBlock, type OwedMoney, outpointOf, refundWatcherOf } from './process-order.ts';
import { termsOf } from './stored-terms.ts';

/** What the wallet does: `src/wallet` has the keys. */
export interface OrderSigner {
  /** The script of a key with a leaf, or of the key alone. */
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  readonly signPlan: (plan: TransactionPlan) => {
    readonly bytes: Uint8Array;
    readonly txid: Txid;
    readonly fee: bigint;
  };
}

/**
 * Plans, signs and stores all transactions of a paid order: its reveal, or a commit and its reveals. They are the same
 * for the same payments, whenever they are made. The reason where they cannot be made.
 */
export async function makeReveals(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  payments: readonly Payment[],
): Promise<string | null> {
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
  const parts = { tx, signer, order, terms, service };
  if (order.paidTo === 'wallet')
    return makeCommitted(parts, made, arrivedOf(payments, { key, leafScript: null }));
  const [only] = made;
  assert(only !== undefined && made.length === 1, 'a direct order has one reveal');
  return makeReveal(parts, only, arrivedOf(payments, only.commit.own));
}

interface MakingParts {
  readonly tx: pg.ClientBase;
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
async function makeCommitted(
  parts: MakingParts,
  reveals: readonly PlacedReveal[],
  payments: readonly [Arrived, ...Arrived[]],
): Promise<string | null> {
  const { tx, signer, order, terms, service } = parts;
  const commits = reveals.map(({ commit }) => commit);
  const plan = planCommit(terms, layoutOf(terms, order), {
    payments,
    commits,
    feeInputs: destination(signer, { key: { branch: 0, index: order.keyIndex }, leafScript: null }),
    change: service,
  });
  if ('reason' in plan) return plan.reason;
  const { txid } = await store(tx, signer, order, 'commit', onlyOne, plan);
  for (const reveal of reveals) {
    const { own } = reveal.commit;
    const vout = plan.outputs.findIndex((output) => output.own?.leafScript === own.leafScript);
    const output = plan.outputs[vout];
    assert(output !== undefined, 'the commit has an output for each reveal');
    const { value, script } = output;
    const problem = await makeReveal(parts, reveal, [{ txid, vout, value, script, ...own }]);
    if (problem !== null) return problem;
  }
  return null;
}

async function makeReveal(
  { tx, signer, order, terms, service }: MakingParts,
  { layout, index }: PlacedReveal,
  payments: readonly [Arrived, ...Arrived[]],
): Promise<string | null> {
  const plan = planReveal(terms, layout, { payments, parents: [], service });
  if ('reason' in plan) return plan.reason;
  await store(tx, signer, order, 'reveal', { index, count: layout.count }, plan);
  return null;
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
  if (plan === null) return 'What is owed is less than it costs to send it.';
  await store(tx, signer, order, 'refund', onlyOne, plan);
  // how its block is found
  await watchScripts(tx, refundWatcherOf(order.id), [{ script: refundScript, sinceHeight: nextBlock }]);
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
): Promise<{ readonly txid: Txid }> {
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
  return { txid };
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

/** In one order whoever asks, so that the same payments make the same transaction. */
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
