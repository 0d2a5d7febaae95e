import { strict as assert } from 'node:assert';
import type { PastOutput, PastTransaction, PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { isFirstOfBlock } from '#kernel/sats/epoch.ts';
import { trustedSat } from '#kernel/sats/sat.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';

/** A range of sats, on the way back from outputs to inputs. */
interface Piece extends SatRange {
  /**
   * It goes on where the piece before it ends, and nothing but an output of the block separates the two: they may have
   * been one range before.
   */
  readonly mayJoin: boolean;
}

/** Where the sats of a block were left: in its unspent outputs, and lost. */
export interface LeftByBlock {
  /** The ranges of an output that no block has spent; undefined: it has none. */
  of(txid: TxidHex, vout: number): readonly SatRange[] | undefined;
  /** What the coinbase left to nobody. */
  readonly lost: readonly SatRange[];
}

/** An output of an earlier block that a block spent. */
export interface RestoredOutput {
  readonly output: PastOutput;
  /** Its sats, in order. Some ranges may have been one. */
  readonly ranges: readonly SatRange[];
  /** Ranges that may have been one with the range before them: their places in `ranges`. */
  readonly mayJoin: readonly number[];
}

/**
 * What a block spent of earlier ones, told from what it left: the way of `applySats` back. Sats flow first in, first out,
 * so the outputs of a transaction, and then its fee, are its inputs' sats. Where an output ended within a range of an
 * input, the way back meets two ranges of neighbouring sats; whether they were two before, the block does not tell
 * (`mayJoin`).
 *
 * Pure. No block is above it, and its coinbase took the place of no other (BIP 30).
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

  /** Gives the sats to the inputs, and returns those of earlier blocks. */
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

/** Sats of outputs, one output after another, which are taken from the front. */
class Flow {
  readonly #pieces: Piece[] = [];
  #next = 0;

  constructor(outputs: readonly (readonly Piece[])[]) {
    for (const pieces of outputs)
      for (const [place, { start, end, mayJoin }] of pieces.entries()) {
        // sats of two subsidies were never in one range
        const isNext = this.#pieces.at(-1)?.end === start && !isFirstOfBlock(trustedSat(start));
        this.#pieces.push({ start, end, mayJoin: isNext && (place === 0 || mayJoin) });
      }
  }

  get isEmpty(): boolean {
    return this.#next === this.#pieces.length;
  }

  /** The next sats. They end where a piece ends: where an input or a fee begins, ranges are cut. */
  take(sats: number): readonly Piece[] {
    const first = this.#next;
    for (let left = sats; left > 0; this.#next++) {
      const piece = this.#pieces[this.#next];
      assert(piece !== undefined && piece.end - piece.start <= left, 'an input ends where a range ends');
      left -= piece.end - piece.start;
    }
    return this.#pieces.slice(first, this.#next).map((piece, place) =>
      // before it another input ends
      place === 0 ? { ...piece, mayJoin: false } : piece,
    );
  }
}

/** Within an output, ranges are cut because they were cut before. */
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

/** The places whose cuts must be known, and to which range each belongs. */
export function openPlaces(spent: readonly RestoredOutput[]): PlaceInOutput[] {
  return spent.flatMap(({ output: { txid, vout, height }, ranges, mayJoin }) => {
    const offsets = offsetsOf(ranges);
    return mayJoin.map((place) => ({ txid, vout, height, offset: offsets[place]! }));
  });
}

/**
 * Joins the ranges that were one.
 *
 * @param cuts per place of `openPlaces`, whether ranges were cut there
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
