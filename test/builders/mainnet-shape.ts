import type { Random } from './random.ts';

/*
 * The average contents of a megabyte of mainnet, and of a generated megabyte. The real figures are counted in the 27
 * real blocks that the tests use (44.1 MB, heights 767430 to 951658). The generated figures are counted in the full
 * blocks of the first 120 MB, with seed 1.
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
 * Three figures do not come from the 27 blocks. These blocks come from the fixtures of programs for inscriptions, so
 * they have more inscriptions than other blocks:
 * - Reveals: there are 76,804,684 up to height 864,351 (the example of ord's documentation). In 96,921 blocks of
 *   1.63 MB, which is the average size of these blocks, this is 486 a megabyte. The generated chain has fewer batches
 *   than the 27 blocks. Only its number of reveals is that of mainnet.
 * - Moves: according to ord, block 781735 has 230 moves and 465 reveals, and block 832918 has 6,339 moves and 1,006
 *   reveals. The generated chain has one move per reveal.
 * - Spent outputs: half of them come from about the newest ten blocks, and half have any age. Single blocks do not show
 *   the real ages.
 */

/** Version of the shape. If it changes, stored chains are generated again. */
export const mainnetShapeVersion = 2;

/** Shares of the kinds of transactions. The remaining transactions are payments. */
export const transactionShares = {
  /** Single reveals. Most have a short text. `image` is the share of transactions that reveal a larger content. */
  reveal: 0.117,
  image: 0.0023,
  /** Transactions with many reveals. */
  batch: 0.00046,
  move: 0.086,
} as const;

/** Shares of single reveals that have metadata, or a parent. */
export const detailShares = { metadata: 0.05, parent: 0.05 } as const;
export const shareOfCopies = 0.26;

/**
 * A share of transactions whose number of inputs, or outputs, is between `least` and `most`. Small numbers are more
 * frequent.
 */
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
/** Numbers of inscriptions that one transaction moves. Most transactions move one inscription. */
const movedClasses: readonly CountClass[] = [
  { share: 0.7, least: 1, most: 1 },
  { share: 0.26, least: 2, most: 9 },
  { share: 0.04, least: 10, most: 40 },
];
/**
 * Share of payments with more than one output that have an OP_RETURN output. In blocks since runes exist, all such
 * payments have one.
 */
const opReturnShare = 0.61;
const batchLeast = 100;
const batchMost = 560;
const imageLeastBytes = 300;
const imageMostBytes = 200_000;

/** Maximum weight of one transaction, which is an image or a batch. */
export const transactionWeightMax = 260_000;

/** A random number between two bounds. All powers of two are equally frequent. */
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
  /** Whether the last output is an OP_RETURN. */
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

/** Number of inscriptions that one transaction moves. */
export function movedCount(random: Random): number {
  return countOf(random, movedClasses);
}

/** Number of reveals of a transaction with many reveals. */
export function batchCount(random: Random): number {
  return batchLeast + random.below(batchMost - batchLeast);
}

/** Size in bytes of a content that is larger than a short text: an image, a page, a program. */
export function imageBytes(random: Random): number {
  return logUniform(random, imageLeastBytes, imageMostBytes);
}
