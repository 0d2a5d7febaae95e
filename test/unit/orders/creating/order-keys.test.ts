import { expect, test } from 'vitest';
import { orderKeys } from '#orders/creating/order-keys.ts';
import { layoutOrder } from '#orders/inscribing/order-layout.ts';
import { orderTerms, textTerms } from '#test/builders/order-terms.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { testWallet } from '#test/support/wallet/plans.ts';

const reveals = 6;
const noLeases = {
  take: () => Promise.reject(new Error('no index is taken here')),
  confirm: () => Promise.reject(new Error('no index is used here')),
};

test('addresses of an order of several reveals are proven in turns of the event loop', async () => {
  const files = Array.from({ length: reveals }, () => textTerms(Buffer.from('one')));
  const terms = orderTerms(files, [scriptOf(700)], { uncurse: true });
  const layout = layoutOrder(terms, { amount: 10_000n, size: { percent: 0 } });
  if (layout.kind === 'refused') throw new Error(layout.reason);
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const charge = await orderKeys(testWallet('regtest').wallet, noLeases).charge(0, { terms, layout });
  isDone = true;
  expect(charge.leaves).toHaveLength(reveals);
  expect(turns).toBeGreaterThanOrEqual(reveals - 1);
});
