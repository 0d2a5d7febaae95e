import { type Random, shuffled } from '#test/builders/random.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { LentParent } from './parents.ts';
import { codes } from './partners.ts';

/** Kinds of customers' orders, with their number in every seventeen orders. */
const shares = {
  direct: 3,
  managed: 2,
  texts: 1,
  'special sat': 1,
  'special sats': 1,
  children: 1,
  items: 4,
  etching: 2,
  mints: 2,
} as const;
export type OrderKind = keyof typeof shares;
export const orderKinds = Object.keys(shares) as readonly OrderKind[];
/** The kinds of the next seventeen orders, in random order. */
export const nextKinds = (random: Random): OrderKind[] =>
  shuffled(
    random,
    orderKinds.flatMap((kind) => Array.from({ length: shares[kind] }, () => kind)),
  );

/** The request of an order, and the facts that judge its end. */
export interface OrderWish {
  readonly kind: OrderKind;
  readonly path: '/inscribe' | '/order' | '/textorder' | '/collectionorder' | '/runes/etch' | '/runes/mint';
  readonly body: Readonly<Record<string, unknown>> & { readonly fee: number };
  /**
   * Contents that no other order inscribes. Empty if the order wants items of a collection. The response then names the
   * items.
   */
  readonly contents: readonly string[];
  /** Scripts, in hex. */
  readonly receivers: readonly string[];
  readonly refund: string;
  /** The script to which the order's parent returns. */
  readonly home: string;
  /** Satributes of the sats on which the order may be inscribed; `null` means any. */
  readonly allowed: readonly string[] | null;
  readonly rareSats: string | null;
  readonly parent: LentParent | null;
  /** The name that the order etches. Absent if it etches no rune. */
  readonly rune?: string;
}

/** The fields of an order of runes that differ between etchings and mints. */
type RuneWishParts = Pick<OrderWish, 'kind' | 'path' | 'contents' | 'rune'> & { readonly body: object };

/** An order of runes. Its owners, its fee rate and its referral are drawn in the same way for etchings and mints. */
export function runeWish(random: Random, number: number, { body, ...parts }: RuneWishParts): OrderWish {
  const [refund, home, receiver] = ownersOf(number);
  return {
    ...parts,
    body: {
      ...body,
      receiveAddress: addressOf(receiver!),
      refundAddress: addressOf(refund!),
      fee: random.unit() < 0.3 ? 6 : 2,
      ...referralOf(random),
    },
    receivers: [hexOf(receiver!)],
    refund: hexOf(refund!),
    home: hexOf(home!),
    allowed: null,
    rareSats: null,
    parent: null,
  };
}

/**
 * Satributes that orders may allow. Every coin of the purse is from an early block, and a few coins begin with the
 * first sat of a block.
 */
const allowances: readonly (readonly string[])[] = [['vintage'], ['uncommon']];
/** Sats per file for the referral of an order. */
const additionalFee = 300;
/** The type of sats in the run's inventory. Every sat of an early block has this type. */
const stockType = 'vintage';
/** The script to which burned inscriptions are sent. */
const opReturn = '6a';
/** Number of repetitions of a text. With this number, brotli makes the text shorter. */
const repeated = 40;
/** Number of owners that an order needs: for its refunds, for its returned parent, and for each delivered file. */
const ownersEach = 5;
const firstOwner = 20_000;

/** Fields of a body in addition to contents and addresses. */
interface Options {
  readonly fee: number;
  readonly burnAfterInscribe?: true;
  readonly allowedSatributes?: readonly string[];
  readonly uncurseIt?: true;
  readonly inscriptionIdPrefix?: string;
  readonly compress?: true;
  readonly batchMode?: 'shared-output';
}

export interface WishParts {
  readonly random: Random;
  readonly seed: string;
  /** Number of the order among all orders of the run. */
  readonly number: number;
  readonly parent: LentParent | null;
}

/** The request of a customer, which is correct in every respect. */
export function wishOf(
  kind: Exclude<OrderKind, 'items' | 'etching' | 'mints'>,
  { random, number, seed, parent }: WishParts,
): OrderWish {
  const count = countOf(kind, random);
  const path = pathOf(kind, random);
  const options = optionsOf(kind, count, random);
  const contents = Array.from({ length: count }, (_, file) => {
    const text = `${seed} ${number} ${file}`;
    return options.compress === true ? `${text} `.repeat(repeated) : text;
  });
  const [refund, home, ...owners] = ownersOf(number);
  const isList = isListed(options, count) && random.unit() < 0.4;
  const listed = owners.slice(0, isList ? count : 1);
  return {
    kind,
    path,
    contents,
    body: {
      ...(path === '/textorder' ? { texts: contents } : { files: contents.map(fileOf) }),
      receiveAddress: isList ? listed.map((owner) => addressOf(owner)) : addressOf(listed[0]!),
      refundAddress: addressOf(refund!),
      ...options,
      ...referralOf(random),
      ...(parent === null ? {} : parentFields(path, parent, addressOf(home!))),
    },
    receivers: isBurned(options) ? [opReturn] : listed.map(hexOf),
    refund: hexOf(refund!),
    home: hexOf(home!),
    allowed: options.allowedSatributes ?? null,
    rareSats: kind === 'special sat' || kind === 'special sats' ? stockType : null,
    parent,
  };
}

/** The partner of an order. Only some orders have a partner. */
export const referralOf = (random: Random): { referral: string; additionalFee: number } | object =>
  random.unit() < 0.4 ? { referral: codes[random.below(codes.length)]!, additionalFee } : {};

function countOf(kind: OrderKind, random: Random): number {
  if (kind === 'special sat') return 1;
  return kind === 'special sats' ? 2 + random.below(2) : 1 + random.below(3);
}

function pathOf(kind: OrderKind, random: Random): '/inscribe' | '/order' | '/textorder' {
  if (kind === 'direct') return '/inscribe';
  if (kind === 'managed') return '/order';
  if (kind === 'texts') return '/textorder';
  const paths = ['/inscribe', '/order', '/textorder'] as const;
  return paths[random.below(kind === 'children' ? 2 : 3)]!;
}

/** Options of an order, if its kind accepts options. All orders may have a prefix. */
function optionsOf(kind: OrderKind, count: number, random: Random): Options {
  const prefix = when(random.unit() < 0.15, { inscriptionIdPrefix: 'ab' });
  // at the higher fee rate, an input costs more than most dust is worth
  const fee = random.unit() < 0.3 ? 6 : 2;
  // an inscription on a given sat, or beside a parent, cannot be burned and cannot choose its own sat
  if (kind === 'special sat' || kind === 'special sats' || kind === 'children') return { fee, ...prefix };
  // this rate is above all estimates of the nodes of tests
  if (random.unit() < 0.2) return { fee: 10, burnAfterInscribe: true, ...uncursed(count, random), ...prefix };
  if (random.unit() < 0.3) {
    const allowedSatributes = allowances[random.below(allowances.length)]!;
    return { fee, allowedSatributes, ...uncursed(count, random), ...prefix };
  }
  return {
    fee,
    ...(kind === 'managed' ? managedOptions(count, random) : uncursed(count, random)),
    ...prefix,
  };
}

const when = <Fields>(isSo: boolean, fields: Fields): Fields | object => (isSo ? fields : {});

/** Options of orders with one commit and one reveal for each file. */
const uncursed = (count: number, random: Random): Partial<Options> =>
  when(count > 1 && random.unit() < 0.5, { uncurseIt: true } as const);

function managedOptions(count: number, random: Random): Partial<Options> {
  const isShared = count > 1 && random.unit() < 0.3;
  return {
    ...when(random.unit() < 0.4, { compress: true } as const),
    ...(isShared ? { batchMode: 'shared-output' } : uncursed(count, random)),
  };
}

/** Whether each file may have its own receiver. */
const isListed = (options: Options, count: number): boolean =>
  count > 1 && !isBurned(options) && options.batchMode === undefined;

const isBurned = ({ burnAfterInscribe }: Options): boolean => burnAfterInscribe === true;

/** The fields of a parent. Clients of managed orders send one parent, in its own field. */
function parentFields(path: OrderWish['path'], { id, coin }: LentParent, returnAddress: string): object {
  const parent = { inscriptionId: id, value: coin.value, returnAddress };
  return path === '/inscribe' ? { parents: [parent] } : { parent };
}

export const fileOf = (content: string, file: number): object => ({
  name: `${file}.txt`,
  size: content.length,
  dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
});

export const ownersOf = (number: number): number[] =>
  Array.from({ length: ownersEach }, (_, place) => firstOwner + ownersEach * number + place);

export const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');
