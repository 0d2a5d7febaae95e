import { strict as assert } from 'node:assert';
import type { PastOutput, PastTransaction, PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { isFirstOfBlock } from '#kernel/sats/epoch.ts';
import { trustedSat } from '#kernel/sats/sat.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';

/** A range of sats that moves back from outputs to inputs. */
interface Piece extends SatRange {
  /**
   * True if it begins where the previous piece ends, and only an output of the block separates the two. They may have
   * been one range.
   */
  readonly mayJoin: boolean;
}

/** The sats that a block left: in its unspent outputs, and lost. */
export interface LeftByBlock {
  /** The ranges of an unspent output. Undefined: the output has no ranges. */
  of(txid: TxidHex, vout: number): readonly SatRange[] | undefined;
  /** The ranges that the coinbase gave to no output. */
  readonly lost: readonly SatRange[];
}

/** An output of an earlier block that a block spent. */
export interface RestoredOutput {
  readonly output: PastOutput;
  /** Its sats, in order. Some of these ranges may have been one range. */
  readonly ranges: readonly SatRange[];
  /** Indexes in `ranges` of those ranges that may have been one range with the range before. */
  readonly mayJoin: readonly number[];
}

/**
 * Finds the outputs of earlier blocks that a block spent, from the sats that it left: `applySats` in reverse. Sats flow
 * first in, first out, so the outputs of a transaction, and then its fee, are its inputs' sats. If an output ended
 * within a range of an input, there are now two ranges of neighbouring sats. The block does not show whether there were
 * already two ranges before (`mayJoin`).
 *
 * Pure. The block must be the tip, and its coinbase must not have replaced another (BIP 30).
 */
export function restoreSpent(
  height: Height,
  transactions: readonly PastTransaction[],
  left: LeftByBlock,
): RestoredOutput[] {
  return new WayBack(height, transactions, left).spent();
}

class WayBack {
  readonly #height: Height;
  readonly #transactions: readonly PastTransaction[];
  readonly #left: LeftByBlock;
  /** Sats of outputs that the block itself spent, by outpoint. */
  readonly #between = new Map<string, readonly Piece[]>();

  constructor(height: Height, transactions: readonly PastTransaction[], left: LeftByBlock) {
    this.#height = height;
    this.#transactions = transactions;
    this.#left = left;
  }

  spent(): RestoredOutput[] {
    const fees = this.#fees();
    const spent: RestoredOutput[][] = [];
    for (let place = this.#transactions.length - 1; place > 0; place--) {
      const transaction = this.#transactions[place]!;
      spent.push(this.#giveBack(transaction, new Flow([...this.#outputs(transaction), fees[place]!])));
    }
    return spent.toReversed().flat();
  }

  /** The sats that each transaction left to the coinbase. */
  #fees(): (readonly Piece[])[] {
    const [coinbase, ...others] = this.#transactions;
    assert(coinbase !== undefined, 'a block has a coinbase');
    const flow = new Flow([...this.#outputs(coinbase), piecesOf(this.#left.lost)]);
    flow.take(subsidyAt(this.#height));
    return [[], ...others.map((transaction) => flow.take(feeOf(transaction)))];
  }

  /** The sats of a transaction's outputs. */
  #outputs({ txid, outputs }: PastTransaction): (readonly Piece[])[] {
    return outputs.map((value, vout) => {
      const key = `${txid}:${vout}`;
      const pieces = this.#between.get(key) ?? piecesOf(this.#left.of(txid, vout) ?? []);
      this.#between.delete(key);
      assert(satsIn(pieces) === value, `output ${key} has the sats of its value`);
      return pieces;
    });
  }

  /** Gives the sats back to the inputs. Returns the inputs that spend outputs of earlier blocks. */
  #giveBack({ inputs }: PastTransaction, flow: Flow): RestoredOutput[] {
    const spent: RestoredOutput[] = [];
    for (const input of inputs ?? []) {
      const pieces = flow.take(input.value);
      if (input.height === this.#height) this.#between.set(`${input.txid}:${input.vout}`, pieces);
      else if (input.value > 0) spent.push(spentOf(input, pieces));
    }
    assert(flow.isEmpty, 'a transaction gives what it takes');
    return spent;
  }
}

/** Sats of consecutive outputs. They are taken from the front. */
class Flow {
  readonly #pieces: Piece[] = [];
  #next = 0;

  constructor(outputs: readonly (readonly Piece[])[]) {
    for (const pieces of outputs)
      for (const [place, { start, end, mayJoin }] of pieces.entries()) {
        // sats of two subsidies are never in one range
        const isNext = this.#pieces.at(-1)?.end === start && !isFirstOfBlock(trustedSat(start));
        this.#pieces.push({ start, end, mayJoin: isNext && (place === 0 || mayJoin) });
      }
  }

  get isEmpty(): boolean {
    return this.#next === this.#pieces.length;
  }

  /** Takes the next sats. They always end where a piece ends, because ranges are cut where an input or a fee begins. */
  take(sats: number): readonly Piece[] {
    const first = this.#next;
    for (let left = sats; left > 0; this.#next++) {
      const piece = this.#pieces[this.#next];
      assert(piece !== undefined && piece.end - piece.start <= left, 'an input ends where a range ends');
      left -= piece.end - piece.start;
    }
    return this.#pieces.slice(first, this.#next).map((piece, place) =>
      // another input ends before this piece
      place === 0 ? { ...piece, mayJoin: false } : piece,
    );
  }
}

/** Pieces of an output's ranges. Cuts within an output already existed before the block. */
function piecesOf(ranges: readonly SatRange[]): Piece[] {
  return ranges.map(({ start, end }) => ({ start, end, mayJoin: false }));
}

function spentOf(output: PastOutput, pieces: readonly Piece[]): RestoredOutput {
  return {
    output,
    ranges: pieces.map(({ start, end }) => ({ start, end })),
    mayJoin: pieces.flatMap(({ mayJoin }, place) => (mayJoin ? [place] : [])),
  };
}

function feeOf({ inputs, outputs }: PastTransaction): number {
  const taken = (inputs ?? []).reduce((sum, { value }) => sum + value, 0);
  return taken - outputs.reduce((sum, value) => sum + value, 0);
}

/** The cuts whose age must be known, each with the range that it belongs to. */
export function openPlaces(spent: readonly RestoredOutput[]): PlaceInOutput[] {
  return spent.flatMap(({ output: { txid, vout, height }, ranges, mayJoin }) => {
    const offsets = offsetsOf(ranges);
    return mayJoin.map((place) => ({ txid, vout, height, offset: offsets[place]! }));
  });
}

/**
 * Joins those ranges that were one range.
 *
 * @param cuts for each position of `openPlaces`: whether ranges were already cut there
 */
export function joinRanges(spent: readonly RestoredOutput[], cuts: readonly boolean[]): RestoredOutput[] {
  let next = 0;
  return spent.map(({ output, ranges, mayJoin }) => {
    const joined: { start: number; end: number }[] = [];
    const open = new Set(mayJoin);
    for (const [place, { start, end }] of ranges.entries()) {
      const last = joined.at(-1);
      if (open.has(place) && cuts[next++] === false && last !== undefined) last.end = end;
      else joined.push({ start, end });
    }
    return { output, ranges: joined, mayJoin: [] };
  });
}

function offsetsOf(ranges: readonly SatRange[]): number[] {
  let offset = 0;
  return ranges.map(({ start, end }) => {
    const at = offset;
    offset += end - start;
    return at;
  });
}
