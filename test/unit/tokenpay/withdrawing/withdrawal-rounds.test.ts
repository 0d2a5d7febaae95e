import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { formatRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { namedRuns } from '#test/support/property-runs.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import { quoteWithdrawal } from '#tokenpay/withdrawing/planning/quote-withdrawal.ts';
import type {
  PricedWithdrawal,
  WithdrawalCoin,
  WithdrawalPlan,
  WithdrawalPrice,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import {
  batchOf,
  changeScript,
  coin,
  coinsOf,
  limits,
  modelOf,
  receivers,
  runeId,
  runeIds,
  unitsOf,
} from './withdrawal-wallet.ts';

const accounts = ['a', 'b', 'c'];
/** The service's part of a fee charge, in sats. */
const baseFee = 200n;
const rules = { change: changeScript, limits: { ...limits, inputsMax: 500 } };

type Open = PricedWithdrawal & { readonly price: WithdrawalPrice };

/** Shops with all of their credits. Their withdrawals are planned in rounds. */
class Shops {
  coins: WithdrawalCoin[];
  open: Open[] = [];
  /** Units by account and asset. */
  readonly balances = new Map<string, bigint>();
  operator = 0n;
  batches = 0;
  readonly #feeRate: bigint;

  constructor(credited: readonly WithdrawalCoin[], feeRate: bigint) {
    this.coins = [...credited];
    this.#feeRate = feeRate;
    for (const { owner, value, key, runes } of credited) {
      const revenue = key.branch === 3 ? baseFee : 0n;
      this.operator += revenue;
      this.#add(owner!, 'sats', value - revenue);
      for (const { id, amount } of runes) this.#add(owner!, formatRuneId(id), BigInt(amount));
    }
  }

  ask(account: string, rune: number | null, part: number): void {
    const id = rune === null ? null : runeId(rune);
    const asset = id === null ? 'sats' : formatRuneId(id);
    const units = (this.balance(account, asset) * BigInt(part)) / 100n;
    const asked = {
      id: `w${this.batches}-${this.open.length}`,
      account,
      rune: id,
      units,
      script: receivers.p2tr,
    };
    const price = quoteWithdrawal({
      ...rules,
      asked,
      before: this.open.filter((each) => each.account === account),
      isOwnOnly: false,
      coins: this.coins,
      feePayer: 'account',
      balance: this.balance(account, 'sats'),
      debtMax: 1000n,
      feeRate: this.#feeRate,
    });
    if (price.kind === 'refused') return;
    if (id !== null) this.#add(account, asset, -units);
    this.#add(account, 'sats', -price.fromBalance);
    this.open.push({ ...asked, sats: price.sats, price });
  }

  /** Sends a batch. Its change outputs are in a block before the next batch. */
  send(): void {
    const { plan, waiting, refused } = planWithdrawals(
      batchOf(this.open, this.coins, { ...rules, feeRate: this.#feeRate }),
    );
    expect(refused).toEqual([]);
    // all units of a balance are in coins that the balance's account may spend
    expect(waiting.filter(({ wait }) => wait.code === 'coins' && wait.asset === 'units')).toEqual([]);
    if (plan === null) return;
    this.batches++;
    const isPaid = new Set(plan.outputs.map(({ withdrawal }) => withdrawal));
    const paid = this.open.filter(({ id }) => isPaid.has(id));
    const charged = paid.reduce((sum, { price }) => sum + price.fee, 0n);
    this.operator += charged - plan.fee;
    this.open = this.open.filter(({ id }) => !isPaid.has(id));
    this.coins = [...this.coins.filter((each) => !plan.inputs.includes(each)), ...this.#changesOf(plan)];
  }

  balance(account: string, asset: string): bigint {
    return this.balances.get(`${account} ${asset}`) ?? 0n;
  }

  #add(account: string, asset: string, amount: bigint): void {
    this.balances.set(`${account} ${asset}`, this.balance(account, asset) + amount);
  }

  #changesOf(plan: WithdrawalPlan): WithdrawalCoin[] {
    const { outputs } = modelOf(plan);
    return plan.outputs.flatMap(({ kind, value, script }, vout) =>
      kind !== 'change'
        ? []
        : {
            txid: trustedTxid(createHash('sha256').update(`batch ${this.batches}`).digest()),
            vout,
            value,
            script,
            key: { branch: 1, index: this.batches },
            owner: null,
            runes: [...outputs[vout]!].map(([id, amount]) => ({
              id: parseRuneId(id)!,
              amount: asU128(amount),
            })),
          },
    );
  }
}

/** Checks for each asset that the coins hold the balances of the accounts and of the operator. */
function expectCovered({ coins, balances, open, operator }: Shops): void {
  for (const id of runeIds) {
    const owed = [...balances].reduce(
      (sum, [key, units]) => (key.endsWith(` ${formatRuneId(id)}`) ? sum + units : sum),
      0n,
    );
    const reserved = open.reduce((sum, { rune, units }) => (rune === id ? sum + units : sum), 0n);
    expect(unitsOf(coins, id)).toBe(owed + reserved);
  }
  const owed = [...balances].reduce((sum, [key, sats]) => (key.endsWith(' sats') ? sum + sats : sum), 0n);
  const reserved = open.reduce((sum, { price: { sats, fee } }) => sum + sats + fee, 0n);
  expect(unitsOf(coins, null)).toBe(owed + reserved + operator);
}

const steps = fc.array(
  fc.record({
    account: fc.constantFrom(...accounts),
    rune: fc.option(fc.nat({ max: 3 }), { freq: 3 }),
    part: fc.constantFrom(1, 30, 50, 100, 100),
    isSent: fc.boolean(),
  }),
  { minLength: 4, maxLength: 14 },
);

test('withdrawals of many rounds take the same from coins as from balances, and units are always available', () => {
  let batches = 0;
  fc.assert(
    fc.property(
      fc.array(coin, { minLength: 2, maxLength: 12 }),
      fc.integer({ min: 100, max: 20_000 }),
      steps,
      (parts, feeRate, all) => {
        const credited = coinsOf(parts.map((each) => ({ ...each, owner: each.owner ?? 'a' })));
        const shops = new Shops(credited, BigInt(feeRate));
        for (const { account, rune, part, isSent } of all) {
          shops.ask(account, rune, part);
          if (!isSent) continue;
          shops.send();
          expectCovered(shops);
        }
        // the last round withdraws complete balances
        for (const account of accounts) for (const rune of [0, 1, 2, 3]) shops.ask(account, rune, 100);
        shops.send();
        expectCovered(shops);
        batches += shops.batches;
      },
    ),
    { numRuns: namedRuns(40, 1000) },
  );
  expect(batches).toBeGreaterThan(8);
});
