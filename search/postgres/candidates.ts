import { addPostings, bytesOf, keepOffsets, type Postings } from '#search/segments/postings-block.ts';
import type { Gram } from '#search/segments/postings-layout.ts';
import { readPostings } from '#search/segments/postings-reader.ts';
import type { Segment } from '#search/segments/segment-table.ts';
import { countBits, eachBit, intersect } from './id-set.ts';
import type { Matching } from './search-context.ts';
import type { TextPlan } from './text-plan.ts';

/** A segment during a query, with the texts that can still match. */
export interface Candidates {
  readonly segment: Segment;
  /** The id of the first bit of the bitmap. */
  readonly baseId: number;
  readonly bits: Uint8Array;
  count: number;
}

export const baseIdOf = (segment: Segment): number => segment.firstId - (segment.firstId % 8);

export function newCandidates(segment: Segment): Candidates {
  const baseId = baseIdOf(segment);
  const bits = new Uint8Array(Math.ceil((segment.nextId - baseId) / 8));
  return { segment, baseId, bits, count: -1 };
}

/** Adds those of the given ids that belong to the segment. Ids are in ascending order. */
export function setIds(candidates: Candidates, ids: Iterable<number>): void {
  const { segment, baseId, bits } = candidates;
  let count = 0;
  for (const id of ids) {
    if (id < segment.firstId || id >= segment.nextId) continue;
    const index = id - baseId;
    bits[index >>> 3] = bits[index >>> 3]! | (1 << (index & 7));
    count++;
  }
  candidates.count = count;
}

/** Keeps the texts that have the looked-up grams. The result is exact for needles of up to three code points. */
export async function narrow(matching: Matching, open: readonly Candidates[], plan: TextPlan): Promise<void> {
  if (plan.alternatives !== null) return narrowByAlternatives(matching, open, plan.alternatives);
  const { firstGrams, enoughCandidates } = matching.tuning;
  if (plan.required.length === 0 && plan.optional.length === 0) {
    for (const candidates of open) keepAll(candidates);
    return;
  }
  const first = [...plan.required, ...plan.optional.slice(0, firstGrams)];
  await narrowBy(matching, open, first);
  const rest = plan.optional.slice(firstGrams);
  const many = open.filter((candidates) => candidates.count > enoughCandidates);
  if (rest.length > 0 && many.length > 0) await narrowBy(matching, many, rest);
}

async function narrowBy(
  { client, cache }: Matching,
  open: readonly Candidates[],
  grams: readonly Gram[],
): Promise<void> {
  const postings = await readPostings(
    client,
    cache,
    open.map((candidates) => candidates.segment),
    grams,
  );
  for (const [index, candidates] of open.entries()) keepOnly(candidates, postings[index] ?? []);
}

/**
 * Maximum number of candidates that are compared with postings one by one. With more, comparing bitmaps byte by byte is
 * faster.
 */
const listedMax = 4096;

/**
 * Keeps the texts that have all grams. The rarest gram is first, so all other grams only decide about the texts that
 * have it.
 */
function keepOnly(candidates: Candidates, postings: readonly (Postings | null)[]): void {
  const { bits } = candidates;
  const rarestFirst = postings.filter((one) => one !== null).sort((a, b) => bytesOf(a) - bytesOf(b));
  if (rarestFirst.length < postings.length) {
    bits.fill(0);
    candidates.count = 0;
    return;
  }
  if (candidates.count < 0) {
    const rarest = rarestFirst.shift();
    if (rarest !== undefined) addPostings(rarest, bits);
    candidates.count = countBits(bits);
  }
  while (rarestFirst.length > 0 && candidates.count > listedMax) {
    const scratch = new Uint8Array(bits.length);
    addPostings(rarestFirst.shift() as Postings, scratch);
    intersect(bits, scratch);
    candidates.count = countBits(bits);
  }
  if (rarestFirst.length > 0 && candidates.count > 0) keepListed(candidates, rarestFirst);
}

/** Keeps the texts that have all grams, if there are few candidates. */
function keepListed(candidates: Candidates, postings: readonly Postings[]): void {
  const { bits } = candidates;
  const offsets = new Uint16Array(candidates.count);
  let count = 0;
  eachBit(bits, (offset) => {
    offsets[count++] = offset;
  });
  for (const one of postings) {
    if (count === 0) break;
    count = keepOffsets(one, offsets, count);
  }
  bits.fill(0);
  for (const offset of offsets.subarray(0, count)) {
    bits[offset >>> 3] = bits[offset >>> 3]! | (1 << (offset & 7));
  }
  candidates.count = count;
}

/**
 * Keeps all texts of a segment if there are no grams to look up. Ids without a text are dropped when texts are read.
 */
function keepAll(candidates: Candidates): void {
  candidates.bits.fill(0xff);
  candidates.count = countBits(candidates.bits);
}

/**
 * Maximum number of segments whose postings or passages are in memory at once, in addition to the cache. Postings have
 * up to a hundred blocks of 8 kB for each segment, and passages up to 1.2 MB.
 */
export const segmentsAtOnce = 16;

/** Keeps the texts that have all grams of one alternative of each list. */
async function narrowByAlternatives(
  { client, cache }: Matching,
  open: readonly Candidates[],
  lists: readonly (readonly (readonly Gram[])[])[],
): Promise<void> {
  const grams = [...new Map(lists.flat(2).map((gram) => [gram.join(), gram])).values()];
  const places = new Map(grams.map((gram, at) => [gram.join(), at]));
  for (let from = 0; from < open.length; from += segmentsAtOnce) {
    const some = open.slice(from, from + segmentsAtOnce);
    const postings = await readPostings(
      client,
      cache,
      some.map(({ segment }) => segment),
      grams,
    );
    for (const [at, candidates] of some.entries()) {
      const own = postings[at] as (Postings | null)[];
      keepAll(candidates);
      for (const list of lists) {
        const any = new Uint8Array(candidates.bits.length);
        for (const alternative of list) {
          const one = { ...newCandidates(candidates.segment) };
          keepOnly(
            one,
            alternative.map((gram) => own[places.get(gram.join()) as number] ?? null),
          );
          for (let index = 0; index < any.length; index++) {
            any[index] = any[index]! | one.bits[index]!;
          }
        }
        intersect(candidates.bits, any);
      }
      candidates.count = countBits(candidates.bits);
    }
  }
}
