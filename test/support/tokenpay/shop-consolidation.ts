import { expect, test } from 'vitest';
import { defaultClusterLimits, type NodeStanding } from '#orders/sending/node-standing.ts';
import { insertConsolidation } from '#payouts/payout/consolidations.store.ts';
import { type ListedPayout, listPayouts, openPayouts } from '#payouts/payout/payout.store.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { runCommand } from '#test/support/run-command.ts';
import { changeForm } from '#tokenpay/withdrawing/price-asked.ts';
import type { ConsolidationPolicy } from '#withdrawals/consolidating/consolidation-policy.ts';
import { type PlannedJoin, planJoin, planRaise } from '#withdrawals/consolidating/plan-join.ts';
import { heldBy, orderedAt } from './account-changes.ts';
import type { ShopWithdrawals } from './shop-withdrawals.ts';

const low = 1_000n;
const inputs = 14;

/** Tests that small coins of an account are joined at the service's cost while fees are low. */
export function testConsolidation(shopOf: () => ShopWithdrawals): void {
  test('small coins are joined at a low rate, within a budget, and balances stay unchanged', async () => {
    const its = shopOf();
    const { shop, rune } = its;
    const { world } = shop;
    const policy = { dayMax: 20_000n, feeRateMax: 2_000n };
    const order = await orderedAt(shop, rune.name, inputs);
    await shop.send([
      ...Array.from({ length: inputs }, () => ({
        value: 546,
        outputScript: order.tokenScript,
        units: [[rune, 1n]] as const,
      })),
      { value: 10_000, outputScript: order.feeScript },
    ]);
    await world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
    const shallow = await planned(its, low, policy);
    await world.chain.mineEmpty(world.payoutConfirmations);
    await world.indexed();
    const before = await heldBy(shop);

    expect(shallow).toMatch(/Too few coins/u);
    expect(await planned(its, 2_001n, policy)).toMatch(/above CONSOLIDATE_FEE_RATE_MAX/u);
    expect(await planned(its, null, policy)).toMatch(/has no estimate/u);
    expect(await planned(its, low, { ...policy, dayMax: 500n })).toMatch(/CONSOLIDATE_DAILY_SATS/u);
    await world.stop();
    const waiting = await its.asked(its.units(1, addressOf(920)));
    expect(await planned(its, low, policy)).toMatch(/Withdrawals wait/u);
    await runCommand(
      ['tokenpay', 'withdrawals', 'cancel', waiting.id, '--reason', 'A test.', '--json'],
      world.database.settings,
    );

    world.estimate = low;
    world.withdrawals = { ...world.withdrawals, consolidation: policy };
    await world.follow();
    const first = await until(its, 'sent');
    expect(await raised(its, { ...policy, dayMax: BigInt(first.fee!) })).toMatch(/CONSOLIDATE_DAILY_SATS/u);
    // the consolidation waited too long and fees rose, so the budget pays a higher fee
    await world.stop();
    const { afterMs } = world.bumps;
    world.bumps = { ...world.bumps, afterMs: 0 };
    world.estimate = 3_000n;
    await world.follow();
    const sent = await until(its, 'sent', ({ txid }) => txid !== first.txid);
    expect(sent.fee).toBeGreaterThan(first.fee! * 2);
    // the transaction is stored before it is sent
    await world.eventually(async () =>
      expect(await world.chain.rpc.call<string[]>('getrawmempool')).toContain(sent.txid),
    );
    expect([sent.shares, await heldBy(shop)]).toEqual([[], before]);
    const { vin } = await world.chain.rpc.call<{ vin: unknown[] }>('getrawtransaction', [sent.txid, true]);
    expect(vin.length).toBeGreaterThanOrEqual(inputs);
    await its.audit();
    await world.chain.mineMempool();
    await until(its, 'mined');
    await audited(its);
    expect(await heldBy(shop)).toEqual(before);
    // every process subtracts the consolidation's cost from the budget
    const fee = BigInt(sent.fee!);
    expect(await planned(its, low, { ...policy, dayMax: fee })).toMatch(/CONSOLIDATE_DAILY_SATS/u);

    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    expect((await until(its, 'sent')).txid).toBe(sent.txid);
    await audited(its);
    await world.chain.mineMempool();
    expect((await until(its, 'mined')).txid).toBe(sent.txid);

    await world.stop();
    world.estimate = null;
    world.bumps = { ...world.bumps, afterMs };
    world.withdrawals = { ...world.withdrawals, consolidation: { ...policy, dayMax: 0n } };
    await world.follow();
    // a consolidation that was requested ends if there is nothing to join
    const client = await world.database.pool.connect();
    const id = await insertConsolidation(client).finally(() => client.release());
    await until(its, 'cancelled', (found) => found.id === id);
    // an account withdraws all units that are left
    const all = await its.asked(its.units(inputs, addressOf(920)));
    await its.mined(all.id);
    await audited(its);
  });
}

async function planned(
  { shop: { world } }: ShopWithdrawals,
  estimate: bigint | null,
  policy: ConsolidationPolicy,
): Promise<PlannedJoin> {
  const client = await world.database.pool.connect();
  const parts = { client, node: world.bitcoind.rpc, confirmations: world.payoutConfirmations };
  return planJoin(parts, standingAt(estimate), changeForm, policy).finally(() => client.release());
}

const standingAt = (estimate: bigint | null): NodeStanding => ({
  mempoolMinFeeRate: low,
  minRelayFeeRate: low,
  incrementalFeeRate: low,
  estimate,
  cluster: defaultClusterLimits,
});

/** Plans a consolidation that pays more than the open one. */
async function raised(
  { shop: { world } }: ShopWithdrawals,
  policy: ConsolidationPolicy,
): Promise<PlannedJoin> {
  const client = await world.database.pool.connect();
  try {
    const payout = (await openPayouts(client)).find(({ kind }) => kind === 'consolidation')!;
    const transactions = await readPayoutTransactions(client, payout.id);
    const making = { payout, transactions, standing: standingAt(3_000n), replaced: transactions[0]! };
    return await planRaise(client, making, changeForm, policy);
  } finally {
    client.release();
  }
}

/** Waits until the newest consolidation is in this state, and returns it. */
async function until(
  { shop: { world } }: ShopWithdrawals,
  state: string,
  isSo: (found: ListedPayout) => boolean = () => true,
): Promise<ListedPayout> {
  return world.eventually(async () => {
    const listed = await listPayouts(world.database.pool, 50);
    const found = listed.find(({ kind }) => kind === 'consolidation');
    if (found?.state === state && isSo(found)) return found;
    throw new Error(`${JSON.stringify(found)}\n${world.logged.join('')}`);
  });
}

async function audited(its: ShopWithdrawals): Promise<void> {
  await its.audit();
  expect((await its.shop.world.audit()).payouts).toEqual([]);
}
