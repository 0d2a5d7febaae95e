import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownAsker } from '#kernel/contracts/asker.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { asBlockHashHex, asTxid } from '#kernel/primitives/hash.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type OrderPrices, quoteOrder } from '#orders/inscribing/quote-order.ts';
import { afterPayment } from '#orders/paying/after-payment.ts';
import { type OpenOrder, openOrder } from '#orders/paying/open-order.ts';
import type { PaymentCoin } from '#psbts/coins/free-coins.ts';
import type { LentInput, SpecialInput } from '#psbts/paying/payment-layout.ts';
import { type Trial, tryPayments } from '#psbts/paying/try-payments.ts';
import { CoinSupply } from '#psbts/planning/coin-supply.ts';
import type { PsbtInput, PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import {
  inscriptionId,
  oneFile,
  orders,
  p2wpkh,
  prices,
  somePrices,
} from '#test/unit/orders/inscribing/made-orders.ts';
import { recordsOf, storedOrder } from '#test/unit/orders/paying/open-orders.ts';

const ordinals = signerOf(customerAddress(91), 'ordinals');
const payment = signerOf(customerAddress(90));
const satributes = regtestSatributes();

let made = 0;
function input(signer: Signer, value: bigint): PsbtInput {
  const txid = Buffer.alloc(32);
  txid.writeUInt32LE(made++);
  return { txid: asTxid(txid), vout: 0, value, signer, blockHash: asBlockHashHex('00'.repeat(32)) };
}

/** An output whose first `place` sats are of any kind. Vintage sats follow. */
function specialOf(value: bigint, place: bigint): SpecialInput {
  const [size, before] = [value, place].map(Number) as [number, number];
  const ranges = [
    { start: 1_900_000_000_000_000, end: 1_900_000_000_000_000 + before },
    { start: 1_000_000_000, end: 1_000_000_000 + size - before },
  ];
  return { input: input(ordinals, value), place, ranges: before === 0 ? ranges.slice(1) : ranges };
}

const runeOf = (tx: number): RuneAmount => ({ id: { block: asU128(840_000), tx }, amount: asU128(7) });

const lentTo = ({ parents }: OpenOrder, runic: readonly boolean[]): LentInput[] =>
  parents.map(({ value, depositScript }, index) => ({
    index,
    input: input(ordinals, value),
    depositScript,
    runes: runic[index] === true ? [runeOf(index)] : [],
  }));

/** Makes an order without payments. Returns `null` if the order cannot be made. */
function orderOf(terms: OrderTerms, given: OrderPrices, wantsSats: boolean): OpenOrder | null {
  const quote = quoteOrder(terms, given);
  if (quote.kind === 'refused') return null;
  const stored = storedOrder(terms, quote);
  const request = { ...stored.request, allowedSatributes: wantsSats ? ['vintage'] : null };
  const found = openOrder(recordsOf({ ...stored, request }, []), null);
  return found.kind === 'open' ? found.order : null;
}

function trialOf(order: OpenOrder, coins: readonly bigint[], feeRate: bigint): Trial {
  const free = coins.map((value) => input(payment, value) as PaymentCoin);
  return {
    parts: { utxos: { indexedSats: async () => null } as unknown as Trial['parts']['utxos'], satributes },
    order,
    coins: { supply: new CoinSupply(free, async (looked) => looked.map(() => ({ kind: 'free' as const }))) },
    feeRate,
    asker: ownAsker('test'),
  };
}

const beyond = /^chargeAmount is \d+ sats more than the order needs/u;

/** Checks that a payment with one sat less would not pay for the order. */
function expectLeast(order: OpenOrder, { outputs }: PsbtPlan, parents: readonly LentInput[]): void {
  const coins = outputs.flatMap(({ script, value }, vout) =>
    Buffer.compare(script, order.script) === 0 ? [{ vout, value, ranges: null }] : [],
  );
  const last = coins.pop()!;
  const less = [...coins, { ...last, value: last.value - 1n }];
  const sent = new Map(
    parents.map(({ index, input: { value }, runes }) => [index, { value, runes }] as const),
  );
  expect(afterPayment(order, { coins: less, parents: sent }, satributes).kind).not.toBe('delivered');
}

describe('a payment that is tried', () => {
  test('pays the least that the order needs, and only an excess is reported as too much', async () => {
    const ends = { built: 0, special: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(orders, somePrices, fc.gen(), async (terms, given, pick) => {
        const wants = !terms.burn && pick(() => fc.boolean());
        const order = orderOf(terms, given, wants);
        if (order === null) return;
        const value = pick(() =>
          fc.oneof(
            fc.bigInt(330n, 2_000n),
            fc.bigInt(330n, 100_000n),
            fc.bigInt(order.missing, order.missing * 2n),
            fc.constant(order.postage),
          ),
        );
        const place = pick(() => fc.oneof(fc.constant(0n), fc.bigInt(0n, value - 1n)));
        const isSpecial = wants || pick(() => fc.boolean());
        const special = isSpecial ? specialOf(value, place) : null;
        const runic = pick(() => fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }));
        const parents = pick(() => fc.boolean()) ? lentTo(order, runic) : [];
        const charge = pick(() => fc.constantFrom(null, null, order.missing, order.missing + 1_000n));
        const coins = [order.missing * 2n + 100_000_000n, 40_000n];
        const rate = pick(() => fc.constantFrom(100n, 5_000n, 300_000n));
        const tried = await tryPayments(trialOf(order, coins, rate), {
          signers: { payment, ordinals },
          special,
          parents,
          charge,
        });
        if (tried.kind === 'refused') {
          ends.refused++;
          // the order has no earlier payments
          expect(tried.reason).not.toMatch(
            /payments that the order already has|makes the order more expensive/u,
          );
          return;
        }
        ends.built++;
        if (special !== null) ends.special++;
        const { planned, layout, warnings } = tried;
        const isTooMuch = charge !== null && charge >= layout.needed + 330n;
        expect(warnings.some((each) => beyond.test(each))).toBe(isTooMuch);
        // if the order wants certain sats, these decide what is spent
        const isLeast = !wants && charge === null && layout.charge !== value - place;
        if (isLeast) expectLeast(order, planned.plan, parents);
      }),
      { numRuns: propertyRuns(800), endOnFailure: true },
    );
    expect(ends.built).toBeGreaterThan(80);
    expect(ends.special).toBeGreaterThan(30);
    expect(ends.refused).toBeGreaterThan(10);
  });

  test('pays the cost of moving runes of parents to their owners, and no sat more', async () => {
    const parents = [1, 2].map((fill) => ({
      id: inscriptionId(fill),
      value: 546n,
      returnScript: ordinals.script,
    }));
    const order = orderOf({ ...oneFile, parents }, { ...prices, baseFee: 0n }, false)!;
    const pay = async (runic: readonly boolean[]) => {
      const tried = await tryPayments(trialOf(order, [100_000n], 1_000n), {
        signers: { payment, ordinals },
        special: null,
        parents: lentTo(order, runic),
        charge: null,
      });
      return tried.kind === 'refused' ? tried.reason : [tried.layout.charge - order.missing, tried.warnings];
    };
    expect(await pay([true, false])).toEqual([0n, []]);
    expect(await pay([false, true])).toEqual([28n, []]);
  });

  test('of more than the order needs, with which it would not spend the special sat, is refused with both numbers', async () => {
    const order = orderOf(oneFile, prices, false)!;
    const pay = async (charge: bigint) => {
      const tried = await tryPayments(trialOf(order, [100_000n], 1_000n), {
        signers: { payment, ordinals },
        special: specialOf(20_000n, 0n),
        parents: [],
        charge,
      });
      return tried.kind === 'refused' ? [tried.reason, tried.parameter] : tried.layout.charge;
    };
    const { missing, missingInTwo, postage } = order;
    expect(await pay(missing + postage - 1n)).toBe(missing + postage - 1n);
    const charge = missing + postage;
    expect(await pay(charge)).toEqual([
      `chargeAmount: with ${charge} sats the order would be paid without specialSatsOutput, and would not spend that output. The order needs only ${missingInTwo} sats, so send no more.`,
      'chargeAmount',
    ]);
  });

  test('of a postage that nodes do not relay to the order is refused before it is planned', async () => {
    const order = orderOf({ ...oneFile, postage: 'least', receivers: [p2wpkh] }, prices, false)!;
    const pay = async (value: bigint) => {
      const tried = await tryPayments(trialOf(order, [100_000n], 1_000n), {
        signers: { payment, ordinals },
        special: specialOf(value, value - 400n),
        parents: [],
        charge: null,
      });
      return tried.kind === 'refused' ? tried.reason : tried.kind;
    };
    expect(await pay(1_000n)).toBe(
      'specialSatsOutput: the postage of the order is 294 sats, but nodes relay at least 330 sats to its address. Send the special sat in an output that ends at most 294 sats after it, or make an order with a higher postage.',
    );
  });
});
