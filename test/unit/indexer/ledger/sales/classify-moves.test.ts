import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClassifiedMove, classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { maySell } from '#indexer/ledger/sales/may-sell.ts';
import type { Coin, MovingTransaction } from '#indexer/ledger/sales/moving-transaction.ts';
import {
  ecdsa,
  input,
  move,
  openordex,
  output,
  pairType,
  schnorr,
  tap,
  twoDummies,
  wpkh,
} from '#test/support/sales/moving-transactions.ts';

const one = (tx: MovingTransaction): ClassifiedMove => {
  const [first, ...rest] = classifyMoves(tx);
  expect(rest).toEqual([]);
  if (first === undefined) throw new Error('a move has a class');
  return first;
};

describe('a pair', () => {
  test('of openordex is a sale for the sats that it pays', () => {
    const { class: of, sold } = one(openordex());
    expect(of).toBe('sale');
    expect(sold).toEqual({
      form: 'openordex',
      confidence: 'bound-known',
      grossPayout: 50_000,
      price: 50_000,
      bundle: 1,
      payoutOutput: 1,
      feeOutput: null,
      sighash: pairType,
      maker: tap('a'),
      taker: tap('b'),
      isWash: false,
    });
  });

  test.each([pairType, 0x03])('after two dummies, signed with %i, returns the postage', (sighash) => {
    expect(one(twoDummies(input(tap('a'), 10_000, schnorr(sighash))))).toMatchObject({
      class: 'sale',
      sold: {
        form: 'two-dummies',
        grossPayout: 59_500,
        price: 49_500,
        payoutOutput: 2,
        feeOutput: 3,
        taker: tap('b'),
        sighash,
      },
    });
  });

  test('of ECDSA is one too, but not a Schnorr look-alike of such a script', () => {
    expect(one(twoDummies(input(wpkh('a'), 10_000, ecdsa(pairType))))).toMatchObject({
      class: 'sale',
      sold: { maker: wpkh('a') },
    });
    expect(one(twoDummies(input(wpkh('a'), 10_000, schnorr(pairType), ecdsa(1))))).toMatchObject({
      class: 'transfer',
    });
  });

  test('may pay another address than the seller’s', () => {
    const sale = twoDummies(input(tap('a'), 10_000, schnorr(pairType)), output(wpkh('z'), 59_500));
    expect(one(sale)).toMatchObject({ class: 'sale', sold: { maker: tap('a'), isWash: false } });
  });

  test('among several signatures makes the paid address the maker', () => {
    const locked = twoDummies(input(tap('l'), 10_000, schnorr(0), schnorr(pairType)));
    expect(one(locked)).toMatchObject({
      class: 'sale',
      sold: { maker: tap('a'), confidence: 'bound-shared', sighash: pairType },
    });
  });

  test('in an unknown layout is a sale, with the output of the same index', () => {
    const tx: MovingTransaction = {
      inputs: [input(tap('b'), 90_000), input(tap('b'), 5_000), input(tap('a'), 546, schnorr(pairType))],
      outputs: [output(tap('b'), 95_546), output(tap('c'), 1_000), output(tap('a'), 7_546)],
      moves: [move(2, 0)],
    };
    expect(one(tx)).toMatchObject({
      class: 'sale',
      sold: { form: 'pair', confidence: 'bound', price: 7_000, grossPayout: 7_546 },
    });
  });

  test('of a bulk purchase has its own price', () => {
    const sellers = ['a', 'c', 'd'];
    const tx: MovingTransaction = {
      inputs: [
        ...Array.from({ length: 4 }, () => input(wpkh('p'), 600)),
        ...sellers.map((seller) => input(tap(seller), 546, schnorr(pairType))),
        input(wpkh('p'), 900_000),
      ],
      outputs: [
        output(wpkh('p'), 2_400),
        ...sellers.map(() => output(tap('b'), 546)),
        ...sellers.map((seller, nth) => output(tap(seller), 10_546 + nth * 1_000)),
        output(wpkh('f'), 2_000),
        output(wpkh('p'), 700_000),
      ],
      moves: [move(4, 1), move(5, 2), move(6, 3)],
    };
    const classified = classifyMoves(tx);
    expect(classified.map(({ class: of }) => of)).toEqual(['sale', 'sale', 'sale']);
    expect(classified.map(({ sold }) => [sold?.form, sold?.price, sold?.maker, sold?.feeOutput])).toEqual(
      sellers.map((seller, nth) => ['bulk', 10_000 + nth * 1_000, tap(seller), 7]),
    );
  });

  test('whose output does not exist binds nothing', () => {
    const tx: MovingTransaction = {
      inputs: [input(wpkh('b'), 600), input(wpkh('a'), 10_000, ecdsa(pairType))],
      outputs: [output(wpkh('c'), 10_100)],
      moves: [move(1, 0)],
    };
    expect(one(tx)).toMatchObject({ class: 'transfer', sold: null });
  });

  test('that carries the item itself, or pays its receiver, is not a sale', () => {
    const home = { ...openordex(), moves: [move(1, 1)] };
    expect(one(home)).toMatchObject({ class: 'self-transfer' });
    const toTaker = openordex();
    const outputs = toTaker.outputs.map((coin, at) => (at === 1 ? output(tap('b'), 50_000) : coin));
    expect(one({ ...toTaker, outputs })).toMatchObject({ class: 'transfer', sold: null });
  });

  test('that only the holder’s sats pay is not a sale', () => {
    const inputs = openordex().inputs.map((coin, at) => (at === 1 ? coin : input(tap('a'), coin.value)));
    expect(one({ ...openordex(), inputs })).toMatchObject({ class: 'transfer' });
  });

  test('with one maker and taker is a flagged sale', () => {
    const outputs = openordex().outputs.map((coin) =>
      coin.value === 10_600 ? output(tap('a'), 10_600) : coin,
    );
    expect(one({ ...openordex(), outputs })).toMatchObject({ class: 'sale', sold: { isWash: true } });
    const funded = openordex();
    const inputs = [...funded.inputs, input(tap('a'), 5_000)];
    expect(one({ ...funded, inputs })).toMatchObject({ class: 'sale', sold: { isWash: true } });
  });

  test.each([
    ['the address that is paid', 'z'],
    ['the address of the item', 'a'],
  ])('that only coins of %s pay for is a flagged sale', (_, payer) => {
    const { inputs, ...bought } = twoDummies(
      input(tap('a'), 10_000, schnorr(pairType)),
      output(wpkh('z'), 59_500),
    );
    const own = payer === 'a' ? tap('a') : wpkh('z');
    const paid = inputs.map((coin, at) => (at === 2 ? coin : input(own, coin.value)));
    expect(one({ ...bought, inputs: paid })).toMatchObject({
      class: 'sale',
      sold: { price: 49_500, maker: tap('a'), taker: tap('b'), isWash: true },
    });
  });

  test('has no taker if the item goes into the fee', () => {
    expect(one({ ...openordex(), moves: [move(1, null)] })).toMatchObject({
      class: 'sale',
      sold: { taker: null },
    });
  });

  test('of a bundle is divided, and the sums are right', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 40 }), (items, value) => {
        const base = openordex();
        const outputs = base.outputs.map((coin, at) => (at === 1 ? output(tap('a'), value) : coin));
        const moves = Array.from({ length: items }, (_, place) => move(1, 0, place));
        const sold = classifyMoves({ ...base, outputs, moves }).map((each) => each.sold);
        expect(sold.every((each) => each?.bundle === items)).toBe(true);
        expect(sold.reduce((total, each) => total + (each?.grossPayout ?? 0), 0)).toBe(value);
        expect(sold.reduce((total, each) => total + (each?.price ?? 0), 0)).toBe(value);
        expect(sold[0]?.price).toBeGreaterThanOrEqual(sold.at(-1)?.price ?? 0);
      }),
    );
  });
});

describe('an output to the holder that all have signed', () => {
  const ordOffer = (sighash = 0): MovingTransaction => ({
    inputs: [input(tap('a'), 10_000, schnorr(sighash)), input(tap('p'), 100_000)],
    outputs: [output(tap('b'), 10_000), output(tap('a'), 60_000), output(tap('q'), 39_000)],
    moves: [move(0, 0)],
  });

  test.each([0x00, 0x01])('is an accepted offer of ord (%i)', (sighash) => {
    expect(one(ordOffer(sighash))).toMatchObject({
      class: 'offer',
      sold: {
        form: 'ord-offer',
        confidence: 'offer-layout',
        price: 50_000,
        grossPayout: 60_000,
        payoutOutput: 1,
        maker: tap('a'),
        taker: tap('b'),
      },
    });
  });

  test('is a sale if others may add inputs', () => {
    expect(one(ordOffer(0x81))).toMatchObject({ class: 'sale', sold: { sighash: 0x81, price: 50_000 } });
  });

  test('is an offer in any layout if the receiver of the item pays', () => {
    const tx: MovingTransaction = {
      inputs: [input(tap('b'), 80_000), input(wpkh('a'), 546), input(tap('b'), 10_000)],
      outputs: [output(wpkh('a'), 30_000), output(tap('b'), 546), output(tap('b'), 59_000)],
      moves: [move(1, 1)],
    };
    expect(one(tx)).toMatchObject({
      class: 'offer',
      sold: { form: 'all-signed', confidence: 'paid-by-taker', price: 29_454 },
    });
  });

  test.each([0x00, 0x01])(
    'is an offer in the layout of a purchase, also for another address of the buyer (%i)',
    (sighash) => {
      expect(one(twoDummies(input(tap('a'), 10_000, schnorr(sighash))))).toMatchObject({
        class: 'offer',
        sold: { form: 'all-signed', confidence: 'offer-layout', price: 49_500, taker: tap('b') },
      });
    },
  );

  test('is change if the holder pays', () => {
    const tx: MovingTransaction = {
      inputs: [input(tap('a'), 10_000), input(tap('a'), 50_000)],
      outputs: [output(tap('b'), 10_000), output(tap('a'), 49_000)],
      moves: [move(0, 0)],
    };
    expect(one(tx)).toMatchObject({ class: 'transfer' });
  });
});

describe('other moves', () => {
  const send = (to: Coin, landing: number | null = 0): MovingTransaction => ({
    inputs: [input(tap('a'), 10_000), input(wpkh('a'), 30_000)],
    outputs: [to, output(wpkh('a'), 29_000)],
    moves: [move(0, landing)],
  });

  test.each([
    ['self-transfer', send(output(tap('a'), 10_000))],
    ['transfer', send(output(tap('b'), 10_000))],
    ['gift', send(output(tap('b'), 546))],
    ['burn', send(output('\x6a\x01\x01', 10_000))],
    ['fee', send(output(tap('b'), 1_000), null)],
  ])('are a %s', (of, tx) => {
    expect(one(tx)).toMatchObject({ class: of, sold: null });
  });

  test('of an exchange of items are other', () => {
    const tx: MovingTransaction = {
      inputs: [input(tap('a'), 546), input(tap('b'), 546), input(wpkh('b'), 9_000)],
      outputs: [output(tap('b'), 546), output(tap('a'), 546), output(wpkh('b'), 8_000)],
      moves: [move(0, 0), move(1, 1)],
    };
    expect(classifyMoves(tx).map(({ class: of }) => of)).toEqual(['other', 'other']);
  });

  test('that runes pay are other', () => {
    const tx: MovingTransaction = {
      inputs: [input(tap('a'), 546), input(tap('b'), 546), input(wpkh('b'), 9_000)],
      outputs: [
        output(tap('b'), 546),
        output(tap('a'), 546),
        output('\x6a\x5d\x01\x00', 0),
        output(wpkh('b'), 8_000),
      ],
      moves: [move(0, 0)],
    };
    expect(one(tx)).toMatchObject({ class: 'other' });
  });

  test('of a consolidation and a deposit of thirty are not sales', () => {
    const inputs = Array.from({ length: 30 }, () => input(tap('a'), 546));
    const consolidated: MovingTransaction = {
      inputs,
      outputs: [output(tap('a'), 16_000)],
      moves: inputs.map((_, at) => move(at, 0)),
    };
    expect(new Set(classifyMoves(consolidated).map(({ class: of }) => of))).toEqual(
      new Set(['self-transfer']),
    );
    const deposited = { ...consolidated, outputs: [output(wpkh('c'), 16_000)] };
    expect(new Set(classifyMoves(deposited).map(({ class: of }) => of))).toEqual(new Set(['transfer']));
  });

  test('of a round of equal outputs are not sales', () => {
    const owners = ['a', 'b', 'c', 'd'];
    const tx: MovingTransaction = {
      inputs: owners.map((owner) => input(tap(owner), 100_000)),
      outputs: [
        ...owners.map((owner) => output(wpkh(owner), 90_000)),
        ...owners.map((owner) => output(tap(owner), 9_900)),
      ],
      moves: [move(0, 0)],
    };
    expect(one(tx)).toMatchObject({ class: 'transfer', sold: null });
  });
});

const anyCoin = fc.record({
  script: fc.constantFrom(tap('a'), tap('b'), wpkh('a'), wpkh('c'), '\x6a', '\x6a\x5d', ''),
  value: fc.nat({ max: 20_000 }),
});
const anySignature = fc.record({
  kind: fc.constantFrom('ecdsa' as const, 'schnorr' as const),
  sighash: fc.constantFrom(0, 1, 2, 3, 0x81, 0x82, 0x83, 0xff),
});

test('any transaction has classes, and a sale is paid by an existing output', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyCoin, fc.array(anySignature, { maxLength: 3 })), { minLength: 1, maxLength: 5 }),
      fc.array(anyCoin, { minLength: 1, maxLength: 5 }),
      fc.array(fc.tuple(fc.nat(4), fc.option(fc.nat(4))), { maxLength: 6 }),
      (spent, outputs, moved) => {
        const inputs = spent.map(([coin, signatures]) => ({ ...coin, signatures }));
        const places = new Map<number, number>();
        const moves = moved.map(([at, to], key) => {
          const from = at % inputs.length;
          const place = places.get(from) ?? 0;
          places.set(from, place + 1);
          return { key, input: from, place, landing: to === null ? null : to % outputs.length };
        });
        const classified = classifyMoves({ inputs, outputs, moves });
        expect(classified.map((each) => each.move)).toEqual(moves);
        const hasSold = classified.some(({ sold }) => sold !== null);
        // a transaction that is skipped must not have sold anything
        if (hasSold) expect(maySell(inputs, outputs, [...places.keys()])).toBe(true);
        for (const { class: of, sold } of classified) {
          expect(of === 'sale' || of === 'offer').toBe(sold !== null);
          if (sold === null) continue;
          expect(outputs[sold.payoutOutput]).toBeDefined();
          expect(sold.grossPayout).toBeGreaterThanOrEqual(sold.price);
          expect(sold.price).toBeGreaterThanOrEqual(0);
        }
      },
    ),
  );
});

test.each([
  ['alone', [input(tap('a'), 10_000)], [output(tap('b'), 9_000)]],
  [
    'of one script',
    [input(tap('a'), 10_000), input(tap('a'), 5_000)],
    [output(tap('b'), 9_000), output(tap('a'), 5_000)],
  ],
  [
    'whose fee another script pays',
    [input(tap('a'), 10_000), input(wpkh('p'), 5_000)],
    [output(tap('b'), 10_000), output(wpkh('p'), 4_000)],
  ],
])('a transfer %s is skipped', (_, inputs, outputs) => {
  expect(maySell(inputs, outputs, [0])).toBe(false);
  expect(one({ inputs, outputs, moves: [move(0, 0)] }).sold).toBeNull();
});

test('looks at a whole transaction once, not for each of its items', () => {
  // one transaction with as many inputs as fit into a block, and one output with many inscriptions
  const count = 20_000;
  const many = Array.from({ length: count }, (_, at) => at);
  const consolidation: MovingTransaction = {
    inputs: many.map((at) => input(tap('a'), 600, schnorr(at % 2 === 0 ? 0 : pairType))),
    outputs: many.map((at) => output(at % 2 === 0 ? tap('b') : tap('c'), 500)),
    moves: many.map((at) => move(at, (at + 1) % count)),
  };
  expect(classifyMoves(consolidation)).toHaveLength(count);
  const held = Array.from({ length: 200_000 }, (_, place) => move(0, 1, place, place));
  const [first] = classifyMoves({ ...openordex(), moves: held });
  expect(first).toMatchObject({ class: 'transfer' });
});
