import { expect, test } from 'vitest';
import type { PlannedOutputKind } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { placeOf } from '#orders/customers/tell-customer.ts';
import { moneyOfFiles, refundedFiles } from '#orders/ledger/lost-files.ts';
import { sharesOf } from '#orders/ledger/partner-shares.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';

const txidOf = (byte: number) => trustedTxid(new Uint8Array(32).fill(byte));
const terms = {
  inventory: [1, 2, 3].map(() => ({ value: '10000', place: '0' })),
} as unknown as Order['terms'];

function made(
  byte: number,
  kind: OrderTransaction['kind'],
  inputs: readonly string[],
  outputs: readonly (readonly [PlannedOutputKind, number])[],
  index = 0,
): OrderTransaction {
  return {
    txid: txidOf(byte),
    kind,
    index,
    files: kind === 'reveal' ? 1 : 0,
    plan: {
      inputs: inputs.map((outpoint) => ({ outpoint, value: 1_000 })),
      outputs: outputs.map(([of, value]) => ({ kind: of, value, script: `51${value}` })),
    },
    fee: 0,
    height: null,
    madeAt: new Date(0),
    sentAt: null,
    refusal: null,
  };
}

const at = (byte: number, vout: number): string => `${displayHash(txidOf(byte))}:${vout}`;
const commit = made(
  9,
  'commit',
  [at(1, 0)],
  [
    ['commit', 4000],
    ['commit', 3000],
    ['commit', 2000],
    ['change', 1000],
  ],
);
const reveals = [0, 1, 2].map((file) =>
  made(20 + file, 'reveal', [at(50, file), at(9, file)], [['postage', 546]], file),
);

test('the money of a file is the commit’s output for its reveal, only for orders of the inventory', () => {
  expect(moneyOfFiles(terms, [commit, ...reveals])).toEqual(
    [4000n, 3000n, 2000n].map((value, file) => ({
      file,
      txid: txidOf(9),
      vout: file,
      value,
      owed: value,
      at: 'commit',
      commitScript: `51${value}`,
    })),
  );
  expect(moneyOfFiles({} as Order['terms'], [commit, ...reveals])).toEqual([]);
  expect(moneyOfFiles(terms, reveals)).toEqual([]);
  const two = { inventory: [1, 2].map(() => ({ value: '1', place: '0' })) } as unknown as Order['terms'];
  expect(() => moneyOfFiles(two, [commit])).toThrow(/an output for each sat of the inventory/u);
});

test('a file is refunded once a refund spends its money, and nothing else does', () => {
  const refund = made(30, 'refund', [at(9, 1)], [['refund', 2800]]);
  const others = [reveals[0]!, reveals[2]!];
  expect(refundedFiles(terms, [commit, ...reveals])).toEqual([]);
  expect(refundedFiles(terms, [commit, ...others, refund])).toEqual([1]);
  expect(refundedFiles(terms, [commit, ...others, { ...refund, kind: 'return' }])).toEqual([]);
  expect(refundedFiles({} as Order['terms'], [commit, refund])).toEqual([]);
});

test('each file keeps its own reveal if one was given up alone', () => {
  const placed = (left: readonly OrderTransaction[]) =>
    [0, 1, 2, 3].map((file) => placeOf(file, left)?.inscription.slice(0, 2) ?? null);
  expect(placed(reveals)).toEqual(['14', '15', '16', null]);
  expect(placed(reveals.slice(1))).toEqual([null, '15', '16', null]);
  expect(placed([reveals[0]!, reveals[2]!])).toEqual(['14', null, '16', null]);
  expect(placed(reveals.slice(0, 2))).toEqual(['14', '15', null, null]);
  // each reveal has several files
  const many = [
    { ...reveals[0]!, files: 2 },
    { ...reveals[1]!, files: 2 },
  ];
  expect([0, 1, 2, 3, 4].map((file) => placeOf(file, many)?.inscription.slice(-2) ?? null)).toEqual([
    'i0',
    'i1',
    'i0',
    'i1',
    null,
  ]);
});

test('a partner gets no share for refunded files', () => {
  const order = {
    request: { referral: 'friend' },
    terms: { files: [{}, {}, {}] },
    quote: { additionalFeeCharged: 1500, referralFee: 300 },
  } as unknown as Order;
  const share = { account: 'referral', owner: 'friend', commission: 300n };
  expect(sharesOf(order, 0)).toEqual([{ ...share, additional: 1500n }]);
  expect(sharesOf(order, 1)).toEqual([{ ...share, additional: 1000n }]);
  expect(sharesOf({ ...order, request: { ...order.request, referral: null } }, 1)).toEqual([]);
  // the additional fee of an etching without files is charged once, that of mints for each mint
  const etching = { ...order, terms: { files: [], etching: {} } } as unknown as Order;
  expect(sharesOf(etching, 0)).toEqual([{ ...share, additional: 1500n }]);
  const mints = { ...order, terms: { files: [], mint: { count: 1000 } } } as unknown as Order;
  expect(sharesOf(mints, 250)).toEqual([{ ...share, additional: 1125n }]);
});
