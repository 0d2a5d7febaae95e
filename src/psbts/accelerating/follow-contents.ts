import assert from 'node:assert/strict';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { revealedPlaces } from './revealed-places.ts';

/** Contents of an output: its value, and the inscriptions, runes and sat ranges in it. */
export interface Contents {
  readonly value: number;
  /** Positions of the inscriptions: the number of sats of the output before each inscription. */
  readonly inscriptions: readonly number[];
  /** Runes in the output, or null if they are unknown until the transactions are in a block. */
  readonly runes: readonly RuneAmount[] | null;
  /** Sats of the output in order, or null if there is no index of sats. */
  readonly ranges: readonly SatRange[] | null;
}

/** An unconfirmed transaction, decoded. */
export interface FollowedTransaction {
  readonly txid: TxidHex;
  readonly inputs: readonly {
    /** `<txid>:<vout>` */
    readonly outpoint: string;
    readonly witness: readonly Uint8Array[];
  }[];
  readonly outputs: readonly { readonly value: number; readonly script: Uint8Array }[];
}

/**
 * Computes the contents of all outputs of unconfirmed transactions, by outpoint. Sats move first in, first out. New
 * inscriptions are read from envelopes, and runes move according to the runestones. If a transaction etches or mints
 * runes, the result depends on earlier blocks, so the runes of all its outputs are unknown. Pure.
 *
 * @param transactions transactions in an order in which each one comes after the transactions that it spends
 * @param confirmed contents of the confirmed outputs that the transactions spend
 */
export function followContents(
  transactions: readonly FollowedTransaction[],
  confirmed: ReadonlyMap<string, Contents>,
): ReadonlyMap<string, Contents> {
  const known = new Map(confirmed);
  const made = new Map<string, Contents>();
  for (const transaction of transactions) {
    const spent = transaction.inputs.map(({ outpoint }) => {
      const found = known.get(outpoint);
      assert(found !== undefined, 'a transaction comes after those that it spends');
      return found;
    });
    for (const [vout, contents] of contentsOf(transaction, spent).entries()) {
      const outpoint = `${transaction.txid}:${vout}`;
      known.set(outpoint, contents);
      made.set(outpoint, contents);
    }
  }
  return made;
}

function contentsOf({ inputs, outputs }: FollowedTransaction, spent: readonly Contents[]): Contents[] {
  const revealing = inputs.map(({ witness }, index) => ({ witness, value: spent[index]?.value ?? 0 }));
  const places = [...heldPlaces(spent), ...revealedPlaces({ inputs: revealing, outputs })];
  const runes = runesOf(outputs, spent);
  const ranges = spent.map((each) => each.ranges);
  const sats = ranges.includes(null) ? null : new SatQueue(ranges.flatMap((each) => each ?? []));
  let start = 0;
  return outputs.map(({ value }, vout) => {
    const end = start + value;
    const inscriptions = places
      .filter((place) => start <= place && place < end)
      .map((place) => place - start);
    start = end;
    const own = runes?.filter(({ output }) => output === vout) ?? null;
    return { value, inscriptions, runes: own, ranges: sats?.take(value) ?? null };
  });
}

/** Positions of the inscriptions in the inputs: the number of input sats before each inscription. */
function heldPlaces(spent: readonly Contents[]): number[] {
  let start = 0;
  return spent.flatMap(({ value, inscriptions }) => {
    const from = start;
    start += value;
    return inscriptions.map((offset) => from + offset);
  });
}

/** Runes of each output, or null if they are unknown. */
function runesOf(
  outputs: FollowedTransaction['outputs'],
  spent: readonly Contents[],
): readonly (RuneAmount & { readonly output: number })[] | null {
  const held: RuneAmount[] = [];
  for (const { runes } of spent) {
    if (runes === null) return null;
    held.push(...runes);
  }
  const { artifact, given } = runeFlow(outputs, held);
  if (artifact?.kind === 'runestone' && (artifact.mint !== null || artifact.etching !== null)) return null;
  return given;
}

/** Queue of the sats of a transaction's inputs. The outputs take these sats in order. */
class SatQueue {
  readonly #ranges: readonly SatRange[];
  #place = 0;
  /** Number of sats of the range at `place` that outputs have already taken. */
  #taken = 0;

  constructor(ranges: readonly SatRange[]) {
    this.#ranges = ranges;
  }

  take(count: number): SatRange[] {
    const taken: SatRange[] = [];
    for (let left = count; left > 0; ) {
      const range = this.#ranges[this.#place];
      assert(range !== undefined, 'a transaction pays no more than it spends');
      const start = range.start + this.#taken;
      const size = Math.min(left, range.end - start);
      taken.push({ start, end: start + size });
      left -= size;
      this.#taken += size;
      if (start + size === range.end) [this.#place, this.#taken] = [this.#place + 1, 0];
    }
    return taken;
  }
}
