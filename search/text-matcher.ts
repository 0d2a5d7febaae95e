import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { ByteCache } from './byte-cache.ts';
import type { EngineTuning } from './engine-tuning.ts';
import { countBits, eachBit, IdSet, intersect } from './id-set.ts';
import { int32s } from './int32s.ts';
import type { NeedlePlan } from './needle-plan.ts';
import type { Gram } from './postings/layout.ts';
import { addPostings, type Postings } from './postings/postings-block.ts';
import { readPostings, type SealedPart } from './postings-reader.ts';
import { type Segment, sealedEnd } from './seal-plan.ts';
import { textSources } from './segments.ts';

/** A segment in the course of a query: which of its texts can still match. */
interface Candidates {
  readonly segment: Segment;
  /** The id that the bitmap counts from. */
  readonly baseId: number;
  readonly bits: Uint8Array;
  count: number;
}

/** What a query works with. */
export interface Matching {
  readonly client: pg.ClientBase;
  readonly cache: ByteCache<SealedPart>;
  readonly tuning: EngineTuning;
  readonly corpus: Corpus;
}

/** Which texts have all needles: exact, in the moment that `client` sees. Keeps results of sealed segments in `cache`. */
export async function matchTexts(
  matching: Matching,
  segments: readonly Segment[],
  plan: NeedlePlan,
): Promise<IdSet> {
  const { client, cache, corpus } = matching;
  const found = new IdSet();
  const open: Candidates[] = [];
  for (const segment of segments) {
    const known = cache.get(resultKey(corpus, segment, plan)) as Uint8Array | null | undefined;
    if (known === undefined) open.push(newCandidates(segment));
    else if (known !== null) found.addBits(baseIdOf(segment), known);
  }
  if (open.length > 0) {
    await narrow(matching, open, plan);
    const checked = plan.checked.length === 0 ? open : await check(matching, open, plan);
    for (const { segment, baseId, bits, count } of checked) {
      const result = count === 0 ? null : bits;
      if (result !== null) found.addBits(baseId, result);
      const key = resultKey(corpus, segment, plan);
      cache.set(key, result, key.length * 2 + (result?.length ?? 0) + 100);
    }
  }
  for (const id of await scanTail(client, corpus, sealedEnd(segments), plan)) found.add(id);
  return found;
}

const resultKey = (corpus: Corpus, segment: Segment, plan: NeedlePlan): string =>
  `r${segment.segmentId}:${corpus}:${plan.key}`;

const baseIdOf = (segment: Segment): number => segment.firstId - (segment.firstId % 8);

function newCandidates(segment: Segment): Candidates {
  const baseId = baseIdOf(segment);
  const bits = new Uint8Array(Math.ceil((segment.nextId - baseId) / 8));
  return { segment, baseId, bits, count: -1 };
}

/** Leaves those texts that have the grams that were looked up: exact for needles of up to three code points. */
async function narrow(matching: Matching, open: readonly Candidates[], plan: NeedlePlan): Promise<void> {
  const { firstGrams, enoughCandidates } = matching.tuning;
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

function keepOnly(candidates: Candidates, postings: readonly (Postings | null)[]): void {
  const { bits } = candidates;
  const scratch = new Uint8Array(bits.length);
  for (const one of postings) {
    if (one === null) {
      bits.fill(0);
      break;
    }
    if (candidates.count < 0) {
      addPostings(one, bits);
      candidates.count = 0;
      continue;
    }
    scratch.fill(0);
    addPostings(one, scratch);
    intersect(bits, scratch);
  }
  candidates.count = countBits(bits);
}

/** Leaves those candidates whose texts do have the needles. */
async function check(
  { client, corpus, tuning }: Matching,
  open: readonly Candidates[],
  plan: NeedlePlan,
): Promise<readonly Candidates[]> {
  const few: number[] = [];
  const many: Candidates[] = [];
  const results: Candidates[] = [];
  for (const candidates of open) {
    const { segment, baseId, bits, count } = candidates;
    const checked = newCandidates(segment);
    results.push(checked);
    if (count === 0) checked.count = 0;
    else if (count * tuning.scanAdvantage > segment.nextId - segment.firstId) many.push(candidates);
    else {
      eachBit(bits, (index) => {
        few.push(baseId + index);
      });
    }
  }
  const scanned = new Set(many.map(({ segment }) => segment));
  const byScan = many.length === 0 ? none : await checkByScan(client, corpus, many, plan.checked);
  const byId = few.length === 0 ? none : await checkById(client, corpus, few, plan.checked);
  for (const checked of results) {
    if (checked.count < 0) setIds(checked, scanned.has(checked.segment) ? byScan : byId);
  }
  return results;
}

const none = new Int32Array(0);

/** Takes those of ascending ids that are the segment's. */
function setIds(candidates: Candidates, ids: Iterable<number>): void {
  const { segment, baseId, bits } = candidates;
  let count = 0;
  for (const id of ids) {
    if (id < segment.firstId || id >= segment.nextId) continue;
    const index = id - baseId;
    bits[index >>> 3] = (bits[index >>> 3] as number) | (1 << (index & 7));
    count++;
  }
  candidates.count = count;
}

/** SQL: a folded text has all needles, which are the parameters from number `first` on. */
function hasAll(corpus: Corpus, needles: readonly Buffer[], first: number): string {
  const { folded } = textSources[corpus];
  return needles.map((_, index) => `position($${first + index} in ${folded}) > 0`).join(' AND ');
}

async function checkById(
  client: pg.ClientBase,
  corpus: Corpus,
  ids: readonly number[],
  needles: readonly Buffer[],
): Promise<Int32Array> {
  const { table, id } = textSources[corpus];
  return readIds(
    client,
    `SELECT string_agg(int4send(${id}), '') AS ids
       FROM unnest($1::integer[]) AS wanted JOIN ${table} ON ${id} = wanted WHERE ${hasAll(corpus, needles, 2)}`,
    [ids, ...needles],
  );
}

/**
 * One statement for all segments, with one bitmap: a statement a segment costs the start of parallel workers each time.
 * CASE: the text of what is no candidate is not even read, whatever the planner thinks of the order.
 */
async function checkByScan(
  client: pg.ClientBase,
  corpus: Corpus,
  many: readonly Candidates[],
  needles: readonly Buffer[],
): Promise<Int32Array> {
  const { table, id } = textSources[corpus];
  const firstId = Math.min(...many.map(({ segment }) => segment.firstId));
  const nextId = Math.max(...many.map(({ segment }) => segment.nextId));
  // as the bases of all segments: a multiple of 8
  const firstBase = firstId - (firstId % 8);
  const bits = Buffer.alloc(Math.ceil((nextId - firstBase) / 8));
  for (const { baseId, bits: part } of many) {
    // the last byte of one segment can be the first of the next
    const at = (baseId - firstBase) / 8;
    for (let index = 0; index < part.length; index++) {
      bits[at + index] = (bits[at + index] as number) | (part[index] as number);
    }
  }
  return readIds(
    client,
    `SELECT string_agg(int4send(${id}), '') AS ids
       FROM ${table} WHERE ${id} >= $1 AND ${id} < $2
        AND CASE get_bit($3::bytea, ${id} - $4) WHEN 1 THEN ${hasAll(corpus, needles, 5)} END`,
    [firstId, nextId, bits, firstBase, ...needles],
  );
}

async function scanTail(
  client: pg.ClientBase,
  corpus: Corpus,
  firstId: number,
  plan: NeedlePlan,
): Promise<Int32Array> {
  const { table, id, searchable } = textSources[corpus];
  return readIds(
    client,
    `SELECT string_agg(int4send(${id}), '') AS ids
       FROM ${table} WHERE ${id} >= $1 AND ${searchable} AND ${hasAll(corpus, plan.all, 2)}`,
    [firstId, ...plan.all],
  );
}

/** Runs a statement that gives ids as one bytea of four bytes each: a row an id costs ten times as much. */
async function readIds(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<Int32Array> {
  const { rows } = await client.query<{ ids: Buffer | null }>(text, [...values]);
  return int32s(rows[0]?.ids ?? null);
}
