import assert from 'node:assert/strict';
import type pg from 'pg';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { OwnScript, PlannedOutputKind, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Arrived, OwnDestination } from '#orders/inscribing/plan-transactions.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import { chargedLeaf, type Order, readLeaves } from '#orders/order/order.store.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { storedHoldings } from '#purse/transactions/stored-holdings.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import type { OrderSigner } from './order-signer.ts';
import type { OwedOutput } from './plan-refund.ts';

/** Index of a transaction among the transactions of its kind, and the number of files that it inscribes. */
export interface Place {
  readonly index: number;
  readonly count: number;
}

export const onlyOne: Place = { index: 0, count: 0 };

/** Facts about a transaction that its plan does not contain. */
interface SignedWith {
  /** The operator's coin among the inputs. Null if no input is such a coin. */
  readonly coin?: Pick<Arrived, 'txid' | 'vout'> | null;
  /** Contents of outputs of the transactions in this round. The contents of this transaction's outputs are added. */
  readonly made?: Map<string, Holdings>;
}

/** Signs a plan and stores the transaction, before it is sent. Throws `plan_refused` and `OutputTaken`. */
export async function store(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  kind: OrderTransactionKind,
  { index, count: files }: Place,
  plan: TransactionPlan,
  { coin = null, made = new Map() }: SignedWith = {},
): Promise<Txid> {
  const held = await readHoldings(tx, plan.inputs, made);
  const { bytes, txid, fee, holdings } = await signer.signPlan(plan, held);
  for (const [vout, each] of holdings.entries()) made.set(outpointOf({ txid, vout }), each);
  await insertTransaction(tx, {
    txid,
    orderId: order.id,
    payoutId: null,
    kind,
    index,
    files,
    bytes,
    plan: storedPlan(plan, holdings, coin),
    fee,
    replaces: null,
    ownIndex: null,
  });
  return txid;
}

/** The plan in its stored form. */
export function storedPlan(
  { inputs, outputs }: TransactionPlan,
  holdings: readonly Holdings[],
  coin: Pick<Arrived, 'txid' | 'vout'> | null = null,
): StoredPlan {
  const ofOperator = coin === null ? null : outpointOf(coin);
  return {
    inputs: inputs.map((input) => ({
      outpoint: outpointOf(input),
      value: Number(input.value),
      ...(input.key.branch === 2 ? { isInventory: true } : {}),
      ...(outpointOf(input) === ofOperator ? { isOperator: true } : {}),
    })),
    outputs: outputs.map(({ kind, value, script }, vout) => {
      const holds = keptKinds.has(kind) ? storedHoldings(holdings[vout] ?? nothingHeld) : null;
      const output = { kind, value: Number(value), script: Buffer.from(script).toString('hex') };
      return holds === null ? output : { ...output, holds };
    }),
  };
}

/** Kinds of outputs that later transactions of the service may spend before the index has them. */
const keptKinds: ReadonlySet<PlannedOutputKind> = new Set(['service', 'change', 'bump', 'anchor']);

/** Money of an order in the form of inputs, and the destination of our part of it. */
export async function spendableMoney(
  tx: pg.ClientBase,
  signer: Pick<OrderSigner, 'scriptOf'>,
  order: Order,
  outputs: readonly OwedMoney[],
): Promise<{
  readonly own: OwnDestination;
  readonly address: OwnDestination;
  readonly spendable: readonly OwedOutput[];
}> {
  const key = { branch: 0, index: order.keyIndex } as const;
  const address = destination(signer, { key, ...(await chargedLeaf(tx, order)) });
  const own = destination(signer, { key: { branch: 1, index: order.ownIndex }, leafScript: null });
  const committed = outputs.some(({ at }) => at === 'commit') ? await committedTo(tx, signer, order) : [];
  const heldAt = ({ at, commitScript }: OwedMoney): OwnDestination => {
    if (at !== 'commit') return at === 'address' ? address : own;
    // the output that pays a reveal's fee in addition to its leaf is at our own key
    const found = [...committed, own].find(
      (each) => Buffer.from(each.script).toString('hex') === commitScript,
    );
    assert(found !== undefined, `the commit of order ${order.id} pays to its leaves and to our own key`);
    return found;
  };
  const spendable = outputs.map((output): OwedOutput => {
    const { txid, vout, value, owed } = output;
    const held = heldAt(output);
    return { txid, vout, value, owed, script: held.script, ...held.own };
  });
  return { own, address, spendable };
}

/** Destinations of a commit's outputs for its reveals. */
async function committedTo(
  tx: pg.ClientBase,
  signer: Pick<OrderSigner, 'scriptOf'>,
  { id, keyIndex }: Order,
): Promise<OwnDestination[]> {
  const leaves = await readLeaves(tx, id);
  return leaves.map((leafScript) => destination(signer, { key: { branch: 0, index: keyIndex }, leafScript }));
}

/** A script of the wallet, with the key and leaf from which it is made. */
export const destination = (signer: Pick<OrderSigner, 'scriptOf'>, own: OwnScript): OwnDestination => ({
  script: signer.scriptOf(own),
  own,
});
