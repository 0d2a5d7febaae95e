import { expect } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { ChainMoney } from '../money-on-chain.ts';
import type { OrderService } from '../order-service.ts';
import { verdictOfOrder } from '../order-verdict.ts';
import { areOrdersFollowed } from '../orders-followed.ts';
import type { MadeOrder } from './orders-in-every-state.ts';
import type { SavedService } from './saved-service.ts';

const endStates: Readonly<Record<MadeOrder['end'], string>> = {
  delivered: 'completed',
  burned: 'completed',
  refunded: 'refunded',
  owed: 'waiting-refund',
  returned: 'refunded',
};

/**
 * Orders whose money mixes with other money: with sats of parents, and with sats of the operator that pay for a bump.
 * Only the audit follows this money.
 */
const mixed: ReadonlySet<string> = new Set(['stuck', 'delivered with a parent', 'parent waits']);

/**
 * Pays saved orders of a running service until all are over. The ledger must agree with the chain at the start and at
 * the end. At the end the money of each order must be where it belongs.
 */
export async function bringToTheirEnds(service: OrderService, { orders }: SavedService): Promise<void> {
  const { chain, database } = service;
  const { pool } = database;
  const followed = () => areOrdersFollowed(pool, chain.rpc);
  async function audited(): Promise<void> {
    await service.eventually(followed);
    const audit = await auditOrders({ database: pool, node: chain.rpc });
    expect(audit).toMatchObject({ differences: [], funds: [], orders: Object.keys(orders).length });
  }

  await audited();
  for (const { address, todo } of Object.values(orders))
    if (todo > 0) await chain.pay(Buffer.from(address, 'hex'), todo);
  await service.eventually(async () => {
    const { rows } = await pool.query<{ id: string; state: string; error: string | null }>(
      'SELECT id, state, error FROM service.orders',
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const open = Object.entries(orders)
      .map(([name, { id, end }]) => ({ name, end, ...byId.get(id) }))
      .filter(({ end, state }) => state !== endStates[end]);
    if (open.length === 0) return followed();
    await chain.mineMempool();
    throw new Error(`${JSON.stringify(open)}\n${service.stderr().slice(-3000)}`);
  });
  await audited();
  const money = await ChainMoney.read(chain.rpc);
  for (const [name, made] of Object.entries(orders)) {
    const owed = balancesOf(await readEntries(pool, { kind: 'order', id: made.id })).get('owed') ?? 0n;
    expect([name, owed]).toEqual([name, made.end === 'owed' ? BigInt(made.amount) : 0n]);
    if (mixed.has(name) || (made.end !== 'delivered' && made.end !== 'refunded')) continue;
    const { faults, isDelivered } = await verdictOfOrder(pool, money, {
      ...made,
      receivers: [made.receiver],
    });
    expect([name, faults, isDelivered]).toEqual([name, [], made.end === 'delivered']);
  }
}
