import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { type Segment, sealedEnd } from '#search/segments/segment-table.ts';
import { textSources } from '#search/segments/segments.ts';
import { int32s } from '#search/text/int32s.ts';
import { baseIdOf, type Candidates, narrow, newCandidates, setIds } from './candidates.ts';
import { countBits, eachBit, IdSet } from './id-set.ts';
import { narrowByPassages } from './passage-matches.ts';
import { idsWith } from './read-texts.ts';
import type { Matching } from './search-context.ts';
import type { TextPlan } from './text-plan.ts';

/**
 * The texts that satisfy a plan. The result is exact for the moment that `client` sees. Results of sealed segments are
 * kept in `cache`.
 */
export async function matchTexts(
  matching: Matching,
  segments: readonly Segment[],
  plan: TextPlan,
): Promise<IdSet> {
  const { client, cache, corpus } = matching;
  const found = new IdSet();
  const open: Candidates[] = [];
  for (const segment of segments) {
    const known = cache.get(resultKey(corpus, segment, plan)) as Uint8Array | null | undefined;
    if (known === undefined) open.push(newCandidates(segment));
    else if (known !== null) found.addBits(baseIdOf(segment), known);
  }
  for (const { segment, baseId, bits, count } of await matchSealed(matching, open, plan)) {
    const result = count === 0 ? null : bits;
    if (result !== null) found.addBits(baseId, result);
    const key = resultKey(corpus, segment, plan);
    cache.set(key, result, key.length * 2 + (result?.length ?? 0) + 100);
  }
  const tail = await scanTail(client, corpus, sealedEnd(segments), plan);
  for (const id of plan.check === null ? tail : await lookAt(matching, tail.toSorted(), plan)) found.add(id);
  return found;
}

async function matchSealed(
  matching: Matching,
  open: readonly Candidates[],
  plan: TextPlan,
): Promise<readonly Candidates[]> {
  if (open.length === 0) return open;
  await narrow(matching, open, plan);
  const matched = plan.checked.length === 0 ? open : await check(matching, open, plan);
  return lookAtEach(matching, matched, plan);
}

/** Keeps the texts that pass those checks that SQL cannot make. Reads the texts one by one. */
async function lookAtEach(
  matching: Matching,
  matched: readonly Candidates[],
  plan: TextPlan,
): Promise<readonly Candidates[]> {
  if (plan.check === null) return matched;
  const ids = new Int32Array(matched.reduce((sum, { bits }) => sum + countBits(bits), 0));
  let count = 0;
  for (const { segment, baseId, bits } of matched) {
    eachBit(bits, (index) => {
      const id = baseId + index;
      if (id >= segment.firstId && id < segment.nextId) ids[count++] = id;
    });
  }
  const found = await lookAt(matching, ids.subarray(0, count), plan);
  let from = 0;
  return matched.map(({ segment }) => {
    // segments ascend, and only their texts were read
    let to = from;
    while (to < found.length && found[to]! < segment.nextId) to++;
    const checked = newCandidates(segment);
    setIds(checked, found.slice(from, to));
    from = to;
    return checked;
  });
}

async function lookAt(
  { client, corpus, budget }: Matching,
  ids: Int32Array,
  plan: TextPlan,
): Promise<number[]> {
  const { table, id, folded } = textSources[corpus];
  if (plan.check === null || ids.length === 0) return [];
  const text = plan.check.column === 'folded' ? folded : 'json';
  return idsWith(client, { table, id, text }, ids, plan.check.has, budget);
}

const resultKey = (corpus: Corpus, segment: Segment, plan: TextPlan): string =>
  `r${segment.segmentId}:${corpus}:${plan.key}`;

/** Keeps the candidates whose texts really contain the needles. Texts are read if passages cannot answer. */
async function check(
  matching: Matching,
  open: readonly Candidates[],
  plan: TextPlan,
): Promise<readonly Candidates[]> {
  const { client, corpus, tuning } = matching;
  const exact = await narrowByPassages(matching, open, plan.checked);
  const few: number[] = [];
  const many: Candidates[] = [];
  const results: Candidates[] = [];
  for (const candidates of open) {
    const { segment, baseId, bits, count } = candidates;
    const checked = exact.has(candidates) ? candidates : newCandidates(segment);
    results.push(checked);
    if (checked === candidates) continue;
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

/** SQL: whether a folded text contains all needles. The needles are the parameters from number `first` on. */
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
  return readIds(client, {
    // the plan of a named statement does not depend on the ids. Planning with thousands of ids takes half of the time,
    // and a join with the ids would be planned as a check of all texts
    name: `search-check-${corpus}-${needles.length}`,
    text: `SELECT string_agg(int4send(${id}), '') AS ids
             FROM ${table} WHERE ${id} = ANY($1) AND ${hasAll(corpus, needles, 2)}`,
    values: [int4Array(ids), ...needles],
  });
}

/**
 * One statement with one bitmap for all segments, because a statement per segment would start parallel workers each
 * time. With CASE, the text of a non-candidate is not even read, whatever order the planner chooses.
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
  // a multiple of 8, like the bases of all segments
  const firstBase = firstId - (firstId % 8);
  const bits = Buffer.alloc(Math.ceil((nextId - firstBase) / 8));
  for (const { baseId, bits: part } of many) {
    // the last byte of one segment can be the first byte of the next
    const at = (baseId - firstBase) / 8;
    for (let index = 0; index < part.length; index++) {
      bits[at + index] = bits[at + index]! | part[index]!;
    }
  }
  return readIds(client, {
    text: `SELECT string_agg(int4send(${id}), '') AS ids
             FROM ${table} WHERE ${id} >= $1 AND ${id} < $2
              AND CASE get_bit($3::bytea, ${id} - $4) WHEN 1 THEN ${hasAll(corpus, needles, 5)} END`,
    values: [firstId, nextId, bits, firstBase, ...needles],
  });
}

async function scanTail(
  client: pg.ClientBase,
  corpus: Corpus,
  firstId: number,
  plan: TextPlan,
): Promise<Int32Array> {
  const { table, id, searchable } = textSources[corpus];
  const needles = plan.all.length === 0 ? '' : `AND ${hasAll(corpus, plan.all, 2)}`;
  return readIds(client, {
    text: `SELECT string_agg(int4send(${id}), '') AS ids
             FROM ${table} WHERE ${id} >= $1 AND ${searchable} ${needles}`,
    values: [firstId, ...plan.all],
  });
}

/** Runs a statement that returns ids as one bytea, four bytes per id, because a row per id costs ten times as much. */
async function readIds(client: pg.ClientBase, query: pg.QueryConfig): Promise<Int32Array> {
  const { rows } = await client.query<{ ids: Buffer | null }>(query);
  return int32s(rows[0]?.ids ?? null);
}
