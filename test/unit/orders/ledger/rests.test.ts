import { describe, expect, test } from 'vitest';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { restsOf } from '#orders/ledger/settlements.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';

const made = (
  fill: number,
  kind: OrderTransaction['kind'],
  inputs: readonly (readonly [from: number, vout: number, value: number])[],
  outputs: readonly (readonly [kind: StoredPlan['outputs'][number]['kind'], value: number])[],
): OrderTransaction => ({
  txid: trustedTxid(new Uint8Array(32).fill(fill)),
  kind,
  index: 0,
  files: 0,
  plan: {
    inputs: inputs.map(([from, vout, value]) => ({
      outpoint: `${displayHash(new Uint8Array(32).fill(from))}:${vout}`,
      value,
    })),
    outputs: outputs.map(([of, value]) => ({ kind: of, value, script: '' })),
  },
  fee: 0,
  height: null,
  madeAt: new Date(0),
  sentAt: null,
  refusal: null,
});
const reveal = made(1, 'reveal', [[90, 0, 4000]], [['service', 3000]]);

describe('the rest of an order’s money', () => {
  test('is reduced by what returns took from us: fees, and missing sats of deposits', () => {
    const first = made(
      2,
      'return',
      [
        [91, 0, 330],
        [1, 0, 3000],
      ],
      [
        ['parent', 546],
        ['change', 2500],
      ],
    );
    const second = made(
      3,
      'return',
      [
        [92, 0, 900],
        [2, 1, 2500],
      ],
      [
        ['parent', 900],
        ['change', 2200],
      ],
    );
    expect(restsOf([reveal, first, second]).ourCost).toBe(800n);
  });

  test('is not reduced by returns that a customer paid for', () => {
    const home = made(
      2,
      'return',
      [
        [91, 0, 900],
        [92, 0, 700],
      ],
      [['parent', 900]],
    );
    expect(restsOf([reveal, home]).ourCost).toBe(0n);
  });
});
