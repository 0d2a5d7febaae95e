import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smallest } from '#kernel/bitcoin/amount.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { boundByEarned, boundByRevenue } from '#orders/bumping/budgets.ts';
import type { LiveBump } from '#orders/bumping/bump.store.ts';
import { type BumpPolicy, BumpRound, type RoundParts, type WantedStore } from '#orders/bumping/bump-round.ts';
import type { FoundParent } from '#orders/bumping/find-stuck.ts';
import { largest, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { testWallet } from '#test/support/wallet/plans.ts';

const { wallet } = testWallet();
const { script } = wallet.ownAddress(3);
const hour = 3_600_000;
const now = new Date('2026-01-01T00:00:00Z');
const noLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

const txidOf = (place: number): Txid => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, place + 1);
  return trustedTxid(bytes);
};

/** A stuck transaction of an order that has an output of ours. */
function parent(place: number, orderId: string, more: Partial<FoundParent> = {}): FoundParent {
  const txid = txidOf(place);
  return {
    id: displayHash(txid),
    overdue: { txid, orderId, ownIndex: 3, earned: 100_000n } as FoundParent['overdue'],
    orderId,
    fee: 300n,
    virtualBytes: 300,
    output: { txid, vout: 1, value: 100_000n, script, key: { branch: 1, index: 3 } },
    owed: 0n,
    mempool: { effectiveRate: 1000n, cluster: { count: 1, virtualBytes: 300 } },
    commit: null,
    ancestors: [],
    wantedRate: 20_000n,
    ...more,
  };
}

const policyOf = (more: Partial<BumpPolicy> = {}): BumpPolicy => ({
  maxSats: 20_000n,
  dayMaxSats: 1_000_000n,
  revenuePercent: 100n,
  afterMs: hour,
  ...more,
});

/** A round of bumps. `stored` decides with which result each bump is stored. */
function roundOf(more: Partial<RoundParts>, stored: (wanted: WantedStore) => Txid | null) {
  return new BumpRound({
    policy: policyOf(),
    standing: {
      minRelayFeeRate: 100n,
      mempoolMinFeeRate: 100n,
      incrementalFeeRate: 100n,
      estimate: 20_000n,
      cluster: { count: 25, virtualBytes: 101_000 },
    },
    now,
    parents: [],
    live: [],
    costs: { spent: [], families: [], revenue: 1_000_000n },
    scriptOf: () => script,
    isInMempool: async () => true,
    freeCoins: async () => [],
    freeSats: async () => ({ free: 1_000_000n, reserved: 0n }),
    isUnspent: async () => true,
    store: async (wanted) => stored(wanted),
    log: noLog as never,
    ...more,
  });
}

/** A bump that was made hours ago for some parents. */
function liveBump(place: number, parents: readonly FoundParent[], fee: number): LiveBump {
  return {
    txid: txidOf(1000 + place),
    family: txidOf(1000 + place),
    plan: {
      inputs: parents.map(({ id }) => ({ outpoint: `${id}:1`, value: 100_000, script: '', keyIndex: 3 })),
      outputs: [],
    },
    fee,
    virtualBytes: 111,
    ownIndex: 3,
    madeAt: new Date(now.getTime() - 2 * hour),
    sentAt: null,
    refusal: null,
    parents: parents.map(({ overdue }) => overdue.txid),
  };
}

test('an order costs no more than its budget, however many bumps a round makes', async () => {
  const given = fc.record({
    order: fc.constantFrom('a', 'b', 'c'),
    isHeld: fc.boolean(),
    wantedRate: fc.bigInt({ min: 2000n, max: 60_000n }),
    live: fc.option(fc.integer({ min: 20, max: 4000 }), { nil: null, freq: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(given, { minLength: 1, maxLength: 40 }),
      fc.bigInt({ min: 500n, max: 20_000n }),
      fc.record({
        dayMaxSats: fc.bigInt({ min: 0n, max: 60_000n }),
        revenue: fc.bigInt({ min: -1000n, max: 1000n }),
        revenuePercent: fc.bigInt({ min: 0n, max: 100n }),
        earned: fc.bigInt({ min: -10n, max: 8000n }),
        isOfToday: fc.boolean(),
      }),
      async (all, maxSats, { dayMaxSats, revenue, revenuePercent, earned, isOfToday }) => {
        const parents = all.map(({ order, isHeld, wantedRate }, place) => ({
          ...parent(place, order, { wantedRate, ...(isHeld ? {} : { mempool: null }) }),
          overdue: { ...parent(place, order).overdue, earned },
        }));
        const live = all.flatMap(({ live: fee }, place) =>
          fee === null ? [] : [liveBump(place, [parents[place]!], fee)],
        );
        // the largest fee of each family, by order
        const costs = new Map<string, Map<string, bigint>>();
        const bear = (order: string, family: Txid, fee: bigint): void => {
          const families = costs.get(order) ?? new Map<string, bigint>();
          const before = families.get(displayHash(family)) ?? 0n;
          costs.set(order, families.set(displayHash(family), fee > before ? fee : before));
        };
        const total = (order: string): bigint =>
          [...(costs.get(order)?.values() ?? [])].reduce((sum, fee) => sum + fee, 0n);
        const spent = live.map(({ family, fee }, index) => {
          const { order } = all.filter((each) => each.live !== null)[index]!;
          bear(order, family, BigInt(fee));
          return { orderId: order, family, fee: BigInt(fee) };
        });
        const before = new Map(['a', 'b', 'c'].map((order) => [order, total(order)]));
        let made = 0;
        const families = live.map(({ family, fee }) => ({ family, fee: BigInt(fee), isOfToday }));
        const costOf = new Map(families.map(({ family, fee }) => [displayHash(family) as string, fee]));
        const sum = (fees: Iterable<bigint>): bigint => [...fees].reduce((of, fee) => of + fee, 0n);
        const allBefore = sum(costOf.values());
        const ofToday = new Set(isOfToday ? costOf.keys() : []);
        const policy = policyOf({ maxSats, dayMaxSats, revenuePercent });
        const round = roundOf({ policy, parents, live, costs: { spent, families, revenue } }, (wanted) => {
          const family = wanted.replaced?.family ?? txidOf(5000 + made++);
          for (const [order, fee] of wanted.planned.shares) bear(order, family, fee);
          const key = displayHash(family);
          costOf.set(key, largest(costOf.get(key) ?? 0n, sum(wanted.planned.shares.values())));
          ofToday.add(key);
          return family;
        });
        await round.make();
        const most = smallest(maxSats, boundByEarned(earned));
        for (const [order, cost] of before) expect(total(order)).toBeLessThanOrEqual(largest(cost, most));
        expect(sum(costOf.values())).toBeLessThanOrEqual(largest(allBefore, boundByRevenue(revenue, policy)));
        const today = sum([...costOf].filter(([key]) => ofToday.has(key)).map(([, fee]) => fee));
        // the day on which a replacement is made counts the costs of its complete family
        expect(today).toBeLessThanOrEqual(largest(dayMaxSats, isOfToday ? allBefore : 0n));
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});

test('an error of one order is noted, and stops no other bump', async () => {
  const parents = [parent(0, 'bad', { mempool: null }), parent(1, 'good', { mempool: null })];
  const stored: string[] = [];
  const round = roundOf({ parents }, (wanted) => {
    const [{ orderId } = { orderId: '' }] = wanted.parents;
    if (orderId === 'bad') throw new AppError('plan_refused', 'The wallet does not sign it.');
    stored.push(orderId);
    return txidOf(7);
  });
  await round.make();
  expect(stored).toEqual(['good']);
  expect([...round.stuck]).toEqual([
    ['bad', 'The transaction that would pay for the stuck one cannot be made: The wallet does not sign it.'],
  ]);
});

test.each([
  ['day', { dayMaxSats: 50n }, 1_000_000n, 100_000n, /50 sats in a day \(ORDER_BUMP_DAY_MAX_SATS\)/u],
  ['revenue', { revenuePercent: 0n }, 0n, 100_000n, /100000 sats in 30 days, a share of their revenue/u],
  ['earned', {}, 1_000_000n, -660n, /the limit is 2000 sats for an order that earns this little/u],
  [
    'order',
    { maxSats: 60n },
    1_000_000n,
    100_000n,
    /the limit of an order is 60 sats \(ORDER_BUMP_MAX_SATS\)/u,
  ],
] as const)(
  'an order that the budget of the %s leaves without a bump names that budget',
  async (_, policy, revenue, earned, why) => {
    const poor = parent(0, 'a', { wantedRate: 60_000n });
    const families = [{ family: txidOf(9), fee: 99_990n, isOfToday: false }];
    const round = roundOf(
      {
        policy: policyOf(policy),
        parents: [{ ...poor, overdue: { ...poor.overdue, earned } }],
        costs: { spent: [], families, revenue },
      },
      () => txidOf(7),
    );
    await round.make();
    expect(round.stuck.get('a')).toMatch(why);
  },
);

test('coins that another wallet has spent are left out', async () => {
  const coins = [0, 1, 2].map((place) => ({
    ...parent(100 + place, 'none').output,
    value: 30_000n + BigInt(place),
  }));
  const poor = parent(0, 'a');
  const used: (readonly object[])[] = [];
  const round = roundOf(
    {
      parents: [{ ...poor, output: { ...poor.output, value: 400n } }],
      freeCoins: async () => coins,
      isUnspent: async (coin) => coin === coins[2],
    },
    ({ planned }) => {
      used.push(planned.coins);
      return txidOf(7);
    },
  );
  await round.make();
  expect(used).toEqual([[coins[2]]]);
});

test('all bumps of a round together keep what is owed to partners, and say so', async () => {
  const coins = [0, 1, 2].map((place) => ({ ...parent(100 + place, 'none').output, value: 30_000n }));
  const poor = (place: number, orderId: string): FoundParent => {
    const made = parent(place, orderId, { mempool: null });
    return { ...made, output: { ...made.output, value: 400n } };
  };
  let free = 90_000n;
  const costs: bigint[] = [];
  const round = roundOf(
    {
      parents: ['a', 'b', 'c', 'd'].map((id, place) => poor(place, id)),
      freeCoins: async () => coins,
      freeSats: async () => ({ free: 90_000n, reserved: 45_000n }),
    },
    ({ planned }) => {
      free -= valueOf(planned.coins);
      costs.push(planned.fee);
      return txidOf(7000 + costs.length);
    },
  );
  await round.make();
  // the rest of a coin counts only after it is in a block, so the other orders have only their own outputs
  expect(costs).toEqual([9080n, 9080n, 70n, 70n]);
  expect(free).toBe(30_000n);
  expect([...round.heldBack]).toEqual(['c', 'd']);
  expect(round.stuck.get('c')).toBe(
    'The transaction is not in the mempool, the wanted rate is 20.0 sat/vB, and free coins have 30000 sats, but 45000 are reserved for partners and payouts; satscribe wallet fund shows an address to send coins to.',
  );
});

test.each(['node_unreachable', 'postgres_lost'] as const)('a round ends with %s', async (code) => {
  const round = roundOf({ parents: [parent(0, 'a')] }, () => {
    throw new AppError(code, 'no answer');
  });
  await expect(round.make()).rejects.toMatchObject({ code });
});
