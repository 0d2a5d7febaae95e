import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { type Etching, plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import {
  type FileTerms,
  type MintTerms,
  type OrderTerms,
  orderBounds,
} from '#orders/inscribing/order-terms.ts';
import { type DescribedOrder, type DescribeOptions, describeOrder } from './describe-order.ts';
import { readBatchMode, unknownReceiver } from './read-order.ts';
import { commonSats } from './read-rare-sats.ts';

/** The body of a price: an order and its type. */
export interface PriceBody {
  readonly type?: unknown;
  readonly order?: unknown;
}

/** Reads the body of a price. Never throws: any value gives an order or its faults. */
export function readPriceBody(
  { type: given, order }: PriceBody,
  options: Omit<DescribeOptions, 'type' | 'purpose' | 'timeoutMinutes'>,
): DescribedOrder | Faulty {
  const type = readType(given);
  if (typeof type !== 'string') return type;
  const described = describeOrder(order, {
    ...options,
    ...kindOf(type),
    purpose: 'price',
    timeoutMinutes: anyMinutes,
  });
  if (described.kind === 'faulty' || described.faults.length === 0) return described;
  return { kind: 'faulty', faults: described.faults };
}

/** Timeout of the order in a price, in minutes. A price shows no timeout, so the value does not matter. */
const anyMinutes = 10;

const priceTypes = ['bulk', 'direct', 'rune-etch', 'rune-mint'] as const;
type PriceType = (typeof priceTypes)[number];

/** Options for reading the order in a price of this type. */
function kindOf(type: PriceType): Pick<DescribeOptions, 'type' | 'contents'> {
  if (type === 'rune-etch') return { type: 'bulk', contents: 'etching' };
  return type === 'rune-mint' ? { type: 'bulk', contents: 'mint' } : { type };
}

/** The type of a price. If the body names no type, the order is managed. */
function readType(given: unknown): PriceType | Faulty {
  const values = new RequestValues();
  const type = values.choice(given, 'type', priceTypes, 'bulk');
  return values.faults.length > 0 ? { kind: 'faulty', faults: values.faults } : type;
}

/** An order of text files of equal sizes, from the legacy form of a price. */
export interface ReadPriceQuery {
  readonly kind: 'read';
  readonly terms: OrderTerms;
  readonly rareSats: string;
  /** Base fee that replaces the service's own base fee. Null if the service's own base fee applies. */
  readonly baseFee: bigint | null;
}

/**
 * The assumed etching in prices of the legacy form, which has no fields for etchings: a name of 13 letters, a symbol, a
 * premine, and terms. Its pushes are about as long as in most etchings.
 */
const assumedEtching: Etching = {
  ...plainEtching,
  rune: parseSpacedRune('AAAAAAAAAAAAA')?.rune ?? null,
  symbol: 0x29_c9,
  premine: asU128(1_000_000n),
  terms: {
    amount: asU128(1_000n),
    cap: asU128(20_000n),
    heightStart: null,
    heightEnd: null,
    offsetStart: null,
    offsetEnd: null,
  },
};

/** The assumed rune of mints in the legacy form. Ids in blocks with many etchings are as long as this one. */
const assumedRune: Omit<MintTerms, 'count'> = {
  rune: asRune(0n),
  spacers: 0,
  id: { block: smallU128(900_000), tx: 1_000 },
};

/** Maximum base fee in sats: one bitcoin. A higher value is a mistake. */
const baseFeeMax = 100_000_000n;

/** Reads the legacy form of a price. Never throws: any query gives an order or its faults. */
export function readPriceQuery(
  query: Readonly<Record<string, unknown>>,
  { nonStandard }: Pick<OrderTerms, 'nonStandard'>,
): ReadPriceQuery | Faulty {
  const type = readType(query['type']);
  if (typeof type !== 'string') return type;
  const values = new RequestValues();
  const postage = values.whole(query['postage'], 'postage');
  const isLow = values.boolean(query['lowPostage'], 'lowPostage') && postage === null;
  const terms: OrderTerms = {
    type: kindOf(type).type,
    ...contentsOf(values, query, type),
    receivers: [unknownReceiver],
    postage: isLow ? 'least' : (postage ?? orderBounds.postageDefault),
    feeRate: values.thousandths(query['fee'], 'fee') ?? orderBounds.feeRateDefault,
    batchMode: readBatchMode(values, query['batchMode']),
    parents: [],
    burn: false,
    uncurse: false,
    additionalFee: values.whole(query['additionalFee'], 'additionalFee') ?? 0n,
    nonStandard,
    inventory: null,
  };
  const rareSats = values.text(query['rareSats'], 'rareSats') ?? commonSats;
  const baseFee = values.whole(query['baseFee'], 'baseFee');
  if (baseFee !== null && baseFee > baseFeeMax) values.fault('baseFee', `must be from 0 to ${baseFeeMax}`);
  return values.faults.length > 0
    ? { kind: 'faulty', faults: values.faults }
    : { kind: 'read', terms, rareSats, baseFee };
}

/** Reads the contents of an order of this type. */
function contentsOf(
  values: RequestValues,
  query: Readonly<Record<string, unknown>>,
  type: PriceType,
): Pick<OrderTerms, 'files' | 'etching' | 'mint'> {
  if (type === 'rune-mint') {
    const mint = { ...assumedRune, count: readMintCount(values, query['count']) };
    return { files: [], etching: null, mint };
  }
  const isEtching = type === 'rune-etch';
  const files = readSizes(values, query, isEtching);
  return { files, etching: isEtching ? assumedEtching : null, mint: null };
}

/** The number of mints. The price does not depend on `size`, so any size is accepted. */
function readMintCount(values: RequestValues, given: unknown): number {
  const count = values.whole(given, 'count') ?? 1n;
  if (count >= 1n && count <= BigInt(orderBounds.mints)) return Number(count);
  values.fault('count', `must be from 1 to ${orderBounds.mints}`);
  return 1;
}

function readSizes(
  values: RequestValues,
  query: Readonly<Record<string, unknown>>,
  isEtching: boolean,
): FileTerms[] {
  const size = values.whole(query['size'], 'size') ?? 0n;
  // an etching needs no file
  if (isEtching && size === 0n) return [];
  values.required(query['size'], 'size');
  const count = values.whole(query['count'], 'count') ?? 1n;
  if (count >= 1n && count <= BigInt(orderBounds.files)) return textFiles(size, Number(count));
  values.fault('count', `must be from 1 to ${orderBounds.files}`);
  return [];
}

function textFiles(size: bigint, count: number): FileTerms[] {
  const each = Number(size / BigInt(count));
  const more = Number(size % BigInt(count));
  return Array.from({ length: count }, (_, index) => ({
    contentType: 'text/plain;charset=utf-8',
    body: index < more ? each + 1 : each,
    contentEncoding: null,
    metaprotocol: null,
    metadata: null,
    delegate: null,
  }));
}
