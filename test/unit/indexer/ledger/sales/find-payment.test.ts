import { describe, expect, test } from 'vitest';
import { type ClassifiedMove, classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { maySell } from '#indexer/ledger/sales/may-sell.ts';
import type {
  Coin,
  Move,
  MovingInput,
  MovingTransaction,
  SignedAs,
} from '#indexer/ledger/sales/moving-transaction.ts';
import { type Refusal, refusals } from '#kernel/sales/refusals.ts';
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

describe('the output after the pairs', () => {
  const withFee = (fee: Coin, ...behind: readonly Coin[]): ClassifiedMove => {
    const bought = twoDummies(input(tap('a'), 10_000, schnorr(pairType)), output(tap('a'), 80_000));
    return one({ ...bought, outputs: [...bought.outputs.slice(0, 3), fee, ...behind] });
  };
  const change = output(wpkh('c'), 120_000);
  const dummy = output(wpkh('p'), 600);

  test.each([
    ['a fee of a quarter of the price', withFee(output(wpkh('f'), 17_500), dummy, dummy, change), 3],
    [
      'a fee before the change of the address that pays',
      withFee(output(wpkh('f'), 581), output(wpkh('p'), 1_001)),
      3,
    ],
    ['more than a quarter', withFee(output(wpkh('f'), 17_501), change), null],
    ['change at a new address', withFee(output(wpkh('c'), 9_928_000)), null],
    ['small change at a new address', withFee(output(wpkh('c'), 5_000)), null],
    ['such change before dummies', withFee(output(wpkh('c'), 5_000), dummy, dummy), null],
    ['such change before a message', withFee(output(wpkh('c'), 5_000), output('\x6a\x01\x01', 2_000)), null],
    ['an OP_RETURN', withFee(output('\x6a\x01\x01', 5_000), change), null],
    ['less than platforms take', withFee(output(wpkh('f'), 580), change), null],
    ['new dummies at a new address', withFee(output(wpkh('n'), 600), output(wpkh('n'), 600), change), null],
    ['a new dummy and change at a new address', withFee(output(wpkh('c'), 600), change), null],
    ['the buyer again', withFee(output(tap('b'), 5_000), change), null],
  ])('is a fee, or not: %s', (_, { sold }, feeOutput) => {
    expect(sold).toMatchObject({ price: 70_000, feeOutput });
  });
});

describe('a listing that is signed with ALL|ANYONECANPAY', () => {
  const p2sh = (owner: string): string => `\xa9\x14${owner.repeat(20)}\x87`;
  const pkh = (owner: string): string => `\x76\xa9\x14${owner.repeat(20)}\x88\xac`;
  const listing = (script: string): MovingInput =>
    input(script, 10_000, script.startsWith('\x51') ? schnorr(0x81) : ecdsa(0x81));

  // the item goes to an address of the buyer that does not pay
  test.each([
    ['P2TR', tap('a')],
    ['P2WPKH', wpkh('a')],
    ['P2SH-P2WPKH', p2sh('a')],
    ['P2PKH', pkh('a')],
  ])('is sold if the output of its index pays the seller, %s', (_, seller) => {
    expect(one(twoDummies(listing(seller), output(seller, 59_500)))).toEqual({
      move: expect.anything() as unknown,
      class: 'sale',
      refusedBy: null,
      sold: {
        form: 'all-signed',
        confidence: 'bound',
        grossPayout: 59_500,
        price: 49_500,
        bundle: 1,
        payoutOutput: 2,
        feeOutput: null,
        sighash: 0x81,
        maker: seller,
        taker: tap('b'),
        isWash: false,
      },
    });
    expect(one(twoDummies(listing(seller), output(wpkh('z'), 59_500)))).toMatchObject({
      class: 'sale',
      sold: { price: 49_500, maker: seller, payoutOutput: 2, confidence: 'bound', isWash: false },
    });
    const { inputs, outputs } = twoDummies(listing(seller), output(wpkh('z'), 59_500));
    expect(maySell(inputs, outputs, [2])).toBe(true);
  });

  test('of several keys is sold by the paid one', () => {
    const locked = input(tap('l'), 10_000, schnorr(0), schnorr(0x81));
    expect(one(twoDummies(locked))).toMatchObject({
      class: 'sale',
      sold: { maker: tap('a'), confidence: 'bound-shared', sighash: 0x81 },
    });
  });

  test.each([
    ['pays the owner of a coin that pays: change', wpkh('p'), 59_500, 'holder-not-paid'],
    ['pays the receiver of the item', tap('b'), 59_500, 'holder-not-paid'],
    ['is not more than the item', wpkh('z'), 10_000, 'holder-not-paid'],
    ['gives the holder no more than before', tap('a'), 10_000, 'change'],
  ])('is not sold if the output of its index %s', (_, payee, value, refusedBy) => {
    expect(one(twoDummies(listing(tap('a')), output(payee, value)))).toMatchObject({
      class: 'transfer',
      sold: null,
      refusedBy,
    });
  });
});

describe('each rule that refuses a move is named', () => {
  const pair = (at: number, payout: Coin, moves: readonly Move[] = [move(1, 0)]): MovingTransaction => {
    const { outputs, ...rest } = openordex();
    return { ...rest, outputs: outputs.map((coin, vout) => (vout === at ? payout : coin)), moves };
  };
  const signedBy = (...signatures: readonly SignedAs[]): MovingTransaction => {
    const inputs = [{ ...input(tap('a'), 10_000), signatures }, input(tap('p'), 30_000)];
    return { inputs, outputs: [output(tap('b'), 10_000), output(tap('c'), 29_000)], moves: [move(0, 0)] };
  };
  const all = (to: string, landing: number | null, ...outputs: readonly Coin[]): MovingTransaction => ({
    inputs: [input(tap('a'), 10_000), input(tap('p'), 90_000)],
    outputs: [output(to, 10_000), ...outputs],
    moves: [move(0, landing)],
  });
  const runes = output('\x6a\x5d\x01\x00', 0);
  const alone = (): MovingTransaction => {
    const { inputs, ...rest } = openordex();
    return { ...rest, inputs: inputs.map((coin, at) => (at === 1 ? coin : input(tap('a'), coin.value))) };
  };

  test.each<[Refusal, MovingTransaction]>([
    ['not-signed', signedBy(ecdsa(pairType))],
    ['outputs-not-signed', signedBy(schnorr(0x82))],
    ['no-output', { ...signedBy(schnorr(3)), outputs: [], moves: [move(0, null)] }],
    ['payout-holds-item', pair(1, output(tap('a'), 50_000), [move(1, 1)])],
    ['payout-unspendable', pair(1, output('\x6a\x01\x01', 50_000))],
    ['payout-empty', pair(1, output(tap('a'), 0))],
    ['payout-to-taker', pair(1, output(tap('b'), 50_000))],
    ['own-sats', alone()],
    ['into-fee', all(tap('b'), null)],
    ['several-takers', { ...all(tap('b'), 0, output(tap('c'), 1)), moves: [move(0, 0), move(0, 1, 1)] }],
    ['kept', all(tap('a'), 0)],
    ['burned', all('\x6a\x01\x01', 0)],
    ['holder-not-paid', all(tap('b'), 0)],
    ['change', all(tap('b'), 0, output(tap('a'), 9_000))],
    ['payer-unknown', all(tap('b'), 0, output(tap('c'), 9_000), output(tap('a'), 30_000))],
    [
      'exchange',
      {
        ...all(tap('p'), 0, output(tap('a'), 40_000), output(tap('a'), 546)),
        moves: [move(0, 0), move(1, 2)],
      },
    ],
    [
      'paid-in-runes',
      {
        ...signedBy(schnorr(0)),
        inputs: [input(tap('a'), 330), input(tap('b'), 546)],
        outputs: [output(tap('b'), 330), output(tap('a'), 546), runes],
      },
    ],
    ['paid-in-runes', { ...openordex(), outputs: [output(tap('b'), 10_600), output(tap('z'), 546), runes] }],
  ])('%s', (refusedBy, tx) => {
    const [first] = classifyMoves(tx);
    expect(first).toMatchObject({ sold: null, refusedBy });
    expect(refusals[refusedBy]).toMatch(/^[a-z]/u);
    if (refusedBy === 'paid-in-runes' || refusedBy === 'exchange') expect(first?.class).toBe('other');
  });
});
