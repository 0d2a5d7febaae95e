import { expect, test } from 'vitest';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { runCommand } from '#test/support/run-command.ts';
import { changeForm } from '#tokenpay/withdrawing/price-asked.ts';
import type { ConsolidationPolicy } from '#withdrawals/consolidating/consolidation-policy.ts';
import { type PlannedJoin, planJoin } from '#withdrawals/consolidating/plan-join.ts';
import { heldBy, orderedAt } from './account-changes.ts';
import type { ShopWithdrawals } from './shop-withdrawals.ts';

const low = 1_000n;
const inputs = 14;

/** Small coins of an account are joined at the service's cost, while fees are low. */
export function testConsolidation(shopOf: () => ShopWithdrawals): void {
  test('small coins are joined at a low rate, within a budget, and balances stay as they are', async () => {
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
    const sent = await until(its, 'sent');
    const pool = await world.chain.rpc.call<string[]>('getrawmempool');
    expect([pool.includes(sent.txid!), sent.shares, await heldBy(shop)]).toEqual([true, [], before]);
    const { vin } = await world.chain.rpc.call<{ vin: unknown[] }>('getrawtransaction', [sent.txid, true]);
    expect(vin.length).toBeGreaterThanOrEqual(inputs);
    await its.audit();
    await world.chain.mineMempool();
    await until(its, 'mined');
    await audited(its);
    expect(await heldBy(shop)).toEqual(before);
    // what it cost counts, whatever process asks
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
    world.withdrawals = { ...world.withdrawals, consolidation: { ...policy, dayMax: 0n } };
    await world.follow();
    // an account takes out what is left of them
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
  const standing = { mempoolMinFeeRate: low, minRelayFeeRate: low, incrementalFeeRate: low, estimate };
  const client = await world.database.pool.connect();
  const parts = { client, node: world.bitcoind.rpc, confirmations: world.payoutConfirmations };
  const cluster = { count: 25, virtualBytes: 101_000 };
  return planJoin(parts, { ...standing, cluster }, changeForm, policy).finally(() => client.release());
}

/** The only consolidation, in a state. */
async function until({ shop: { world } }: ShopWithdrawals, state: string): Promise<ListedPayout> {
  return world.eventually(async () => {
    const listed = await listPayouts(world.database.pool, 50);
    const found = listed.filter(({ kind }) => kind === 'consolidation');
    if (found.length === 1 && found[0]!.state === state) return found[0]!;
    throw new Error(`${JSON.stringify(found)}\n${world.logged.join('')}`);
  });
}

async function audited(its: ShopWithdrawals): Promise<void> {
  await its.audit();
  expect((await its.shop.world.audit()).payouts).toEqual([]);
}
