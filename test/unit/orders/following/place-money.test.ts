import { describe, expect, test } from 'vitest';
import { asBlockHash, displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { OrderBump } from '#orders/bumping/bump.store.ts';
import { type PlacedMoney, placeMoney } from '#orders/following/place-money.ts';
import type { OrderRecords } from '#orders/following/read-records.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { HeldPayment } from '#orders/parents/held-payments.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import { plainPayment } from '#test/builders/return-facts.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';

const txid = (byte: number): Txid => trustedTxid(Buffer.alloc(32, byte));
const outpoint = (byte: number, vout = 0): string => outpointOf({ txid: txid(byte), vout });
const tip = asHeight(100);

const paid = (byte: number, value: bigint, height: Height | null = asHeight(90)): WatchedPayment => ({
  txid: txid(byte),
  vout: 0,
  script: Buffer.alloc(34),
  value,
  firstSeen: new Date(0),
  block: height === null ? null : { height, hash: asBlockHash(Buffer.alloc(32, byte)) },
  goneAt: null,
  replacedBy: null,
  change: byte,
});

const plan = (
  inputs: readonly (readonly [from: number, vout: number, value: number])[],
  outputs: readonly (readonly [kind: StoredPlan['outputs'][number]['kind'], value: number])[],
): StoredPlan => ({
  inputs: inputs.map(([from, vout, value]) => ({ outpoint: outpoint(from, vout), value })),
  outputs: outputs.map(([kind, value]) => ({ kind, value, script: '' })),
});

const made = (byte: number, kind: OrderTransaction['kind'], stored: StoredPlan): OrderTransaction => ({
  txid: txid(byte),
  kind,
  index: 0,
  files: 0,
  plan: stored,
  fee: 0,
  height: null,
  madeAt: new Date(0),
  sentAt: null,
  refusal: null,
});

type Parts = Pick<
  OrderRecords,
  | 'payments'
  | 'deposits'
  | 'transactions'
  | 'bumps'
  | 'isRevealed'
  | 'mined'
  | 'lent'
  | 'held'
  | 'commitHeight'
>;

function placed(parts: Partial<Parts>, amount = 10_000n): PlacedMoney {
  const records: OrderRecords = {
    payments: [],
    deposits: [],
    transactions: [],
    bumps: [],
    isRevealed: true,
    isAnchorTaken: false,
    rune: null,
    mined: new Set(),
    lent: new Set(),
    held: new Map((parts.payments ?? []).map((payment) => [outpointOf(payment), plainPayment])),
    stocked: null,
    items: null,
    mining: null,
    etching: null,
    minting: null,
    commitHeight: null,
    depth: { tip, confirmations: 3 },
    ...parts,
  };
  return placeMoney({ amount, request: wantedOrder(['text']).request }, records);
}

const owedAt = (byte: number, vout: number, value: bigint, owed = value) => ({
  txid: txid(byte),
  vout,
  value,
  owed,
  at: 'own',
});

describe('money at the address of an order', () => {
  test('is owed once it is deep, and until a stored transaction spends it', () => {
    const payments = [paid(1, 5000n), paid(2, 4000n, asHeight(99)), paid(3, 3000n, null), paid(4, 2000n)];
    const spending = made(9, 'refund', plan([[4, 0, 2000]], [['refund', 1800]]));
    const { owed, seen, spent, unspentSats, isMoneyShallow } = placed({ payments, transactions: [spending] });
    expect(owed).toEqual([{ txid: txid(1), vout: 0, value: 5000n, owed: 5000n, at: 'address' }]);
    expect(seen.map(({ isTaken }) => isTaken)).toEqual([false, false, false, true]);
    expect([...spent]).toEqual([outpoint(4)]);
    expect(unspentSats).toBe(12_000n);
    expect(isMoneyShallow).toBe(true);
    expect(placed({ payments: [paid(1, 5000n), paid(3, 3000n, null)] }).isMoneyShallow).toBe(false);
  });

  test('is owed if it is dust, but does not count as unspent', () => {
    const { owed, unspentSats } = placed({ payments: [paid(1, 329n), paid(2, 330n)] });
    expect(owed.map(({ value }) => value)).toEqual([329n, 330n]);
    expect(unspentSats).toBe(330n);
  });

  test('does not count if the index has an inscription or a rune in it, or lacks its block', () => {
    const payments = [paid(1, 5000n), paid(2, 4000n), paid(3, 3000n), paid(4, 2000n)];
    const inscriptions = [{ id: 'i0', offset: 0n }];
    const rune = {
      ...plainPayment,
      isHolding: true,
      runes: [{ id: { block: asU128(1n), tx: 0 }, amount: asU128(7n) }],
    };
    const held = new Map<string, HeldPayment>([
      [outpoint(1), plainPayment],
      [outpoint(2), { ...plainPayment, isHolding: true, isParent: true, inscriptions }],
      [outpoint(3), rune],
      [outpoint(4), { ...plainPayment, isIndexed: false }],
    ]);
    const found = placed({ payments, held });
    expect(found.owed.map(({ value }) => value)).toEqual([5000n]);
    expect(found.holding).toEqual([
      { payment: payments[1], isParent: true, inscriptions, runes: [] },
      { payment: payments[2], isParent: false, inscriptions: [], runes: rune.runes },
    ]);
    expect(found).toMatchObject({ isHoldingDeposits: true, isMoneyShallow: true });
    // the payment counts once the index has its block
    held.set(outpoint(4), plainPayment);
    expect(placed({ payments, held })).toMatchObject({ isMoneyShallow: false });
    const returned = made(5, 'return', plan([[2, 0, 4000]], [['parent', 4000]]));
    expect(placed({ payments, held, transactions: [returned] }).holding).toHaveLength(1);
  });

  test('is not there once it is gone', () => {
    const gone: WatchedPayment = { ...paid(1, 5000n, null), goneAt: new Date(1) };
    const { owed, seen, unspentSats } = placed({ payments: [gone] });
    expect([owed, unspentSats]).toEqual([[], 0n]);
    expect(seen).toMatchObject([{ outpoint: outpoint(1), isGone: true, height: null }]);
  });
});

describe('the rest of a return', () => {
  const ofTheirs = made(
    5,
    'return',
    plan(
      [
        [20, 0, 546],
        [1, 0, 5000],
      ],
      [
        ['parent', 546],
        ['change', 4700],
      ],
    ),
  );
  const mined = new Set([displayHash(txid(5))]);

  test('is expected until it is in a block, and owed from then on', () => {
    const before = placed({ transactions: [ofTheirs] });
    expect(before).toMatchObject({ owed: [], isMoneyComing: true, unspentSats: 4700n });
    const after = placed({ transactions: [ofTheirs], mined });
    expect(after).toMatchObject({ isMoneyComing: false, unspentSats: 4700n });
    expect(after.owed).toEqual([owedAt(5, 1, 4700n)]);
  });

  test('is no longer owed once a stored transaction spends it', () => {
    const refund = made(6, 'refund', plan([[5, 1, 4700]], [['refund', 4500]]));
    const { owed, unspentSats } = placed({ transactions: [ofTheirs, refund], mined });
    expect([owed, unspentSats]).toEqual([[], 0n]);
  });
});

describe('our money', () => {
  const reveal = made(7, 'reveal', plan([[1, 0, 10_000]], [['service', 6000]]));

  test('is usable once the order is delivered, without outputs that other orders borrowed', () => {
    const transactions = [reveal];
    expect(placed({ transactions }).ours).toEqual([owedAt(7, 0, 6000n, 0n)]);
    expect(placed({ transactions, isRevealed: false }).ours).toEqual([]);
    expect(placed({ transactions, lent: new Set([outpoint(7)]) }).ours).toEqual([]);
  });

  test('of a return waits for a block too', () => {
    const ofOurs = made(
      8,
      'return',
      plan(
        [
          [20, 0, 546],
          [7, 0, 6000],
        ],
        [
          ['parent', 546],
          ['change', 5700],
        ],
      ),
    );
    const transactions = [reveal, ofOurs];
    expect(placed({ transactions })).toMatchObject({ ours: [], isMoneyComing: true });
    const mined = new Set([displayHash(txid(8))]);
    const after = placed({ transactions, mined });
    expect(after.ours).toEqual([owedAt(8, 1, 5700n, 0n)]);
    expect(after.isMoneyComing).toBe(false);
  });
});

describe('an excess payment', () => {
  const reveal = made(7, 'reveal', plan([[1, 0, 13_000]], [['service', 9000]]));
  const transactions = [reveal];
  const bump = (state: Partial<Pick<OrderBump, 'isMined' | 'isDead'>>): OrderBump => ({
    txid: txid(11),
    family: txid(9),
    plan: {
      inputs: [{ outpoint: outpoint(7), value: 9000, script: '', keyIndex: 0 }],
      outputs: [{ kind: 'bump', value: 8000, script: '' }],
    },
    fee: 1000,
    share: 1000,
    madeAt: new Date(0),
    sentAt: null,
    refusal: null,
    isMined: false,
    isDead: false,
    ...state,
  });

  test('is owed from our output of the delivery, which we may not use then', () => {
    const { excess, owed, ours } = placed({ transactions });
    expect(excess).toEqual(owedAt(7, 0, 9000n, 3000n));
    expect(owed).toEqual([owedAt(7, 0, 9000n, 3000n)]);
    expect(ours).toEqual([]);
  });

  test('is not owed before the delivery is deep enough', () => {
    expect(placed({ transactions, isRevealed: false })).toMatchObject({ excess: null, owed: [], ours: [] });
  });

  test('moves to the rest of the mined bump that spent it', () => {
    const { excess, owed, ours } = placed({ transactions, bumps: [bump({ isMined: true })] });
    expect(excess).toEqual(owedAt(7, 0, 9000n, 3000n));
    expect(owed).toEqual([owedAt(11, 0, 8000n, 3000n)]);
    expect(ours).toEqual([]);
  });

  test('waits for a block while a bump that may be mined spends it, and ignores a dead one', () => {
    expect(placed({ transactions, bumps: [bump({})] }).owed).toEqual([]);
    expect(placed({ transactions, bumps: [bump({ isDead: true })] }).owed).toEqual([
      owedAt(7, 0, 9000n, 3000n),
    ]);
  });

  test('is ours below the dust limit', () => {
    const { excess, ours } = placed({ transactions }, 12_671n);
    expect(excess).toBeNull();
    expect(ours).toEqual([owedAt(7, 0, 9000n, 0n)]);
    expect(placed({ transactions }, 12_670n).excess).toEqual(owedAt(7, 0, 9000n, 330n));
  });
});

test('deposits are held until a stored transaction spends them', () => {
  const deposit: Deposit = {
    at: { index: 0, keyIndex: 0, script: Buffer.alloc(34), address: '' },
    payment: paid(20, 546n, asHeight(99)),
    state: 'seen',
    isDust: false,
    isHolding: true,
    isUnspent: true,
    inscriptions: [],
    runes: [],
  };
  const deposits = [deposit];
  expect(placed({ deposits })).toMatchObject({ isHoldingDeposits: true, isMoneyShallow: true });
  // outputs that may never be mined, and outputs with only sats, hold no money back
  const unmined = { ...deposit, payment: paid(20, 546n, null) };
  expect(placed({ deposits: [unmined] }).isHoldingDeposits).toBe(false);
  const sats = { ...deposit, state: 'other', isHolding: false } as const;
  expect(placed({ deposits: [sats] }).isHoldingDeposits).toBe(false);
  const home = made(5, 'return', plan([[20, 0, 546]], [['parent', 546]]));
  expect(placed({ deposits, transactions: [home] }).isHoldingDeposits).toBe(false);
});

describe('money in a commit whose reveal was given up', () => {
  const commit = made(
    9,
    'commit',
    plan(
      [[1, 0, 10_000]],
      [
        ['commit', 7000],
        ['change', 2000],
      ],
    ),
  );
  const reveal = made(
    8,
    'reveal',
    plan(
      [[9, 0, 7000]],
      [
        ['postage', 546],
        ['service', 5000],
      ],
    ),
  );
  const given = (transactions: readonly OrderTransaction[], commitHeight: Height | null) =>
    placed({ payments: [paid(1, 10_000n)], transactions, isRevealed: false, commitHeight });

  test('is owed entirely, once the commit is deep', () => {
    const { owed, unspentSats, isMoneyShallow } = given([commit], asHeight(90));
    expect(owed).toEqual([
      {
        txid: txid(9),
        vout: 0,
        value: 7000n,
        owed: 7000n,
        at: 'commit',
        commitScript: commit.plan.outputs[0]!.script,
      },
      { txid: txid(9), vout: 1, value: 2000n, owed: 2000n, at: 'own' },
    ]);
    expect(unspentSats).toBe(9000n);
    expect(isMoneyShallow).toBe(false);
  });

  test.each([asHeight(99), null])('waits for the block of the commit, and for its depth: %s', (height) => {
    const { owed, unspentSats, isMoneyShallow } = given([commit], height);
    expect(owed).toEqual([]);
    expect(unspentSats).toBe(9000n);
    expect(isMoneyShallow).toBe(true);
  });

  test('is not owed while the reveal may be mined, nor once a refund spends it', () => {
    expect(given([commit, reveal], asHeight(90)).owed).toEqual([]);
    const refund = made(
      7,
      'refund',
      plan(
        [
          [9, 0, 7000],
          [9, 1, 2000],
        ],
        [['refund', 8800]],
      ),
    );
    const { owed, unspentSats } = given([commit, refund], asHeight(90));
    expect(owed).toEqual([]);
    expect(unspentSats).toBe(0n);
  });
});
