import fc from 'fast-check';
import { type Discount, discountedFees } from '#kernel/contracts/asking-key.ts';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import type { RevealLayout } from '#orders/inscribing/order-layout.ts';
import type { FileTerms, OrderRefusal, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { namedOutputs } from '#orders/inscribing/plan-holdings.ts';
import {
  type Arrived,
  type OwnDestination,
  planBurn,
  planCommit,
  planReveal,
} from '#orders/inscribing/plan-transactions.ts';
import type { OrderPrices, OrderQuote } from '#orders/inscribing/quote-order.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import { postageOf, postageOutputCount } from '#orders/inscribing/settled-terms.ts';
import { runeRoute } from '#orders/parents/rune-route.ts';
import { etchings } from '#test/builders/etchings.ts';
import { orderTerms, textTerms } from '#test/builders/order-terms.ts';
import { unsignedTransaction } from '#wallet/encode-transaction.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

/** Makes orders for tests, which are paid in full, and all of their transactions. */

export const p2tr = (fill: number): Uint8Array => Uint8Array.of(0x51, 0x20, ...new Uint8Array(32).fill(fill));
export const p2wpkh = Uint8Array.of(0x00, 0x14, ...new Uint8Array(20).fill(2));
export const p2pkh = Uint8Array.of(0x76, 0xa9, 0x14, ...new Uint8Array(20).fill(3), 0x88, 0xac);
export const p2sh = Uint8Array.of(0xa9, 0x14, ...new Uint8Array(20).fill(4), 0x87);

export const textFile = textTerms;

export const oneFile = orderTerms([textTerms(new Uint8Array(100).fill(65))], [p2tr(1)]);

export const prices: OrderPrices = {
  baseFee: 2000n,
  rareSatsFee: 0n,
  collectionServiceFee: 0n,
  price: 0n,
  sizeFeePercent: 10,
  discounts: [],
};

export const inscriptionId = (fill: number, index = 0) => ({
  txid: asTxid(new Uint8Array(32).fill(fill)),
  index,
});

const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const content = (most: number): fc.Arbitrary<Uint8Array> =>
  fc.nat(most).map((length) => new Uint8Array(length).fill(65));
const file: fc.Arbitrary<FileTerms> = fc.record({
  contentType: orNull(fc.constantFrom('image/png', 'text/html;charset=utf-8')),
  body: orNull(fc.oneof(content(2000), fc.constantFrom(new Uint8Array(150_000).fill(66)))),
  contentEncoding: orNull(fc.constant('br')),
  metaprotocol: orNull(fc.constant('brc-20')),
  metadata: orNull(content(1200)),
  delegate: orNull(fc.nat(70_000).map((index) => inscriptionId(7, index))),
});
const script = fc.constantFrom(p2tr(1), p2wpkh, p2pkh, p2sh);
const bigint = (min: number, max: number): fc.Arbitrary<bigint> => fc.integer({ min, max }).map(BigInt);

export const orders: fc.Arbitrary<OrderTerms> = fc
  .record({
    type: fc.constantFrom<OrderTerms['type']>('direct', 'bulk'),
    files: fc.array(file, { minLength: 1, maxLength: 5 }),
    receiver: script,
    each: fc.boolean(),
    postage: fc.oneof(bigint(546, 10_000), fc.constant('least' as const)),
    feeRate: fc.oneof(bigint(100, 3000), bigint(3000, 500_000)),
    batchMode: fc.constantFrom<OrderTerms['batchMode']>('separate-outputs', 'shared-output'),
    parents: fc.uniqueArray(fc.nat(200), { maxLength: 2 }),
    parentValue: bigint(546, 20_000),
    burn: fc.boolean(),
    uncurse: fc.boolean(),
    additionalFee: bigint(0, 1000),
  })
  .map(({ receiver, each, parents, parentValue, ...terms }) => ({
    ...terms,
    receivers: each && terms.batchMode === 'separate-outputs' ? terms.files.map(() => receiver) : [receiver],
    parents: parents.map((fill) => ({
      id: inscriptionId(fill),
      value: parentValue + BigInt(fill),
      returnScript: receiver,
    })),
    nonStandard: false,
    inventory: null,
    etching: null,
    mint: null,
  }));

/** Sats left in an output: 0, or at least the dust limit of P2TR. */
const rest = fc.oneof(fc.constant(0n), bigint(330, 400), bigint(330, 5_000_000));

/** Orders that use inventory sats. Each output of the inventory has other sats before and after its sat. */
export const inventoryOrders: fc.Arbitrary<OrderTerms> = fc
  .tuple(orders, fc.array(fc.tuple(rest, rest), { minLength: 5, maxLength: 5 }))
  .map(([terms, rests]): OrderTerms => {
    const { files } = terms;
    const batchMode = files.length > 1 ? 'separate-outputs' : terms.batchMode;
    const made = { ...terms, parents: [], burn: false, uncurse: false, batchMode } as const;
    const postage = postageOf(made);
    const sats = rests.slice(0, files.length);
    const inventory = sats.map(([before, after]) => ({ value: before + postage + after, place: before }));
    return { ...made, inventory };
  });

/** Orders that etch a rune. Half of them have files. */
export const etchingOrders: fc.Arbitrary<OrderTerms> = fc.tuple(orders, etchings, fc.boolean()).map(
  ([terms, etching, hasFiles]): OrderTerms => ({
    ...terms,
    type: 'bulk',
    files: hasFiles ? terms.files : [],
    receivers: terms.receivers.slice(0, 1),
    parents: [],
    burn: false,
    uncurse: false,
    etching,
  }),
);

/** Discounts of an API key, with at most one for each fee. */
const someDiscounts: fc.Arbitrary<Discount[]> = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...discountedFees)),
    fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('fixed' as const), discount: fc.integer({ min: 1, max: 30_000 }) }),
        fc.record({
          type: fc.constant('percentage' as const),
          discount: fc.integer({ min: 1, max: 10_000 }).map((hundredths) => hundredths / 100),
        }),
      ),
      { minLength: 3, maxLength: 3 },
    ),
  )
  .map(([fees, each]) => fees.map((parameter, place) => ({ parameter, ...each[place]! })));

export const somePrices: fc.Arbitrary<OrderPrices> = fc.record({
  baseFee: fc.oneof(bigint(0, 400), bigint(0, 20_000)),
  rareSatsFee: bigint(0, 100),
  collectionServiceFee: bigint(0, 100),
  price: bigint(0, 100),
  sizeFeePercent: fc.constantFrom(0, 7, 10, 100),
  discounts: someDiscounts,
});

/** The keys of a wallet for an order, and the txids of the order's transactions. */
export interface OrderKeys {
  readonly xOnlyKey: Uint8Array;
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  readonly txidOf: (plan: TransactionPlan) => Txid;
}

const orderKey = { branch: 0, index: 7 } as const;
const serviceKey = { branch: 1, index: 3 } as const;

let made = 0;
const nextTxid = (): Txid => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, ++made);
  return asTxid(bytes);
};
const txids = new WeakMap<TransactionPlan, Txid>();

/** Keys that belong to no one. Plans need only the lengths of keys. */
export const dummyKeys: OrderKeys = {
  xOnlyKey: new Uint8Array(32).fill(9),
  scriptOf: ({ leafScript }) => p2tr(leafScript === null ? 21 : 40),
  txidOf: (plan) => {
    const txid = txids.get(plan) ?? nextTxid();
    txids.set(plan, txid);
    return txid;
  },
};

/** Keys of a wallet for an order. */
export const keysOf = (wallet: PublicWallet): OrderKeys => ({
  xOnlyKey: wallet.orderKey(orderKey.index),
  scriptOf: (own) => wallet.addressOf(own).script,
  txidOf: (plan) => unsignedTransaction(plan).txid,
});

const destination = (keys: OrderKeys, own: OwnScript): OwnDestination => ({
  script: keys.scriptOf(own),
  own,
});
export const serviceOf = (keys: OrderKeys): OwnDestination =>
  destination(keys, { key: serviceKey, leafScript: null });
export const service = serviceOf(dummyKeys);

/** An output that was paid to the wallet. */
export function arrived(value: bigint, leafScript: Uint8Array | null = null, keys = dummyKeys): Arrived {
  const own = { key: orderKey, leafScript };
  return { txid: nextTxid(), vout: 0, value, script: keys.scriptOf(own), ...own };
}

/** An output of the inventory. */
export function stocked(value: bigint, keys = dummyKeys): Arrived {
  const own = { key: { branch: 2, index: 4 }, leafScript: null } as const;
  return { txid: nextTxid(), vout: 3, value, script: keys.scriptOf(own), ...own };
}

/** An output of a plan, as the signed transaction has it. */
function outputOf(plan: TransactionPlan, vout: number, keys: OrderKeys): Arrived & { holds: Holdings } {
  const { value, script, own = { key: serviceKey, leafScript: null } } = plan.outputs[vout]!;
  const txid = keys.txidOf(plan);
  return { txid, vout, value, script, ...own, holds: namedOutputs(plan, txid)[vout] ?? nothingHeld };
}

export interface MadeOrder {
  /** Parents and payments that arrived for the order. */
  readonly came: readonly Arrived[];
  readonly commit: TransactionPlan | null;
  readonly reveals: readonly TransactionPlan[];
  readonly burns: readonly TransactionPlan[];
}

const planned = (plan: TransactionPlan | OrderRefusal): TransactionPlan => {
  if ('kind' in plan) throw new Error(plan.reason);
  return plan;
};

/** Outputs that arrived for an order, in sats. */
export interface Brought {
  readonly payments: readonly bigint[];
  /** Sats of the parents, in the order of the terms. */
  readonly parents: readonly bigint[];
  /** Contents of each payment. Default: only sats. */
  readonly paymentsHold?: readonly Holdings[];
  readonly parentsHold?: readonly Holdings[];
}

/** Makes all transactions of an order. It is paid with one output of exactly its amount, or with the given outputs. */
export function makeOrder(
  terms: OrderTerms,
  { layout, amount }: OrderQuote,
  keys = dummyKeys,
  brought: Brought = { payments: [amount], parents: terms.parents.map(({ value }) => value) },
): MadeOrder {
  const leaves = layout.reveals.map((reveal) => revealLeaf(terms, reveal, keys.xOnlyKey));
  const all: Arrived[] = [];
  const came = (value: bigint, leaf: Uint8Array | null, holds: Holdings = nothingHeld) => {
    const output = { ...arrived(value, leaf, keys), holds };
    all.push(output);
    return output;
  };
  const paid = (leaf: Uint8Array | null): Arrived[] =>
    brought.payments.map((value, index) => came(value, leaf, brought.paymentsHold?.[index]));
  const commit = layout.paidTo === 'wallet' ? commitOf(terms, layout, leaves, paid(null), keys) : null;
  let parents = brought.parents.map((value, index) => came(value, null, brought.parentsHold?.[index]));
  const heldRunes = parents.map(({ holds }) => holds.runes);
  const isApart = layout.reveals[0]?.feeInput !== null;
  const committedTo = (plan: TransactionPlan, index: number): Arrived[] =>
    isApart
      ? [outputOf(plan, index * 2, keys), outputOf(plan, index * 2 + 1, keys)]
      : [outputOf(plan, index, keys)];
  const reveals = layout.reveals.map((reveal: RevealLayout, index) => {
    const payments = commit === null ? paid(leaves[0]!) : committedTo(commit, index);
    const [first, ...others] = payments as [Arrived, ...Arrived[]];
    const route = runeRoute(heldRunes, isApart ? postageOutputCount(terms, reveal) : 0);
    const funds = {
      ...(route === null ? {} : { route }),
      payments: [first, ...others],
      parents,
      ...(terms.inventory === null ? {} : { inventory: stocked(terms.inventory[index]!.value, keys) }),
      service: serviceOf(keys),
    } as const;
    const plan = planned(planReveal(terms, reveal, funds));
    parents = terms.parents.map((_, parent) => outputOf(plan, isApart ? parent + 1 : parent, keys));
    return plan;
  });
  return {
    came: all,
    commit,
    reveals,
    burns: terms.burn ? reveals.map((reveal) => burnOf(terms, reveal, keys)) : [],
  };
}

function commitOf(
  terms: OrderTerms,
  layout: OrderQuote['layout'],
  leaves: readonly Uint8Array[],
  payments: readonly Arrived[],
  keys: OrderKeys,
): TransactionPlan {
  return planned(
    planCommit(terms, layout, {
      payments: payments as [Arrived, ...Arrived[]],
      commits: leaves.map((leafScript) => destination(keys, { key: orderKey, leafScript })),
      feeInputs: destination(keys, { key: orderKey, leafScript: null }),
      change: serviceOf(keys),
    }),
  );
}

function burnOf(terms: OrderTerms, reveal: TransactionPlan, keys: OrderKeys): TransactionPlan {
  const outputs = reveal.outputs.map((_, vout) => outputOf(reveal, vout, keys));
  return planned(
    planBurn(terms, {
      // a runestone is also an output of the kind `burn`, but without value
      anchors: outputs.filter(({ value }, vout) => reveal.outputs[vout]?.kind === 'burn' && value > 0n),
      payment: outputs.find((_, vout) => reveal.outputs[vout]?.kind === 'service')!,
      service: serviceOf(keys),
    }),
  );
}
