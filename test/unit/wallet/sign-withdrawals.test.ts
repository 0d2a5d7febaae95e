import { describe, expect, test } from 'vitest';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { inputOf, orderLeaf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';

const { wallet, signer } = testWallet();
const foreign = Uint8Array.of(0, 20, ...new Uint8Array(20).fill(9));

const at = (branch: 0 | 1 | 3): PlannedInput =>
  inputOf(wallet, branch, { key: { branch, index: 4 }, leafScript: null, value: 5_000n, path: 'key' });
const own = { key: { branch: 1, index: 8 } as const, leafScript: null };
const change: PlannedOutput = { kind: 'change', script: wallet.addressOf(own).script, value: 4_000n, own };
const paid: PlannedOutput = { kind: 'withdrawal', script: foreign, value: 5_000n };

/** A batch that spends outputs of a token charge and of a fee charge, and the change of an earlier batch. */
const plan: TransactionPlan = {
  version: 2,
  lockTime: 0,
  inputs: [at(0), at(3), at(1)],
  outputs: [change, paid, paid],
  feeMax: 1_000n,
};

const refusalOf = (made: TransactionPlan): string => {
  try {
    signer.signPlan(made, plainInputs(made));
  } catch (error) {
    expect(error).toMatchObject({ code: 'plan_refused' });
    return (error as Error).message;
  }
  throw new Error('the plan was signed');
};

const ofOrder = inputOf(wallet, 2, {
  key: { branch: 0, index: 5 },
  leafScript: orderLeaf(wallet, 5),
  value: 5_000n,
  path: 'key',
});
const joins = { ...plan, outputs: [{ ...change, value: 14_000n }] };

describe('a plan that joins coins', () => {
  test('is signed for coins of accounts', () => {
    expect(signer.signPlan(joins, plainInputs(joins)).fee).toBe(1_000n);
    const both = { ...joins, outputs: [change, { ...change, value: 10_000n }] };
    expect(signer.signPlan(both, plainInputs(both)).fee).toBe(1_000n);
  });

  const third = { ...change, value: 4_800n };
  const elsewhere = { key: { branch: 0, index: 8 } as const, leafScript: null };
  const away = { kind: 'change', script: wallet.addressOf(elsewhere).script, own: elsewhere } as const;
  test.each<[string, Partial<TransactionPlan>, RegExp]>([
    ['spends an order', { inputs: [at(0), at(3), ofOrder] }, /input 2 is neither from a charge nor/u],
    ['keeps three changes', { outputs: [third, third, third] }, /not in two outputs/u],
    ['keeps one at a key of orders', { outputs: [{ ...away, value: 14_000n }] }, /not in two outputs/u],
    ['pays a higher fee', { outputs: [change] }, /its own maximum of 1000/u],
  ])('is refused if it %s', (_, changed, words) => {
    expect(refusalOf({ ...joins, ...changed })).toMatch(words);
  });
});

describe('a plan of withdrawals', () => {
  test('is signed for coins of accounts', () => {
    expect(signer.signPlan(plan, plainInputs(plan)).fee).toBe(1_000n);
    const both = {
      ...plan,
      outputs: [{ ...change, value: 2_000n }, { ...change, value: 2_000n }, paid, paid],
    };
    expect(signer.signPlan(both, plainInputs(both)).fee).toBe(1_000n);
  });

  const third = { ...change, value: 1_000n };
  test.each<[string, Partial<TransactionPlan>, RegExp]>([
    ['spends an order', { inputs: [at(0), at(3), ofOrder] }, /input 2 is neither from a charge nor/u],
    ['keeps three changes', { outputs: [third, third, third, paid, paid] }, /not in two outputs/u],
    ['refunds', { outputs: [change, paid, { ...paid, kind: 'refund' }] }, /not in two outputs/u],
    [
      'pays itself',
      { outputs: [change, { ...paid, script: change.script }, paid] },
      /the script of a withdrawal/u,
    ],
    [
      'pays dust',
      { outputs: [change, { ...paid, value: 293n }, paid], feeMax: 10_000n },
      /the script of a withdrawal/u,
    ],
    ['pays a higher fee', { outputs: [change, paid] }, /its own maximum of 1000/u],
  ])('is refused if it %s', (_, changed, words) => {
    expect(refusalOf({ ...plan, ...changed })).toMatch(words);
  });
});
