import { AppError } from '#kernel/errors/app-error.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import type { SatRange } from '#kernel/satributes/satribute.ts';
import { firstSatAt } from '#kernel/sats/epoch.ts';
import type { FeePayer, TracedInput, TracedOutput, TracedTransaction } from './trace-source.ts';

/** What a walk must know next. */
export type Step =
  | { readonly kind: 'transaction'; readonly txid: TxidHex; readonly height: Height }
  | { readonly kind: 'fees'; readonly height: Height };

/** Sats that lie one after another: in an output, among a transaction's sats, or found. In a list, in order. */
interface Segment {
  /** The number of its first sat; null: not found yet. */
  sat: number | null;
  /** The output of the transaction that is looked for; null: all of its inputs, one after another. */
  vout: number | null;
  from: number;
  to: number;
  next: Segment | null;
}

/** A part of a segment, as one step back finds it. */
interface Part {
  readonly sat: number | null;
  readonly source: Step | null;
  readonly vout: number | null;
  readonly from: number;
  readonly to: number;
}

/**
 * Follows the sats of an output back to the subsidies that mined them, first in, first out. Pure: it says what it must
 * know (`next`) and is told (`learn`). The latest blocks come first, so that a transaction is asked for once, however
 * many ways lead to it. Ranges are cut where ord cuts them: wherever two sats were in different outputs before.
 */
export class Walk {
  /** Transactions and lists of fees that it was told. */
  steps = 0;
  /** Parts of the output so far: as many as it will have ranges, or fewer. */
  segments = 1;
  readonly #first: Segment;
  readonly #waiting = new Map<Height, Map<TxidHex, Segment[]>>();
  readonly #fees = new Map<Height, Segment[]>();

  constructor({ txid, vout, value, height }: TracedOutput) {
    this.#first = { sat: null, vout, from: 0, to: value, next: null };
    // an output without value has no sats
    if (value > 0) this.#await({ kind: 'transaction', txid, height }, this.#first);
  }

  /** What it must know next, all of one height; none: the walk is done. */
  next(): readonly Step[] {
    let height: Height | null = null;
    for (const waiting of [this.#waiting, this.#fees])
      for (const each of waiting.keys()) if (height === null || each > height) height = each;
    if (height === null) return [];
    const at = height;
    const txids = this.#waiting.get(at);
    // fees last: they lead to transactions of the same block
    if (txids === undefined) return [{ kind: 'fees', height: at }];
    return [...txids.keys()].map((txid): Step => ({ kind: 'transaction', txid, height: at }));
  }

  /** Throws `node_answer_invalid` where the transaction does not fit what spends it. */
  learn(txid: TxidHex, height: Height, transaction: TracedTransaction): void {
    this.steps++;
    const starts = sumsBefore(transaction.outputs);
    const sources = transaction.inputs === null ? null : sourcesOf(transaction.inputs);
    for (const segment of this.#takeWaiting(txid, height)) {
      const stretch = stretchOf(segment, transaction.outputs, starts);
      if (stretch === null) throw unfitting(txid);
      const [from, to] = stretch;
      if (sources === null) this.#replace(segment, coinbaseParts(height, from, to));
      else if (to > sources.total) throw unfitting(txid);
      else this.#replace(segment, inputParts(sources, from, to));
    }
  }

  #takeWaiting(txid: TxidHex, height: Height): readonly Segment[] {
    const ofBlock = this.#waiting.get(height);
    const segments = ofBlock?.get(txid) ?? [];
    ofBlock?.delete(txid);
    if (ofBlock?.size === 0) this.#waiting.delete(height);
    return segments;
  }

  /** Throws `node_answer_invalid` where the fees are less than what the coinbase takes. */
  learnFees(height: Height, payers: readonly FeePayer[]): void {
    this.steps++;
    const segments = this.#fees.get(height) ?? [];
    this.#fees.delete(height);
    const starts = sumsBefore(payers.map(({ fee }) => fee));
    for (const segment of segments) {
      if (segment.to > (starts.at(-1) ?? 0)) throw unfitting(`the coinbase at height ${height}`);
      const parts = cut(starts, segment.from, segment.to).flatMap((piece): Part[] => {
        const payer = payers[piece.place];
        if (payer === undefined) return [];
        const { txid, outputsTotal: by } = payer;
        return [
          {
            sat: null,
            source: { kind: 'transaction', txid, height },
            vout: null,
            from: piece.from + by,
            to: piece.to + by,
          },
        ];
      });
      this.#replace(segment, parts);
    }
  }

  /** The ranges of the output, in its order. Only of a walk that is done. */
  ranges(): SatRange[] {
    const ranges: SatRange[] = [];
    for (let segment: Segment | null = this.#first; segment !== null; segment = segment.next)
      if (segment.sat !== null)
        ranges.push({ start: segment.sat, end: segment.sat + segment.to - segment.from });
    return ranges;
  }

  /** Puts parts in the place of a segment. */
  #replace(segment: Segment, parts: readonly Part[]): void {
    const { next } = segment;
    let last = segment;
    for (const [place, { sat, source, vout, from, to }] of parts.entries()) {
      const part: Segment = place === 0 ? segment : { sat: null, vout: null, from: 0, to: 0, next: null };
      Object.assign(part, { sat, vout, from, to });
      if (place > 0) {
        last.next = part;
        this.segments++;
      }
      last = part;
      if (source !== null) this.#await(source, part);
    }
    last.next = next;
  }

  #await(source: Step, segment: Segment): void {
    const { height } = source;
    if (source.kind === 'fees') {
      const ofCoinbase = this.#fees.get(height);
      if (ofCoinbase === undefined) this.#fees.set(height, [segment]);
      else ofCoinbase.push(segment);
      return;
    }
    const ofBlock = this.#waiting.get(height) ?? new Map<TxidHex, Segment[]>();
    this.#waiting.set(height, ofBlock);
    const others = ofBlock.get(source.txid);
    if (others === undefined) ofBlock.set(source.txid, [segment]);
    else others.push(segment);
  }
}

/** Inputs, where the sats of each begin, and how many sats they have together. */
interface Sources {
  readonly list: readonly TracedInput[];
  readonly starts: readonly number[];
  readonly total: number;
}

function sourcesOf(list: readonly TracedInput[]): Sources {
  const starts = sumsBefore(list.map(({ value }) => value));
  return { list, starts, total: starts.at(-1) ?? 0 };
}

/** A segment among all sats of its transaction; null where its output has fewer sats, or does not exist. */
function stretchOf(
  { vout, from, to }: Segment,
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

/** The subsidy comes first, as ord counts it, then the fees. */
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

/** The sum before each value, and after the last. */
function sumsBefore(values: readonly number[]): number[] {
  const sums = [0];
  for (const value of values) sums.push((sums.at(-1) ?? 0) + value);
  return sums;
}

/** Cuts a stretch where others begin, and counts from the beginning of each. Those without length are left out. */
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

/** The last place whose number is not above another; the numbers ascend and begin with 0. */
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
  return new AppError('node_answer_invalid', `the node gives fewer sats to ${what} than were spent of it`);
}
