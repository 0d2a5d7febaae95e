import type { Random } from './random.ts';

/*
 * The contents of a megabyte of mainnet, and of a generated one. Counted in the 27 real blocks from height 767430 on
 * that the tests use (44.1 MB, heights 767430 to 951658); a generated one: seed 1, the full blocks of the first 120 MB.
 *
 *   a megabyte of                      real blocks    generated
 *   transactions                             1,856        1,988
 *   inputs                                   3,922        3,997
 *   outputs                                  5,801        5,736
 *     of them OP_RETURN                        692          740
 *   bytes of witnesses                     555,000      551,000
 *   bytes of signature scripts              64,500       63,100
 *   transactions that reveal                   218          233
 *   reveals                                    602          489
 *   bytes of bodies                        161,000      156,000
 *   bytes of distinct bodies               141,000      147,000
 *   distinct bodies, of all reveals           74 %         74 %
 *
 * Three figures are not those of the 27 blocks, which come from the fixtures of programs for inscriptions and so have
 * more of them than others:
 * - Reveals: 76,804,684 up to height 864,351 (the example of ord's documentation), in 96,921 blocks of 1.63 MB as these
 *   are on average, are 486 a megabyte. There are fewer batches here than in the 27 blocks; only the number of reveals
 *   is that of mainnet.
 * - Moves: 230 beside 465 reveals in block 781735, and 6,339 beside 1,006 in block 832918, according to ord. Here: one
 *   per reveal.
 * - Half of the spent outputs are among the newest, of about ten blocks, half are of any age: blocks alone do not show
 *   it.
 */

/** Stored chains are generated again if their shape has changed. */
export const mainnetShapeVersion = 2;

/** Shares of transactions; the rest are payments. */
export const transactionShares = {
  /** A short text, or with the probability of `image` a larger content. */
  reveal: 0.117,
  image: 0.0023,
  /** Many reveals in one transaction. */
  batch: 0.00046,
  move: 0.086,
} as const;

/** Shares of single reveals with these details. */
export const detailShares = { metadata: 0.05, parent: 0.05 } as const;
export const shareOfCopies = 0.26;

/** Numbers of inputs, or outputs, for a share of transactions: between `least` and `most`, small ones more often. */
interface CountClass {
  readonly share: number;
  readonly least: number;
  readonly most: number;
}

const inputClasses: readonly CountClass[] = [
  { share: 0.826, least: 1, most: 1 },
  { share: 0.091, least: 2, most: 2 },
  { share: 0.024, least: 3, most: 3 },
  { share: 0.043, least: 4, most: 9 },
  { share: 0.012, least: 10, most: 49 },
  { share: 0.004, least: 50, most: 200 },
];
const outputClasses: readonly CountClass[] = [
  { share: 0.232, least: 1, most: 1 },
  { share: 0.573, least: 2, most: 2 },
  { share: 0.067, least: 3, most: 3 },
  { share: 0.105, least: 4, most: 9 },
  { share: 0.019, least: 10, most: 49 },
  { share: 0.004, least: 50, most: 200 },
];
/** Transfers of inscriptions: most move one. */
const movedClasses: readonly CountClass[] = [
  { share: 0.7, least: 1, most: 1 },
  { share: 0.26, least: 2, most: 9 },
  { share: 0.04, least: 10, most: 40 },
];
/** Share of payments with more than one output that have one; since runes exist, all have. */
const opReturnShare = 0.61;
const batchLeast = 100;
const batchMost = 560;
const imageLeastBytes = 300;
const imageMostBytes = 200_000;

/** The maximum weight of one transaction: an image, or a batch. */
export const transactionWeightMax = 260_000;

/** Between two bounds, each power of two equally often. */
function logUniform(random: Random, least: number, most: number): number {
  return Math.floor(least * ((most + 1) / least) ** random.unit());
}

function countOf(random: Random, classes: readonly CountClass[]): number {
  let rest = random.unit();
  for (const { share, least, most } of classes) {
    rest -= share;
    if (rest < 0) return logUniform(random, least, most);
  }
  return 1;
}

/** The shape of a payment. */
export interface PaymentShape {
  readonly inputs: number;
  readonly outputs: number;
  /** The last output is OP_RETURN. */
  readonly hasOpReturn: boolean;
}

export function paymentShape(random: Random): PaymentShape {
  const outputs = countOf(random, outputClasses);
  return {
    inputs: countOf(random, inputClasses),
    outputs,
    hasOpReturn: outputs > 1 && random.unit() < opReturnShare,
  };
}

/** Inscriptions moved by one transaction. */
export function movedCount(random: Random): number {
  return countOf(random, movedClasses);
}

/** Reveals of a transaction with many reveals. */
export function batchCount(random: Random): number {
  return batchLeast + random.below(batchMost - batchLeast);
}

/** Bytes of a content larger than a short text: an image, a page, a program. */
export function imageBytes(random: Random): number {
  return logUniform(random, imageLeastBytes, imageMostBytes);
}
