import { type Static, Type } from 'typebox';
import type { WorkInTurns } from '#kernel/concurrency/turns.ts';
import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { type SpecialRange, type SpecialSats, specialSats } from '#kernel/satributes/special-ranges.ts';
import { type Rarity, rarities } from '#kernel/sats/rarity.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';
import type { TracedSats } from '#sat-ranges/sat-tracer.ts';

/**
 * Maximum number of special ranges of one output in an answer. They take one megabyte. Counts are exact even if there
 * are more ranges.
 */
const specialMax = 10_000;

const integer = Type.Integer();
const text = Type.String();
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const end = Type.Integer({ description: 'the first sat after the range' });

export const outputSatsAnswer = Type.Object({
  outpoint: text,
  value: integer,
  height: integer,
  blockHash: text,
  state: Type.Union([Type.Literal('known'), Type.Literal('unknown')]),
  reason: nullable(Type.String({ description: 'why the sats are unknown' })),
  steps: Type.Integer({ description: 'number of transactions and lists of fees that were read' }),
  ranges: nullable(
    Type.Array(Type.Object({ start: integer, end }), { description: 'in the order of the output' }),
  ),
  special: nullable(
    Type.Array(Type.Object({ start: integer, end, offset: integer, satributes: Type.Array(text) })),
  ),
  specialComplete: nullable(Type.Boolean({ description: 'false: special ranges are left out' })),
  counts: nullable(
    Type.Record(text, integer, { description: 'number of sats of each satribute, for those with any' }),
  ),
});

/**
 * Maximum number of ranges that are compared with all satributes in one turn of the event loop. They take some
 * milliseconds.
 */
export const rangesATurn = 250;

/** The sats of an output. Unknown sats are reported as unknown, never as common. */
export async function outputSatsView(
  traced: TracedSats,
  book: SatributeBook,
  work: WorkInTurns,
): Promise<Static<typeof outputSatsAnswer>> {
  const { txid, vout, value, height, blockHash } = traced.output;
  const { state, steps } = traced;
  const output = { outpoint: `${txid}:${vout}`, value, height, blockHash, state, steps };
  if (traced.state === 'unknown') {
    const nothing = { ranges: null, special: null, specialComplete: null, counts: null };
    return { ...output, reason: traced.reason, ...nothing };
  }
  const special = await specialOf(traced.ranges, book, work);
  return {
    ...output,
    reason: null,
    ranges: [...traced.ranges],
    special: special.ranges.map((range) => ({ ...range, satributes: [...range.satributes] })),
    specialComplete: special.isComplete,
    counts: Object.fromEntries(special.counts),
  };
}

/** The special sats of an output, with at most `limit` ranges. */
export async function specialOf(
  ranges: readonly SatRange[],
  book: SatributeBook,
  work: WorkInTurns,
  limit = specialMax,
): Promise<SpecialSats> {
  const most = Math.min(limit, specialMax);
  const found: SpecialRange[] = [];
  const counts = new Map<string, number>();
  let isComplete = true;
  let offset = 0;
  for (let at = 0; at < ranges.length; at += rangesATurn) {
    const part = ranges.slice(at, at + rangesATurn);
    const special = specialSats(part, book.findable, isComplete ? most - found.length : 0);
    for (const [id, count] of special.counts) counts.set(id, (counts.get(id) ?? 0) + count);
    if (isComplete) {
      for (const range of special.ranges) found.push({ ...range, offset: offset + range.offset });
      isComplete = special.isComplete;
    }
    offset += satsIn(part);
    await work.did(part.length);
  }
  return { ranges: found, isComplete, counts };
}

/** The rarest sat of a range. */
export function rarestIn(range: SatRange): Rarity {
  for (const rarity of rarities.toReversed())
    if (rarity !== 'common' && countWithin({ kind: 'firsts', rarity }, range) > 0) return rarity;
  return 'common';
}
