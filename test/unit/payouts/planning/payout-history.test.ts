import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smallest } from '#kernel/bitcoin/amount.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { type PayoutShare, recipientsOf, satsOf } from '#payouts/payout/payout.ts';
import { partnerStandings, payoutsOf } from '#payouts/planning/payable.ts';
import { type PayoutCoin, planPayout } from '#payouts/planning/plan-payout.ts';
import { revenueShares, revenueSum } from '#payouts/planning/revenue.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const scriptOf = (place: number): Uint8Array =>
  Buffer.from(`5120${place.toString(16).padStart(64, '0')}`, 'hex');
const rest = { script: scriptOf(999), own: { key: { branch: 1, index: 7 } as const, leafScript: null } };
const rules = { mempoolMinFeeRate: 100n, incrementalFeeRate: 100n };

/** A ledger and coins, as deliveries, bumps, payouts and revenue leave them. */
class Purse {
  coins: PayoutCoin[] = [];
  service = 0n;
  operator = 0n;
  readonly earned = new Map<number, bigint>();
  readonly paid = new Map<number, bigint>();
  #made = 0;

  get owed(): bigint {
    return [...this.earned].reduce((sum, [code, sats]) => sum + sats - (this.paid.get(code) ?? 0n), 0n);
  }

  get held(): bigint {
    return this.coins.reduce((sum, { value }) => sum + value, 0n);
  }

  add(value: bigint): void {
    const place = this.#made++;
    const txid = trustedTxid(Buffer.from(place.toString(16).padStart(64, '0'), 'hex'));
    this.coins.push({ txid, vout: 0, value, script: scriptOf(998), keyIndex: 3 });
  }

  deliver(code: number, revenue: bigint, share: bigint): void {
    this.add(revenue + share);
    this.service += revenue;
    this.earned.set(code, (this.earned.get(code) ?? 0n) + share);
  }

  /** Pays for stuck orders with the service's sats. */
  bump(most: bigint): void {
    const [coin, ...others] = this.coins;
    const fee = smallest(most, this.held - this.owed, (coin?.value ?? 0n) - 330n);
    if (coin === undefined || fee <= 0n) return;
    this.coins = others;
    this.add(coin.value - fee);
    this.operator -= fee;
  }

  pay(feeRate: bigint): void {
    const standings = partnerStandings(
      [...this.earned].map(([code, earned]) => ({
        account: code % 2 === 0 ? 'referral' : 'creator',
        owner: `partner ${code}`,
        address: `address ${code}`,
        script: scriptOf(code),
        earned,
        deep: earned,
        paid: this.paid.get(code) ?? 0n,
        open: 0n,
      })),
    );
    for (const { shares } of payoutsOf(standings, 2)) {
      if (!this.#spend(shares, feeRate)) continue;
      for (const { owner, sats } of shares) {
        const code = Number(owner?.slice('partner '.length));
        this.paid.set(code, (this.paid.get(code) ?? 0n) + sats);
      }
    }
  }

  /** Takes all revenue that may be taken. The fee rate has at most doubled since it was computed. */
  take(feeRate: bigint, laterRate: bigint): boolean {
    const facts = {
      service: this.service,
      operator: this.operator,
      open: { service: 0n, operator: 0n },
      unsigned: 0n,
      coins: this.coins.map(({ value }) => value),
      owed: this.owed,
      feeRate,
    };
    const { takeable } = revenueSum(facts);
    if (takeable < 330n) return true;
    const shares = revenueShares(takeable, facts, { script: scriptOf(997), address: 'an address' });
    if (!this.#spend(shares, laterRate)) return false;
    for (const { account, sats } of shares) {
      if (account === 'service') this.service -= sats;
      else this.operator -= sats;
    }
    return true;
  }

  /** Stores a plan like the process with the seed. Refuses it if the remaining coins would not cover the debt. */
  #spend(shares: readonly PayoutShare[], feeRate: bigint): boolean {
    const coins = this.coins.toSorted((a, b) => Number(b.value - a.value));
    const planned = planPayout(
      { recipients: recipientsOf(shares), kept: [], replaced: null, feeRate },
      coins,
      rest,
      rules,
    );
    if (planned.kind === 'none') return false;
    const toPartners = satsOf(shares.filter(({ owner }) => owner !== null));
    if (this.held - satsOf(shares) - planned.fee < this.owed - toPartners) return false;
    this.coins = coins.filter((coin) => !planned.spent.includes(coin));
    this.add(planned.plan.outputs[0]!.value);
    this.operator -= planned.fee;
    return true;
  }
}

const rate = fc.bigInt(1000n, 20_000n);
const step = fc.oneof(
  fc.record({
    kind: fc.constant('deliver' as const),
    code: fc.integer({ min: 1, max: 4 }),
    revenue: fc.bigInt(330n, 30_000n),
    share: fc.bigInt(0n, 3000n),
  }),
  fc.record({ kind: fc.constant('bump' as const), most: fc.bigInt(1n, 5000n) }),
  fc.record({ kind: fc.constant('pay' as const), rate }),
  fc.record({ kind: fc.constant('take' as const), rate, percent: fc.bigInt(50n, 200n) }),
);

test('coins cover the debt to partners after any history, each is paid once, and revenue can always be sent', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const purse = new Purse();
      for (const each of steps) {
        if (each.kind === 'deliver') purse.deliver(each.code, each.revenue, each.share);
        else if (each.kind === 'bump') purse.bump(each.most);
        else if (each.kind === 'pay') purse.pay(each.rate);
        else expect(purse.take(each.rate, (each.rate * each.percent) / 100n)).toBe(true);
        expect(purse.held).toBeGreaterThanOrEqual(purse.owed);
        // the ledger and the coins have the same sum
        expect(purse.held).toBe(purse.owed + purse.service + purse.operator);
        for (const [code, sats] of purse.paid) expect(sats).toBeLessThanOrEqual(purse.earned.get(code) ?? 0n);
      }
    }),
    { numRuns: propertyRuns(200) },
  );
});
