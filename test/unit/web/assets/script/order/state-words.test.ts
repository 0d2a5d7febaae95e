import { expect, test } from 'vitest';
import { orderStates } from '#orders/order/order-machine.ts';
import type { Order } from '#web/assets/script/order/order-shapes.js';
import { askedSats, canCancel, isPayable, stepsOf, told } from '#web/assets/script/order/state-words.js';

const now = 1_764_000_000_000;
const order: Order = {
  id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
  state: 'waiting-payment',
  orderType: 'direct',
  createdAt: now - 1000,
  expiresAt: now + 3_600_000,
  charge: { address: 'bcrt1pcharge', amount: 3456 },
  psbt: { path: '/create-special-sats-psbt', body: { chargeAmount: 3456, feeRate: 2 } },
  files: [{ name: 'a.txt', inscriptionId: `${'ab'.repeat(32)}i0` }, { name: 'b.txt' }],
};
const textOf = (more: Partial<Order>, at = now): string => {
  const { title, words } = told({ ...order, ...more }, at);
  return [title, ...words].join(' ');
};

test.each(orderStates)(
  'an order that is %s is described in words, with and without a refund address',
  (state) => {
    for (const more of [{}, { refundAddress: 'bcrt1qrefund' }]) {
      const { title, words } = told({ ...order, ...more, state }, now);
      expect(title).toMatch(/\w/u);
      for (const each of words) expect(each).toMatch(/^[A-Z].*[.:]$/su);
    }
  },
);

test('an amount to pay is named', () => {
  expect(textOf({})).toMatch(/Send exactly 3,456 sats to the address below/u);
  const partly = { missing: 1200, psbt: { ...order.psbt!, body: { chargeAmount: 1200, feeRate: 2 } } };
  expect(textOf({ underpaid: true, ...partly })).toMatch(/1,200 sats are missing .*same address/u);
  const repriced = { amount: 900, before: 3456, from: 2, to: 9, fee: 9, until: now + 86_400_000 };
  const psbt = { ...order.psbt!, body: { chargeAmount: 900, feeRate: 2 } };
  const raised = textOf({ missing: 900, repriced, psbt, charge: { ...order.charge, amount: 4356 } });
  expect(raised).toMatch(
    /^Fees rose: 900 sats more .*9 sat\/vB instead of 2\. .*4,356 sats instead of 3,456 sats/u,
  );
  expect(raised).toMatch(/or cancel the order/u);
  expect(textOf({ state: 'waiting-parent', parents: [{ inscriptionId: 'x', depositAddress: 'y' }] })).toMatch(
    /^Waiting for the parent .*deposit address/u,
  );
});

test('a closed order asks no one to pay, whatever the clock of the browser says', () => {
  const { psbt: _, ...closed } = order;
  const shown = (more: Partial<Order>, at = now): string => {
    const { title, words } = told({ ...closed, ...more }, at);
    return [title, ...words].join(' ');
  };
  expect(shown({}, order.expiresAt)).toMatch(/^The time to pay is over .*Do not pay this order/u);
  expect(shown({})).toMatch(/^The order accepts no more payments .*Do not pay this order/u);
  expect(shown({ state: 'waiting-parent' })).toMatch(/Do not pay this order/u);
  expect(shown({ received: 3456 })).toMatch(/^Payment seen/u);
  expect([isPayable(closed), isPayable(order)]).toEqual([false, true]);
  expect(textOf({}, order.expiresAt + 1)).toMatch(/^Waiting for your payment/u);
  for (const state of ['expired', 'cancelled'] as const)
    expect(textOf({ state, refundAddress: 'bcrt1qrefund' })).toMatch(
      /Do not pay this order: a payment is only refunded/u,
    );
});

test('one inscription is described in the singular, and several in the plural', () => {
  const [sent, waiting] = [order.files[0]!, order.files[1]!];
  expect(textOf({ state: 'queued', files: [waiting] })).toMatch(/^The inscription is being sent It waits/u);
  expect(textOf({ state: 'queued', files: [waiting, waiting] })).toMatch(
    /^The inscriptions are .*They wait/u,
  );
  expect(textOf({ state: 'completed', files: [sent] })).toMatch(/^1 inscription delivered It is in a block/u);
  expect(textOf({ state: 'completed' })).toMatch(/^2 inscriptions delivered They are in a block/u);
});

test('an overpayment is refunded only if an address is known', () => {
  const overpaid = { state: 'completed', overpaid: true } as const;
  expect(textOf(overpaid)).toMatch(/You paid more than the price\. The order has no refund address/u);
  expect(textOf({ ...overpaid, refundAddress: 'bcrt1qrefund' })).toMatch(
    /The rest is refunded\. It goes to bcrt1qrefund/u,
  );
});

test('a refund without an address says who decides, and an error its reason', () => {
  expect(textOf({ state: 'waiting-refund' })).toMatch(/no refund address: write to the operator/u);
  expect(textOf({ state: 'waiting-refund', refundAddress: 'bcrt1qrefund' })).toMatch(/goes to bcrt1qrefund/u);
  expect(textOf({ state: 'error', error: 'the sat is gone' })).toMatch(/Reason: the sat is gone/u);
});

test('steps lead from the order to the inscription, or nowhere', () => {
  const shown = (more: Partial<Order>) =>
    stepsOf({ ...order, ...more })
      ?.map(({ is }) => is[0])
      .join('') ?? null;
  expect(shown({})).toBe('dcaaa');
  expect(shown({ state: 'waiting-confirmation' })).toBe('ddcaa');
  expect(shown({ state: 'prep' })).toBe('dddca');
  expect(shown({ state: 'queued', files: [{ name: 'a.txt' }] })).toBe('dddca');
  expect(shown({ state: 'queued' })).toBe('ddddc');
  expect(shown({ state: 'completed' })).toBe('ddddd');
  expect(shown({ state: 'expired' })).toBeNull();
});

test('an order is cancelled before anything was paid, or after a rise of fees', () => {
  const repriced = { amount: 1, before: 1, from: 1, to: 2, fee: 2, until: now };
  expect(
    [{}, { underpaid: true }, { underpaid: true, repriced }, { state: 'prep' }].map((more) =>
      canCancel({ ...order, ...more } as Order),
    ),
  ).toEqual([true, false, true, false]);
});

test('an order that waits for a parent asks for sats only while some are missing', () => {
  const lent: Partial<Order> = {
    state: 'waiting-parent',
    parents: [{ inscriptionId: 'x', depositAddress: 'y' }],
    psbt: { path: '/create-parent-child-psbt', body: { orderId: order.id, feeRate: 2 } },
  };
  const asked = (more: Partial<Order>) => askedSats({ ...order, ...lent, ...more });
  expect([asked({}), asked({ received: 1000, missing: 2456 }), asked({ received: 3456 })]).toEqual([
    3456, 2456, 0,
  ]);
  expect(textOf({ ...lent, received: 3456 })).toMatch(/The payment has arrived\./u);
  expect(textOf(lent)).toMatch(/Also pay 3,456 sats to the address below\./u);
});
