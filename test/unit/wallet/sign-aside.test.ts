import { Transaction } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { withContents } from '#payouts/planning/whole-contents.ts';
import { inputOf, orderLeaf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';

const { wallet, signer } = testWallet();
const foreign = Uint8Array.of(0, 20, ...new Uint8Array(20).fill(9));

const charge = (branch: 0 | 3): PlannedInput =>
  inputOf(wallet, 0, { key: { branch, index: 4 }, leafScript: null, value: 5_000n, path: 'key' });
const coin = inputOf(wallet, 1, {
  key: { branch: 1, index: 7 },
  leafScript: null,
  value: 20_000n,
  path: 'key',
});
const sent: PlannedOutput = { kind: 'aside', script: foreign, value: 5_000n };
const own = { key: { branch: 1, index: 8 } as const, leafScript: null };
const change: PlannedOutput = { kind: 'change', script: wallet.addressOf(own).script, value: 19_000n, own };

/** A plan that returns an output of a token charge. */
const plan: TransactionPlan = {
  version: 2,
  lockTime: 0,
  inputs: [charge(0), coin],
  outputs: [sent, change],
  feeMax: 1_000n,
};

const refusalOf = (made: TransactionPlan, held: readonly Holdings[] = plainInputs(made)): string => {
  try {
    signer.signPlan(made, held);
  } catch (error) {
    expect(error).toMatchObject({ code: 'plan_refused' });
    return (error as Error).message;
  }
  throw new Error('the plan was signed');
};

describe('a plan that returns an output that was set aside', () => {
  test.each([0, 3] as const)('is signed for a charge of branch %i, and passes on its sats', (branch) => {
    const made = { ...plan, inputs: [charge(branch), coin] };
    const { bytes, fee } = signer.signPlan(made, plainInputs(made));
    const { outs } = Transaction.fromBuffer(Uint8Array.from(bytes));
    expect([fee, outs[0]!.value, Buffer.from(outs[0]!.script)]).toEqual([
      1_000n,
      5_000n,
      Buffer.from(foreign),
    ]);
  });

  const otherCoin = inputOf(wallet, 2, {
    key: { branch: 0, index: 5 },
    leafScript: orderLeaf(wallet, 5),
    value: 20_000n,
    path: 'key',
  });
  test.each<[string, Partial<TransactionPlan>, RegExp]>([
    ['spends a coin first', { inputs: [coin, charge(0)] }, /first input is not from a charge/u],
    ['spends no charge', { inputs: [coin] }, /first input is not from a charge/u],
    ['spends a leaf', { inputs: [otherCoin, coin] }, /first input is not from a charge/u],
    ['has the change first', { outputs: [change, sent] }, /not send all of the output/u],
    ['sends a sat less', { outputs: [{ ...sent, value: 4_999n }, change] }, /not send all of the output/u],
    ['sends a sat more', { outputs: [{ ...sent, value: 5_001n }, change] }, /not send all of the output/u],
    [
      'spends two charges',
      { inputs: [charge(0), { ...charge(3), vout: 9 }] },
      /input 1 is not of the service's own keys/u,
    ],
    ['spends an order', { inputs: [charge(0), otherCoin] }, /input 1 is not of the service's own keys/u],
    ['keeps nothing', { outputs: [sent] }, /its change is not one output/u],
    ['pays a stranger', { outputs: [sent, { ...sent, kind: 'refund' }] }, /its change is not one output/u],
    ['sends two', { outputs: [sent, sent, change] }, /its change is not one output/u],
    ['is a payout too', { outputs: [sent, { ...sent, kind: 'payout' }] }, /is a payout/u],
  ])('is refused if it %s', (_name, changed, rule) => {
    expect(refusalOf({ ...plan, ...changed })).toMatch(rule);
  });

  const rune = { id: { block: asU128(840_000n), tx: 3 }, amount: asU128(7n) };
  const held: Holdings = {
    ...nothingHeld,
    inscriptions: [{ id: `${'ab'.repeat(32)}i0`, offset: 4_999n }],
    runes: [rune],
  };
  test('takes inscriptions and runes along, and says where each goes', () => {
    const { holdings } = signer.signPlan(withContents(plan, held), [held, nothingHeld]);
    expect(holdings).toEqual([held, nothingHeld]);
    expect(refusalOf(plan, [held, nothingHeld])).toMatch(/inscription|rune/u);
    // a coin of the service may hold only sats
    expect(refusalOf(withContents(plan, held), [held, { ...nothingHeld, runes: [rune] }])).toMatch(/rune/u);
  });
});
