import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asBlockHash, displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { OrderBump } from '#orders/bumping/bump.store.ts';
import { knownFrom } from '#orders/following/learn-order.ts';
import type { OrderRecords } from '#orders/following/read-records.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { balancesOf, holdingsOf, type LedgerEntry, postingOf } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const names = ['payment', 'late', 'stray', 'reveal', 'refund', 'lateRefund', 'return', 'bump'] as const;
type Name = (typeof names)[number];
/** Names of the transactions that each transaction spends. No block contains a transaction before these. */
const parentsOf: Readonly<Record<Name, readonly Name[]>> = {
  payment: [],
  late: [],
  stray: [],
  reveal: ['payment'],
  refund: ['reveal'],
  lateRefund: ['late'],
  return: ['stray', 'refund'],
  bump: ['reveal'],
};
const txidOf = (name: Name): Txid => trustedTxid(Buffer.alloc(32, names.indexOf(name) + 1));
const at = (name: Name, vout: number): string => outpointOf({ txid: txidOf(name), vout });

const wanted = wantedOrder(['text']);
const amount = Number(wanted.quote.amount);
const [postage, fee, extra, closingFee, late, stray] = [546, 400, 20_000, 300, 5000, 600];
const kept = amount + extra - postage - fee;
const output = (kind: StoredPlan['outputs'][number]['kind'], value: number) => ({
  kind,
  value,
  script: '51',
});
const plans: Readonly<Record<'reveal' | 'refund' | 'lateRefund' | 'return' | 'bump', StoredPlan>> = {
  reveal: {
    inputs: [{ outpoint: at('payment', 0), value: amount + extra }],
    outputs: [output('postage', postage), output('service', kept)],
  },
  refund: {
    inputs: [{ outpoint: at('reveal', 1), value: kept }],
    outputs: [output('refund', extra - closingFee), output('change', kept - extra)],
  },
  lateRefund: {
    inputs: [{ outpoint: at('late', 0), value: late }],
    outputs: [output('refund', late - closingFee)],
  },
  // the return of an inscription that was sent by mistake; revenue pays for it
  return: {
    inputs: [
      { outpoint: at('stray', 0), value: stray },
      { outpoint: at('refund', 1), value: kept - extra },
    ],
    outputs: [output('refund', stray), output('change', kept - extra - closingFee)],
  },
  bump: { inputs: [], outputs: [] },
};
const transactionOf = (
  name: 'reveal' | 'refund' | 'lateRefund' | 'return',
  kind: OrderTransaction['kind'],
): OrderTransaction => ({
  txid: txidOf(name),
  kind,
  index: 0,
  files: kind === 'reveal' ? 1 : 0,
  plan: plans[name],
  fee: name === 'reveal' ? fee : closingFee,
  height: null,
  madeAt: new Date(0),
  sentAt: null,
  refusal: null,
});
const transactions = [
  transactionOf('reveal', 'reveal'),
  transactionOf('refund', 'refund'),
  transactionOf('lateRefund', 'refund'),
  transactionOf('return', 'return'),
];

/** The blocks of a chain, each as the names of its transactions. */
type Chain = readonly (readonly Name[])[];

/** Entries that follow from the facts of the order, as far as the payments and the index have read the chain. */
function entriesAt(payments: Chain, index: Chain, finalConfirmations: number, share: number): LedgerEntry[] {
  const paid = new Set(payments.flat());
  const order = {
    id: 'o',
    state: 'completed',
    amount: BigInt(amount),
    extraCost: 0n,
    error: null,
    expiresAt: new Date(1),
    terms: storedTerms(wanted.terms),
    quote: { ...wanted.quote, amount, additionalFeeCharged: share, referralFee: share },
    request: { ...wanted.request, referral: share === 0 ? null : 'friend' },
    refundScript: Buffer.from('51', 'hex'),
    isCancelAsked: false,
  } as unknown as Order;
  const paymentOf = (name: Name, value: number): WatchedPayment => ({
    txid: txidOf(name),
    vout: 0,
    script: Buffer.alloc(34),
    value: BigInt(value),
    firstSeen: new Date(0),
    block: paid.has(name) ? { height: asHeight(1), hash: asBlockHash(Buffer.alloc(32, 1)) } : null,
    goneAt: null,
    replacedBy: null,
    change: 1,
  });
  const revealedAt = index.findIndex((block) => block.includes('reveal'));
  const bump = {
    txid: txidOf('bump'),
    plan: plans.bump,
    share: 500,
    isMined: paid.has('bump'),
    isDead: false,
  };
  const records: OrderRecords = {
    payments: [paymentOf('payment', amount + extra), paymentOf('late', late), paymentOf('stray', stray)],
    deposits: [],
    transactions,
    bumps: [bump as unknown as OrderBump],
    isRevealed: revealedAt !== -1 && index.length - revealedAt >= finalConfirmations,
    isAnchorTaken: false,
    rune: null,
    mined: new Set(
      transactions
        .filter(({ txid }) =>
          names.some((name) => paid.has(name) && displayHash(txidOf(name)) === displayHash(txid)),
        )
        .map(({ txid }) => displayHash(txid)),
    ),
    lent: new Set(),
    held: new Map(),
    stocked: null,
    items: null,
    mining: null,
    etching: null,
    minting: null,
    commitHeight: null,
    depth: { tip: asHeight(1), confirmations: 1 },
  };
  return [...knownFrom(order, records, { returnMaxSats: 0n }, new Date(2)).entries];
}

const overdrawnIn = (entries: readonly LedgerEntry[]): boolean =>
  holdingsOf(entries).some(
    ({ account, amount: sats }) => sats < 0n && account !== 'outside' && account !== 'operator',
  );
const held = (entries: readonly LedgerEntry[]): string[] =>
  holdingsOf(entries)
    .filter(({ amount: sats }) => sats !== 0n)
    .map(({ account, owner, amount: sats }) => `${account} ${owner} ${sats}`)
    .toSorted();

/** A step that changes the chain, or moves one of its readers. */
type Step =
  | { readonly kind: 'block'; readonly has: readonly Name[] }
  | { readonly kind: 'undo'; readonly blocks: number }
  | { readonly kind: 'payments' | 'index' }
  | { readonly kind: 'look' };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('block' as const), has: fc.subarray([...names]) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('undo' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('payments' as const, 'index' as const) }) },
    { weight: 4, arbitrary: fc.constant({ kind: 'look' } as const) },
  ),
  { maxLength: 40 },
);

/** Makes a block of transactions that may be mined. Each comes after the transactions that it spends. */
function blockOf(chain: Chain, has: readonly Name[]): Name[] {
  const mined = new Set(chain.flat());
  const block: Name[] = [];
  for (const name of names) {
    if (!has.includes(name) || mined.has(name) || parentsOf[name].some((parent) => !mined.has(parent)))
      continue;
    mined.add(name);
    block.push(name);
  }
  return block;
}

test('an order gets the same ledger, whatever order payments and index see blocks and reorganisations in', () => {
  fc.assert(
    fc.property(
      steps,
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0, 500),
      (history, confirmations, share) => {
        let chain: Chain = [];
        let payments: Chain = [];
        let index: Chain = [];
        const posted: LedgerEntry[] = [];
        const look = (): void => {
          for (let twice = 0; twice < 2; twice++) {
            const added = postingOf(entriesAt(payments, index, confirmations, share), posted);
            if (added !== 'waits') posted.push(...added);
            if (twice > 0 && added !== 'waits') expect(added).toEqual([]);
          }
          expect(overdrawnIn(posted)).toBe(false);
          const balances = [...balancesOf(posted).values()];
          expect(balances.reduce((total, sats) => total + sats, 0n)).toBe(0n);
        };
        for (const step of history) {
          if (step.kind === 'block') chain = [...chain, blockOf(chain, step.has)];
          else if (step.kind === 'undo') chain = chain.slice(0, Math.max(0, chain.length - step.blocks));
          else if (step.kind === 'payments') payments = chain;
          else if (step.kind === 'index') index = chain;
          else look();
        }
        // payments and index reach the tip, and the delivery is deep enough, so the facts agree
        chain = [...chain, ...Array.from({ length: confirmations }, () => [])];
        payments = chain;
        index = chain;
        look();
        const wanted = entriesAt(chain, chain, confirmations, share);
        expect(overdrawnIn(wanted)).toBe(false);
        expect(held(posted)).toEqual(held(wanted));
      },
    ),
    { numRuns: propertyRuns(500) },
  );
});
