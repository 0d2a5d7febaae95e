import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asBlockHash, displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { knownFrom } from '#orders/following/learn-order.ts';
import type { OrderRecords } from '#orders/following/read-records.ts';
import type { Arrived } from '#orders/inscribing/plan-transactions.ts';
import { hexOf } from '#orders/ledger/settlements.ts';
import { planRefund } from '#orders/making/plan-refund.ts';
import { storedPlan } from '#orders/making/sign-and-store.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import { type PlannedReturn, planMostReturned } from '#orders/parents/plan-return.ts';
import type { ReturnFund } from '#orders/parents/returns.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const p2tr = (fill: number): Buffer => Buffer.of(0x51, 0x20, ...new Uint8Array(32).fill(fill));
const refundScript = p2tr(1);
const homes = [p2tr(2), Buffer.of(0x76, 0xa9, 20, ...new Uint8Array(20), 0x88, 0xac)];
const own = { script: p2tr(3), own: { key: { branch: 1, index: 3 }, leafScript: null } } as const;
const kinds = ['sats', 'sats', 'inscribed', 'runic', 'parent', 'unmined'] as const;

/** An output that was sent to an order: to the address of its charge, or to the deposit address of a parent. */
interface Sent {
  readonly to: 'charge' | 0 | 1;
  readonly kind: (typeof kinds)[number];
  readonly value: bigint;
}
const sent: fc.Arbitrary<Sent> = fc.record({
  to: fc.constantFrom<Sent['to'][]>('charge', 0, 1),
  kind: fc.constantFrom(...kinds),
  value: fc.oneof(
    fc.constant(330n),
    fc.bigInt({ min: 330n, max: 1000n }),
    fc.bigInt({ min: 1000n, max: 100_000n }),
  ),
});

const runes = [{ id: { block: asU128(1n), tx: 0 }, amount: asU128(5n) }];
const paymentOf = ({ value, kind }: Sent, place: number): WatchedPayment => ({
  txid: trustedTxid(Buffer.alloc(32, 0x40 + (place % 100))),
  vout: place,
  script: p2tr(4),
  value,
  firstSeen: new Date(0),
  block: kind === 'unmined' ? null : { height: asHeight(90), hash: asBlockHash(Buffer.alloc(32, 1)) },
  goneAt: null,
  replacedBy: null,
  change: 1,
});
const depositOf = (payment: WatchedPayment, { to, kind, value }: Sent): Deposit => ({
  at: { index: Number(to), keyIndex: Number(to), script: payment.script, address: '' },
  payment,
  state: kind === 'unmined' ? 'seen' : kind === 'parent' ? 'here' : 'other',
  isDust: value < BigInt(dustOf(homes[Number(to)]!)),
  isHolding: kind !== 'sats',
  isUnspent: true,
  inscriptions: [],
  runes: kind === 'runic' ? runes : [],
});

const parentOf = (fill: number, returnScript: Uint8Array) => ({
  id: { txid: trustedTxid(Buffer.alloc(32, fill)), index: 0 },
  value: 10_000n,
  returnScript,
});
const wanted = wantedOrder(['text'], { parents: homes.map((home, place) => parentOf(place + 1, home)) });
const order = {
  id: 'o',
  state: 'waiting-refund',
  amount: 5000n,
  extraCost: 0n,
  error: null,
  expiresAt: new Date(1),
  terms: storedTerms(wanted.terms),
  quote: wanted.quote,
  request: wanted.request,
  refundScript,
  isCancelAsked: false,
} as unknown as Order;

/** An order that is over. Its outputs are in blocks. */
class Room {
  readonly transactions: OrderTransaction[] = [];
  readonly #sent: readonly { readonly what: Sent; readonly payment: WatchedPayment }[];
  readonly #costMax: bigint;

  constructor(all: readonly Sent[], costMax: bigint) {
    this.#sent = all.map((what, place) => ({ what, payment: paymentOf(what, place) }));
    this.#costMax = costMax;
  }

  get holding(): ReadonlySet<string> {
    const holds = this.#sent.filter(({ what }) => ['inscribed', 'runic', 'parent'].includes(what.kind));
    return new Set(holds.map(({ payment }) => outpointOf(payment)));
  }

  known() {
    const paid = this.#sent.filter(({ what }) => what.to === 'charge');
    const records: OrderRecords = {
      payments: paid.map(({ payment }) => payment),
      deposits: this.#sent
        .filter(({ what }) => what.to !== 'charge')
        .map(({ what, payment }) => depositOf(payment, what)),
      transactions: this.transactions,
      bumps: [],
      isRevealed: false,
      isAnchorTaken: false,
      rune: null,
      mined: new Set(this.transactions.map(({ txid }) => displayHash(txid))),
      lent: new Set(),
      held: new Map(
        paid.map(({ what: { kind }, payment }) => [
          outpointOf(payment),
          {
            isIndexed: true,
            isHolding: kind !== 'sats' && kind !== 'unmined',
            isParent: kind === 'parent',
            inscriptions: [],
            runes: kind === 'runic' ? runes : [],
          },
        ]),
      ),
      stocked: null,
      items: null,
      mining: null,
      etching: null,
      minting: null,
      commitHeight: null,
      depth: { tip: asHeight(100), confirmations: 1 },
    };
    return knownFrom(order, records, { returnMaxSats: this.#costMax }, new Date(2));
  }

  store(kind: 'return' | 'refund', plan: TransactionPlan, coin: Arrived | null): void {
    this.transactions.push({
      txid: trustedTxid(Buffer.alloc(32, 0xa0 + this.transactions.length)),
      kind,
      index: 0,
      files: 0,
      plan: storedPlan(plan, [], coin),
      fee: Number(plan.feeMax),
      height: null,
      madeAt: new Date(0),
      sentAt: null,
      refusal: null,
    });
  }
}

const arrived = ({ txid, vout, value }: Pick<Arrived, 'txid' | 'vout' | 'value'>): Arrived => ({
  txid,
  vout,
  value,
  script: p2tr(4),
  key: { branch: 0, index: 1 },
  leafScript: null,
});

/** Plans a return like `makeReturn`. */
function planned(
  { holdings, isLast }: NonNullable<ReturnType<Room['known']>['returned']>,
  fund: ReturnFund,
  feeRate: bigint,
  coin: Arrived,
): (PlannedReturn & { count: number }) | null {
  const sats = fund.kind === 'customer' ? fund.sats : [];
  const money = fund.kind === 'operator' ? [coin] : fund.money.map(arrived);
  const [first] = sats;
  const plan = planMostReturned(
    {
      holdings: holdings.map(({ payment, at, inscriptions, runes: held }) => ({
        ...arrived(payment),
        destination: at === null ? refundScript : homes[at.index]!,
        holds: { inscriptions, runes: held },
      })),
      money: [...money, ...sats.map(({ payment }) => arrived(payment))],
      kept: own,
      isOurs: fund.kind !== 'customer',
      costMax: fund.costMax,
      feeRate,
    },
    (areAll) => {
      if (fund.kind !== 'customer') return null;
      if (first !== undefined) return { kind: 'parent', script: homes[first.at.index]! };
      return areAll && isLast ? { kind: 'refund', script: refundScript } : null;
    },
  );
  return plan.kind === 'return' ? plan : null;
}

const sum = (parts: readonly { value: bigint }[]): bigint =>
  parts.reduce((total, { value }) => total + value, 0n);

/** Checks the laws that every return must obey. */
function expectWhole(plan: PlannedReturn & { count: number }, held: number, holding: ReadonlySet<string>) {
  expect(sum(plan.inputs)).toBe(sum(plan.outputs) + plan.feeMax);
  expect(plan.inputs.length).toBeLessThanOrEqual(150);
  // Each holding's sats are all in the output with the same index. Every such output except the last has exactly these
  // sats.
  const count = held === 0 ? 0 : plan.count;
  for (let place = 0; place < count; place++) {
    const [input, output] = [plan.inputs[place]!, plan.outputs[place]!];
    expect(output.value).toBeGreaterThanOrEqual(input.value);
    if (place < count - 1) expect(output.value).toBe(input.value);
  }
  // the inputs that pay hold neither inscriptions nor runes
  for (const input of plan.inputs.slice(count)) expect(holding.has(outpointOf(input))).toBe(false);
}

/** Checks the laws of the ledger. */
function expectBooked(room: Room, ourCost: bigint): void {
  const balances = balancesOf(room.known().entries);
  expect([...balances.values()].reduce((total, sats) => total + sats, 0n)).toBe(0n);
  for (const [account, sats] of balances) {
    if (account === 'operator') expect(-sats).toBe(ourCost);
    else if (account !== 'outside') expect(sats).toBeGreaterThanOrEqual(0n);
  }
  const fees = room.transactions.reduce((total, { fee }) => total + BigInt(fee), 0n);
  expect(balances.get('fee') ?? 0n).toBe(fees);
}

/** Checks that the table of coins agrees with the ledger, and that no free coin contains a customer's money. */
function expectHeld(room: Room): void {
  const { coins, entries } = room.known();
  const listed = coins ?? [];
  expect(new Set(listed.map(outpointOf)).size).toBe(listed.length);
  const spent = spentBy(room.transactions);
  const inBlocks = new Set([
    ...entries.map(({ txid, vout }) => `${txid}:${vout}`),
    ...room.transactions.flatMap(({ txid, plan }) => plan.outputs.map((_, vout) => `${hexOf(txid)}:${vout}`)),
  ]);
  const there = listed.filter(
    (coin) => inBlocks.has(`${hexOf(coin.txid)}:${coin.vout}`) && !spent.has(outpointOf(coin)),
  );
  const brought = room.transactions.flatMap(({ plan }) =>
    plan.inputs
      .filter(({ isOperator }) => isOperator === true)
      .map(({ value }) => ({ value: BigInt(value) })),
  );
  const kept = [...balancesOf(entries)]
    .filter(([account]) => !['outside', 'fee', 'postage'].includes(account))
    .reduce((total, [, sats]) => total + sats, 0n);
  expect(sum(there) - sum(brought)).toBe(kept);
  // free coins are only rests of the operator's coins
  const free = listed.filter(({ held }) => held === 'free');
  const lent = room.transactions.filter(({ plan }) =>
    plan.inputs.some(({ isOperator }) => isOperator === true),
  );
  const isLent = ({ txid }: (typeof free)[number]): boolean => lent.some((made) => made.txid === txid);
  expect(free.every(isLent)).toBe(true);
}

/** Plans a return with the first fund that can pay for it. Returns `null` if none can. */
function paidReturn(known: ReturnType<Room['known']>, feeRate: bigint, coin: Arrived) {
  const { returned } = known;
  for (const fund of returned?.funds ?? []) {
    const plan = planned(returned!, fund, feeRate, coin);
    if (plan !== null) return { fund, plan, held: returned!.holdings.length };
  }
  return null;
}

test('for any outputs sent to an order that is over, sums agree, no inscription or rune pays, and costs are bounded', () => {
  fc.assert(
    fc.property(
      fc.array(sent, { maxLength: 120 }),
      fc.bigInt({ min: 1000n, max: 300_000n }),
      fc.constantFrom(0n, 5000n),
      (all, feeRate, costMax) => {
        const room = new Room(all, costMax);
        const { holding } = room;
        let ourCost = 0n;
        let strayCost = 0n;
        for (let steps = 0; ; steps++) {
          expect(steps).toBeLessThan(all.length * 2 + 2);
          const known = room.known();
          const ours = arrived({ txid: trustedTxid(Buffer.alloc(32, 9)), vout: steps, value: 50_000n });
          const coin = { ...ours, script: own.script };
          const made = paidReturn(known, feeRate, coin);
          if (made !== null) {
            const { fund, plan, held } = made;
            expectWhole(plan, held, holding);
            if (fund.kind !== 'customer') ourCost += plan.cost;
            else if (fund.costMax !== null) strayCost += plan.cost;
            room.store('return', plan, fund.kind === 'operator' ? coin : null);
            continue;
          }
          const owed = known.refunded.map((money) => ({ ...arrived(money), owed: money.owed }));
          const refund = planRefund(owed, refundScript, own, feeRate);
          if (refund === null) break;
          for (const input of refund.inputs) expect(holding.has(outpointOf(input))).toBe(false);
          room.store('refund', refund, null);
        }
        expect(ourCost).toBeLessThanOrEqual(costMax);
        expect(strayCost).toBeLessThanOrEqual(costMax);
        expectBooked(room, ourCost);
        expectHeld(room);
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});
