import type pg from 'pg';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Arrived, OwnDestination } from '#orders/inscribing/plan-transactions.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import { chargedLeaf, type Order } from '#orders/order/order.store.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import type { OrderSigner } from './order-signer.ts';
import type { OwedOutput } from './plan-refund.ts';

/** Of a transaction among those of its kind, and how many files it inscribes. */
export interface Place {
  readonly index: number;
  readonly count: number;
}

export const onlyOne: Place = { index: 0, count: 0 };

/**
 * Signs a plan and stores it, before anybody sends it. Throws `OutputTaken`.
 *
 * @param coin of the operator, among what it spends; null: none
 */
export async function store(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  kind: OrderTransactionKind,
  { index, count: files }: Place,
  plan: TransactionPlan,
  coin: Pick<Arrived, 'txid' | 'vout'> | null = null,
): Promise<Txid> {
  const { bytes, txid, fee } = await signer.signPlan(plan);
  await insertTransaction(tx, {
    txid,
    orderId: order.id,
    kind,
    index,
    files,
    bytes,
    plan: storedPlan(plan, coin),
    fee,
    replaces: null,
    ownIndex: null,
  });
  return txid;
}

/** As it is kept. */
export function storedPlan(
  { inputs, outputs }: TransactionPlan,
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
    outputs: outputs.map(({ kind, value, script }) => ({
      kind,
      value: Number(value),
      script: Buffer.from(script).toString('hex'),
    })),
  };
}

/** Money of an order as plans spend it, and where what is ours of it stays. */
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
  const spendable = outputs.map(({ at, ...output }): OwedOutput => {
    const held = at === 'address' ? address : own;
    return { ...output, script: held.script, ...held.own };
  });
  return { own, address, spendable };
}

/** A script of the wallet, and what it is made of. */
export const destination = (signer: Pick<OrderSigner, 'scriptOf'>, own: OwnScript): OwnDestination => ({
  script: signer.scriptOf(own),
  own,
});
