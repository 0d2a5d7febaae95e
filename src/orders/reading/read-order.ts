import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Assumed, type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import { itemFiles, type QuotedItems } from '#orders/collections/ordered-items.ts';
import { termFaults, tooManyParents } from '#orders/inscribing/check-terms.ts';
import {
  type FileTerms,
  type OrderRefusalCode,
  type OrderTerms,
  orderBounds,
  type ParentTerms,
} from '#orders/inscribing/order-terms.ts';
import { givenParents } from './given-parents.ts';
import { type ReadAhead, readAtOnce } from './read-ahead.ts';
import { readEtching } from './read-etching.ts';
import { type ReadFile, readFiles } from './read-files.ts';
import { readMint } from './read-mint.ts';
import { commonSats } from './read-rare-sats.ts';
import { hasItems, readTexts } from './read-texts.ts';

/**
 * Contents of an order. `files`: files and delegates. `texts`: texts instead of files. `etching`: a rune; files are
 * optional. `mint`: mints of a rune, without files.
 */
export type OrderContents = 'files' | 'texts' | 'etching' | 'mint';

export interface ReadOptions {
  readonly network: NetworkParameters;
  readonly type: OrderTerms['type'];
  /** Whether a miner accepts reveals above 400,000 weight units. */
  readonly nonStandard: boolean;
  /**
   * `price`: receivers and parents may be incomplete, and contents may be lengths. `order`: everything that the
   * transactions need must be present.
   */
  readonly purpose: 'price' | 'order';
  /**
   * Contents that the order has. If it is absent, the order has files and delegates. A price may then also have texts
   * instead.
   */
  readonly contents?: OrderContents;
  /** Items of a collection that are the contents. Absent if the body has the contents. */
  readonly items?: QuotedItems | null;
  /** Slow values that were already read. Absent if they are read now. */
  readonly ahead?: ReadAhead;
  /** Whether a URL is a file URL of this service. Absent if no URL of this service exists. */
  readonly isOwnUrl?: (url: string) => boolean;
}

/** An order that was read from its client's request. */
export interface ReadOrder {
  readonly kind: 'read';
  /** Terms with the lengths of contents. `files` has the sources of the contents. */
  readonly terms: OrderTerms;
  /** One file for each file of the terms. */
  readonly files: readonly ReadFile[];
  readonly rareSats: string;
  readonly referral: string | null;
  readonly inscriptionIdPrefix: string | null;
  /** Whether contents are inscribed in brotli if that is shorter. */
  readonly compress: boolean;
  /** Values that a price assumed. Empty for an order. */
  readonly assumed: Assumed;
}

/** Assumed script of an unknown receiver: P2TR, the longest type that people commonly use. */
export const unknownReceiver = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));

/**
 * Reads the body of an order, or the `order` of a price: fields of the public interface, numbers as numbers or texts.
 * Unknown fields are ignored. Never throws: any value gives an order or its faults.
 */
export function readOrderRequest(body: unknown, options: ReadOptions): ReadOrder | Faulty {
  const values = new RequestValues();
  const order = values.object(body, 'order') ?? {};
  const files = readContents(values, order, options);
  const burn = values.boolean(order['burnAfterInscribe'], 'burnAfterInscribe');
  const additionalFee = values.whole(order['additionalFee'], 'additionalFee') ?? 0n;
  const referral = values.text(order['referral'], 'referral');
  if (additionalFee > 0n && referral === null) values.fault('additionalFee', 'is only valid with a referral');
  const isLow = values.boolean(order['lowPostage'], 'lowPostage');
  const postage = values.whole(order['postage'], 'postage');
  const terms: OrderTerms = {
    type: options.type,
    files: files.map(({ terms: file }): FileTerms => file),
    receivers: burn
      ? ignoredReceivers(values, order['receiveAddress'], options)
      : readReceivers(values, order['receiveAddress'], options),
    postage: isLow && postage === null ? 'least' : (postage ?? orderBounds.postageDefault),
    feeRate: values.thousandths(order['fee'], 'fee') ?? orderBounds.feeRateDefault,
    batchMode: readBatchMode(values, order['batchMode']),
    parents: readParents(values, order, options),
    burn,
    uncurse: values.boolean(order['uncurseIt'], 'uncurseIt'),
    additionalFee,
    nonStandard: options.nonStandard,
    inventory: null,
    ...runesOf(values, order, options),
  };
  const read: ReadOrder = {
    kind: 'read',
    terms,
    files,
    rareSats: values.text(order['rareSats'], 'rareSats') ?? commonSats,
    referral,
    inscriptionIdPrefix: readPrefix(values, order['inscriptionIdPrefix']),
    compress: values.boolean(order['compress'], 'compress'),
    assumed: values.assumed,
  };
  addTermFaults(values, terms);
  const { faults } = values;
  return faults.length > 0 ? { kind: 'faulty', faults } : read;
}

/** Reads the rune that an order etches or mints. */
const runesOf = (
  values: RequestValues,
  order: Readonly<Record<string, unknown>>,
  { contents, purpose }: ReadOptions,
): Pick<OrderTerms, 'etching' | 'mint'> => ({
  etching: contents === 'etching' ? readEtching(values, order) : null,
  mint: contents === 'mint' ? readMint(values, order, purpose) : null,
});

/**
 * Whether the contents of an order are texts. Prices for files and for texts have the same path, so the fields decide.
 */
const isOfTexts = (
  order: Readonly<Record<string, unknown>>,
  { contents, type, purpose }: ReadOptions,
): boolean =>
  contents === 'texts' ||
  (contents === undefined &&
    type === 'bulk' &&
    purpose === 'price' &&
    hasItems(order['texts']) &&
    !hasItems(order['files']) &&
    !hasItems(order['delegates']));

/**
 * Reads files and delegates, or texts. Texts beside files are refused, because the order without them would be a
 * different order.
 */
function readContents(
  values: RequestValues,
  order: Readonly<Record<string, unknown>>,
  options: ReadOptions,
): ReadFile[] {
  if (options.items != null) return readItems(values, order, options.items);
  if (isOfTexts(order, options)) return readTexts(values, order);
  if (options.type === 'bulk' && hasItems(order['texts']))
    values.sentence('texts', 'texts cannot be part of an order of files. Send texts to POST /textorder.');
  const { purpose, contents, isOwnUrl = () => false } = options;
  return readFiles(values, order, {
    isPrice: purpose === 'price',
    isOptional: contents === 'etching' || contents === 'mint',
    ahead: aheadOf(options),
    isOwnUrl,
  });
}

/** Reads items. Files beside items are refused, because a customer would get fewer inscriptions than were sent. */
function readItems(
  values: RequestValues,
  order: Readonly<Record<string, unknown>>,
  items: QuotedItems,
): ReadFile[] {
  for (const name of ['files', 'delegates', 'texts'])
    if (hasItems(order[name]))
      values.sentence(name, `${name} cannot be part of an order of a collection. Use POST /order for this.`);
  return itemFiles(items);
}

const aheadOf = ({ network, ahead }: Pick<ReadOptions, 'network' | 'ahead'>): ReadAhead =>
  ahead ?? readAtOnce(network);

/** Adds the faults of an order's terms, except those that follow from a faulty field. */
function addTermFaults(values: RequestValues, terms: OrderTerms): void {
  const named = values.faults.map(({ parameter }) => parameter?.split(/[.[]/u, 1)[0]);
  for (const { code, reason } of termFaults(terms)) {
    if (values.isFull) return;
    const parameter = parameterOf[code] ?? 'files';
    const isCounted = code === 'no-files' || code === 'receivers-count' || code === 'receivers-differ';
    const isFollowing = named.includes(parameter) || (isCounted && named.some((name) => isCountedBy(name)));
    if (!isFollowing) values.sentence(parameter, reason);
  }
}

/** Whether faulty items of this field are left out of the terms. */
const isCountedBy = (name: string | undefined): boolean =>
  name === 'files' || name === 'delegates' || name === 'texts' || name === 'receiveAddress';

/** The field to which each refusal belongs. */
const parameterOf: Readonly<Partial<Record<OrderRefusalCode, string>>> = {
  'receivers-count': 'receiveAddress',
  'receivers-differ': 'receiveAddress',
  'burn-shared': 'burnAfterInscribe',
  'postage-bounds': 'postage',
  'postage-dust': 'postage',
  'fee-rate-bounds': 'fee',
  'additional-fee-bounds': 'additionalFee',
  'parent-repeated': 'parents',
  'parent-dust': 'parents',
  'too-many-parents': 'parents',
  'uncurse-impossible': 'uncurseIt',
  'inventory-alone': 'rareSats',
  'inventory-files': 'files',
  'etching-alone': 'rune',
  'etching-files': 'files',
  'mint-alone': 'rune',
  'mint-count': 'numberOfMints',
};

export function readBatchMode(values: RequestValues, given: unknown): OrderTerms['batchMode'] {
  const modes = ['separate-outputs', 'shared-output'] as const;
  return values.choice(given, 'batchMode', modes, 'separate-outputs');
}

function readReceivers(values: RequestValues, given: unknown, options: ReadOptions): Uint8Array[] {
  const name = 'receiveAddress';
  if (Array.isArray(given) && given.length > orderBounds.files) {
    // with burnAfterInscribe, the number of files does not bound the number of addresses
    const files = `an order has at most ${orderBounds.files} files and delegates.`;
    values.sentence(name, `${name} has ${given.length} addresses, but ${files}`);
    return [unknownReceiver];
  }
  if (Array.isArray(given) && given.length > 0) {
    return given.map((address, index) => readAddress(values, address, `${name}[${index}]`, options));
  }
  return [readAddress(values, Array.isArray(given) ? null : given, name, options)];
}

/**
 * Checks the addresses of an order that burns its inscriptions. They are not used, but invalid addresses are still
 * faults.
 */
function ignoredReceivers(values: RequestValues, given: unknown, options: ReadOptions): readonly [] {
  if (given !== undefined && given !== null && given !== '') readReceivers(values, given, options);
  return [];
}

/**
 * The script of an address. If a price lacks the address, or if the address is faulty, the script of an unknown
 * receiver.
 */
export function readAddress(
  values: RequestValues,
  given: unknown,
  name: string,
  options: Pick<ReadOptions, 'network' | 'purpose' | 'ahead'>,
): Uint8Array {
  const address = values.text(given, name);
  if (address === null) {
    if (options.purpose === 'order') values.required(given, name);
    else values.assume(name);
    return unknownReceiver;
  }
  const parsed = aheadOf(options).address(address);
  if (parsed.kind === 'script') return parsed.script;
  values.fault(name, parsed.reason);
  return unknownReceiver;
}

function readParents(
  values: RequestValues,
  order: Readonly<Record<string, unknown>>,
  options: ReadOptions,
): ParentTerms[] {
  const { items, nameOf, differ } = givenParents(order, options.type);
  if (differ) {
    values.sentence('parent', 'parent and parents differ. Send only one of these fields.');
    return [];
  }
  const parents = values.list(items, 'parents');
  if (parents.length > orderBounds.parents) {
    values.sentence('parents', tooManyParents(parents.length));
    return [];
  }
  return parents.flatMap((item, index): ParentTerms[] => {
    const name = nameOf(index);
    const parent = values.object(item, name);
    if (parent === null) return [];
    const id = values.inscriptionId(parent['inscriptionId'], `${name}.inscriptionId`);
    const returnScript = readAddress(values, parent['returnAddress'], `${name}.returnAddress`, options);
    const value = values.whole(parent['value'], `${name}.value`);
    if (options.purpose === 'order') values.required(parent['value'], `${name}.value`);
    else if (value === null) values.assume(`${name}.value`);
    return id === null ? [] : [{ id, value: value ?? orderBounds.postageMax, returnScript }];
  });
}

function readPrefix(values: RequestValues, given: unknown): string | null {
  const name = 'inscriptionIdPrefix';
  const prefix = values.text(given, name);
  if (prefix === null || /^[0-9a-f]{1,4}$/u.test(prefix)) return prefix;
  return values.fault(name, 'must be 1 to 4 hex characters in lower case');
}
