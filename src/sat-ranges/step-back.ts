import type { PastOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { firstSatAt } from '#kernel/sats/epoch.ts';
import type { FeePayer, TracedTransaction } from './trace-source.ts';

/** A fact that a backward walk needs next. */
export type Step =
  | { readonly kind: 'transaction'; readonly txid: TxidHex; readonly height: Height }
  | { readonly kind: 'fees'; readonly height: Height };

/** Consecutive sats. */
export interface Stretch {
  /**
   * Index of the output in the transaction to follow. Null if the positions count the sats of all inputs of the
   * transaction, one input after another.
   */
  readonly vout: number | null;
  readonly from: number;
  readonly to: number;
}

/** A part of a stretch that one step back has found. */
export interface Part extends Stretch {
  /** Number of the part's first sat. Null if it is not known yet, and the walk must follow `source` to find it. */
  readonly sat: number | null;
  readonly source: Step | null;
}

/** A step back through one transaction, or through the fees of a block. */
export interface StepBack {
  /**
   * Divides a stretch of an output's sats into parts, in order. The stretch is cut where the sats came from different
   * inputs. Throws `node_answer_invalid` if the transaction does not have these sats.
   */
  partsOf(stretch: Stretch): readonly Part[];
}

export function stepBack(txid: TxidHex, height: Height, { outputs, inputs }: TracedTransaction): StepBack {
  const starts = sumsBefore(outputs);
  const sources = inputs === null ? null : sourcesOf(inputs);
  return {
    partsOf: (stretch) => {
      const among = stretchOf(stretch, outputs, starts);
      if (among === null) throw unfitting(txid);
      const [from, to] = among;
      if (sources === null) return coinbaseParts(height, from, to);
      if (to > sources.total) throw unfitting(txid);
      return inputParts(sources, from, to);
    },
  };
}

/** A step back from the fees of a block to the transactions that paid these fees. */
export function feesBack(height: Height, payers: readonly FeePayer[]): StepBack {
  const starts = sumsBefore(payers.map(({ fee }) => fee));
  return {
    partsOf: ({ from, to }) => {
      if (to > (starts.at(-1) ?? 0)) throw unfitting(`the coinbase at height ${height}`);
      return cut(starts, from, to).flatMap((piece): Part[] => {
        const payer = payers[piece.place];
        if (payer === undefined) return [];
        const { txid, outputsTotal: by } = payer;
        const source: Step = { kind: 'transaction', txid, height };
        return [{ sat: null, source, vout: null, from: piece.from + by, to: piece.to + by }];
      });
    },
  };
}

/** The inputs of a transaction, the position of each input's first sat, and the total number of sats. */
interface Sources {
  readonly list: readonly PastOutput[];
  readonly starts: readonly number[];
  readonly total: number;
}

function sourcesOf(list: readonly PastOutput[]): Sources {
  const starts = sumsBefore(list.map(({ value }) => value));
  return { list, starts, total: starts.at(-1) ?? 0 };
}

/**
 * Computes the position of a stretch among all sats of its transaction. Returns null if the output has fewer sats, or
 * does not exist.
 */
function stretchOf(
  { vout, from, to }: Stretch,
  outputs: readonly number[],
  starts: readonly number[],
): readonly [number, number] | null {
  if (vout === null) return [from, to];
  const value = outputs[vout];
  const start = starts[vout];
  if (value === undefined || start === undefined || value < to) return null;
  return [start + from, start + to];
}

function inputParts({ list, starts }: Sources, first: number, last: number): Part[] {
  return cut(starts, first, last).flatMap(({ place, from, to }): Part[] => {
    const input = list[place];
    if (input === undefined) return [];
    const { txid, vout, height } = input;
    return [{ sat: null, source: { kind: 'transaction', txid, height }, vout, from, to }];
  });
}

/** Divides sats of a coinbase into parts. The subsidy comes first, as in ord, and the fees follow. */
function coinbaseParts(height: Height, from: number, to: number): Part[] {
  const subsidy: number = subsidyAt(height);
  const parts: Part[] = [];
  const whole = { vout: null } as const;
  if (from < subsidy) {
    const end = Math.min(to, subsidy);
    parts.push({ ...whole, sat: firstSatAt(height) + from, source: null, from, to: end });
  }
  if (to > subsidy) {
    const start = Math.max(from, subsidy) - subsidy;
    parts.push({ ...whole, sat: null, source: { kind: 'fees', height }, from: start, to: to - subsidy });
  }
  return parts;
}

/** The sums of all earlier values, for each value. The last element is the sum of all values. */
function sumsBefore(values: readonly number[]): number[] {
  const sums = [0];
  for (const value of values) sums.push((sums.at(-1) ?? 0) + value);
  return sums;
}

/**
 * Cuts a stretch at the given starts. The positions of each piece are relative to the start where it was cut. Pieces
 * without sats are omitted.
 */
function cut(
  starts: readonly number[],
  from: number,
  to: number,
): { place: number; from: number; to: number }[] {
  const pieces: { place: number; from: number; to: number }[] = [];
  for (let place = lastAtOrBelow(starts, from); place + 1 < starts.length; place++) {
    const start = starts[place] ?? 0;
    const end = starts[place + 1] ?? 0;
    if (start >= to) break;
    if (end > Math.max(from, start))
      pieces.push({ place, from: Math.max(from, start) - start, to: Math.min(to, end) - start });
  }
  return pieces;
}

/** Index of the last element that is not above `number`. The elements must be ascending and begin with 0. */
function lastAtOrBelow(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

function unfitting(what: string): AppError {
  return new AppError(
    'node_answer_invalid',
    `according to the node, ${what} has fewer sats than were spent from it`,
  );
}
