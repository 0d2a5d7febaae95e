import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { displayHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import { ArrivedSats, type OutputSats, type TraceSats } from '#orders/sats/arrived-sats.ts';
import { type CoinPayment, type KnownSats, type PaidFunds, placeSats } from '#orders/sats/place-sats.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';

const hash = parseBlockHash('11'.repeat(32))!;
const otherHash = parseBlockHash('22'.repeat(32))!;
const paymentAt = (vout: number, block = hash): CoinPayment => ({
  outpoint: `${'ab'.repeat(32)}:${vout}`,
  txid: parseTxid('ab'.repeat(32))!,
  vout,
  script: new Uint8Array(),
  value: 5000n,
  firstSeen: new Date(0),
  block: { height: asHeight(1), hash: block },
  goneAt: null,
  replacedBy: null,
  change: 1,
});
const known = (start: number, block = hash): OutputSats => ({
  state: 'known',
  output: { blockHash: displayHash(block) },
  ranges: [{ start, end: start + 5000 }],
});
const made = wantedOrder(['text']);
const order = {
  id: 'order',
  quote: made.quote,
  terms: storedTerms(made.terms),
  request: { ...made.request, allowedSatributes: ['uncommon'] },
};
const special = 5_000_000_000;
const costs = coinCosts({
  ...order,
  amount: BigInt(made.quote.amount),
  extraCost: 0n,
});
const funds = (payments: readonly CoinPayment[]): PaidFunds => ({ payments, parents: [], costs });

/** A tracer that answers its requests with these results, in order. */
const answers = (...given: readonly (OutputSats | null | Error)[]): TraceSats => {
  let asked = 0;
  return async () => {
    const answer = given[asked++];
    if (answer instanceof Error || answer === undefined) throw answer ?? new Error('asked too often');
    return answer;
  };
};

const knownSats = (arrived: ArrivedSats): KnownSats => ({ arrived, satributes: regtestSatributes() });

/** The state after all lookups have ended. */
async function settled(sats: ArrivedSats, payments: readonly CoinPayment[]) {
  for (;;) {
    const placed = placeSats(order, funds(payments), knownSats(sats));
    if (placed.kind !== 'pending') return placed;
    while (sats.ended().length === 0) await nextTurn();
  }
}

describe('the sats that arrived for an order', () => {
  test('are pending until they are known, and then its reveal spends the special one first', async () => {
    const sats = new ArrivedSats(answers(known(3), known(special)), 0);
    const payments = [paymentAt(0), paymentAt(1)];
    expect(placeSats(order, funds(payments), knownSats(sats))).toEqual({ kind: 'pending' });
    const placed = await settled(sats, payments);
    // the payment without special sats is not needed
    expect(placed).toMatchObject({ kind: 'placed', payments: [{ outpoint: payments[1]!.outpoint }] });
    expect(placed.kind === 'placed' && placed.payments).toHaveLength(1);
    // the walk is not repeated
    expect(placeSats(order, funds(payments), knownSats(sats)).kind).toBe('placed');
  });

  test('are refused if they are others', async () => {
    const sats = new ArrivedSats(answers(known(special - 1)), 0);
    expect(await settled(sats, [paymentAt(0)])).toEqual({
      kind: 'unwanted',
      reason:
        'No output of the payment begins with a sat that is uncommon, but allowedSatributes needs this.',
    });
  });

  test('are looked up again if the node is away, has them spent, or has them in another block', async () => {
    const moved: OutputSats = { ...known(0), state: 'unknown', reason: 'reorganised', isReorganised: true };
    const sats = new ArrivedSats(
      answers(new Error('away'), null, known(special, otherHash), moved, known(special)),
      0,
    );
    expect((await settled(sats, [paymentAt(0)])).kind).toBe('placed');
  });

  test('are looked up again in another block', async () => {
    const sats = new ArrivedSats(answers(known(special), known(7, otherHash)), 0);
    expect((await settled(sats, [paymentAt(0)])).kind).toBe('placed');
    expect((await settled(sats, [paymentAt(0, otherHash)])).kind).toBe('unwanted');
  });

  test('are not allowed if they are unknown; a retry looks them up again', async () => {
    const unknown: OutputSats = {
      ...known(0),
      state: 'unknown',
      reason: 'the node is pruned',
      isReorganised: false,
    };
    const sats = new ArrivedSats(answers(unknown, known(special)), 0);
    expect(await settled(sats, [paymentAt(0)])).toEqual({
      kind: 'impossible',
      reason: 'The sats of the payment are unknown: the node is pruned.',
    });
    expect((await settled(sats, [paymentAt(0)])).kind).toBe('placed');
  });

  test('that are unknown are left out if the others are enough, and are looked up once', async () => {
    const unknown: OutputSats = {
      ...known(0),
      state: 'unknown',
      reason: 'too far back',
      isReorganised: false,
    };
    const [mine, stray, other] = [{ ...paymentAt(0), value: costs.amount }, paymentAt(1), paymentAt(2)];
    const sats = new ArrivedSats(answers(known(special), unknown, null, unknown), 0);
    const placed = await settled(sats, [mine, stray, other]);
    expect(placed).toMatchObject({ kind: 'placed', payments: [{ outpoint: mine.outpoint }] });
    expect(placeSats(order, funds([mine, stray, other]), knownSats(sats))).toEqual(placed);
    // the payments whose sats are known are not enough
    const short = new ArrivedSats(answers(known(special), unknown), 0);
    expect((await settled(short, [{ ...mine, value: 600n }, stray])).kind).toBe('impossible');
  });

  test('of an order that takes any sats are not looked up', () => {
    const sats = new ArrivedSats(answers(), 0);
    const any = { ...order, request: made.request };
    const payments = [paymentAt(0)];
    expect(placeSats(any, funds(payments), knownSats(sats))).toEqual({ kind: 'placed', payments });
  });
});
