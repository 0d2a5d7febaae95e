import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { jubileeHeight } from '#chain/snapshot/cursed-expression.ts';
import { keyOfInscription, keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import {
  type CandidateIndex,
  type Condition,
  conditionsOf,
  type InscriptionFilter,
} from './inscription-filter.ts';

/** An inscription of a list. */
export interface ListedInscription extends InscriptionId {
  readonly key: InscriptionKey;
  readonly height: Height;
  /** Id of the inscription's own content. `null` if it has no body. */
  readonly contentId: number | null;
}

export interface ListPage {
  readonly inscriptions: readonly ListedInscription[];
  /** The next page begins after this key. `null` if this is the last page. */
  readonly endKey: InscriptionKey | null;
}

export interface ListQuestion {
  readonly filter: InscriptionFilter;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The page begins after this key. `null` if it begins at the start of `order`. */
  readonly after: number | null;
  /** Whether the page has the largest of the checked candidates, ordered by size. Such a list has no next page. */
  readonly bySize?: boolean;
}

/**
 * Maximum number of candidates that are checked for one page. If none of them matches, the look-ups take some 100 ms.
 * Two filters may each match many inscriptions, but few together. The page then ends after this many candidates, with
 * fewer rows than its limit.
 */
export const candidatesMax = 5_000;
/**
 * Maximum number up to which candidates are counted. The counts find the filter with the fewest candidates, and the
 * page is read from its index.
 */
const countedMax = 1_000;

/** SQL that forces Postgres to read along the chosen index, with look-ups by key, whatever the planner estimates. */
const planSettings = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;

interface KeyRange {
  readonly low: number;
  readonly high: number;
}

/**
 * A page of the inscriptions that match a filter, in key order. The work is bounded for every filter: one index yields
 * at most `candidatesMax` candidates in key order, and each candidate is checked by key. Must run in a snapshot,
 * because it changes the planner settings of its transaction. Throws `index_missing` if the writer has not yet built an
 * index for any condition, and the requested heights have more than `candidatesMax` inscriptions.
 */
export async function listInscriptions(client: ClientBase, question: ListQuestion): Promise<ListPage> {
  const { filter, order, limit } = question;
  const parentKey = filter.parent === undefined ? null : await keyOfInscription(client, filter.parent);
  const conditions = conditionsOf(filter, parentKey);
  await client.query(planSettings);
  const range = await keyRange(client, question);
  if (range === null || (filter.parent !== undefined && parentKey === null))
    return { inscriptions: [], endKey: null };
  const values: unknown[] = [range.low, range.high];
  const driver = await rarest(client, conditions, range);
  const candidates = candidateQuery(driver, order, values);
  const ownValues = values.length;
  const checks = conditions.map(({ check, value }) => `AND ${check.replaceAll('$1', place(values, value))}`);
  const { rows } = await client.query<ListedInscription>(
    `SELECT i.key, i.txid, i.index, i.height, i.content_id AS "contentId"
     FROM (${candidates} LIMIT ${candidatesMax}) AS candidate
     JOIN chain.inscriptions i ON i.key = candidate.key
     WHERE true ${checks.join('\n       ')}
     ORDER BY ${sortOf(question, driver)} LIMIT ${place(values, limit + 1)}`,
    values,
  );
  if (question.bySize === true) return { inscriptions: rows.slice(0, limit), endKey: null };
  if (rows.length > limit) {
    return { inscriptions: rows.slice(0, limit), endKey: rows[limit - 1]?.key ?? null };
  }
  return { inscriptions: rows, endKey: await lastCandidate(client, candidates, values.slice(0, ownValues)) };
}

/** SQL: the order of a page's rows. The rows are the candidates `candidate` with their inscriptions `i`. */
function sortOf({ order, bySize = false }: ListQuestion, driver: IndexedCondition | null): string {
  const byKey = `candidate.key ${order}`;
  if (bySize)
    return `(SELECT length(c.body) FROM chain.contents c WHERE c.content_id = i.content_id) DESC NULLS LAST, ${byKey}`;
  // order by all columns of the index, although `mark` has one value; otherwise the planner would sort again
  const hasMark = driver !== null && driver.alternatives === undefined;
  return hasMark ? `candidate.mark ${order}, ${byKey}` : byKey;
}

/** Adds a value to a query and returns its placeholder. */
function place(values: unknown[], value: unknown): string {
  return `$${values.push(value)}`;
}

/** The key of the last checked candidate, if there are more. `null` if all candidates were checked. */
async function lastCandidate(
  client: ClientBase,
  candidates: string,
  values: readonly unknown[],
): Promise<InscriptionKey | null> {
  const { rows } = await client.query<{ key: InscriptionKey }>(
    `${candidates} LIMIT 2 OFFSET ${candidatesMax - 1}`,
    [...values],
  );
  return rows.length === 2 ? (rows[0]?.key ?? null) : null;
}

/**
 * SQL: the candidates as `key`, in order. `values` must begin with the range of keys. If the candidates come from an
 * index, `mark` is the first column of the index.
 */
function candidateQuery(
  condition: IndexedCondition | null,
  order: 'asc' | 'desc',
  values: unknown[],
): string {
  if (condition === null) {
    return `SELECT key FROM chain.inscriptions WHERE key BETWEEN $1 AND $2 ORDER BY key ${order}`;
  }
  if (condition.alternatives !== undefined) {
    // each part is in order, and has as many rows as are read in total
    const parts = condition.alternatives.map(
      (value) => `(${candidatesOf(condition.index, value, order, values)} LIMIT ${candidatesMax + 2})`,
    );
    return `SELECT key FROM (${parts.join(' UNION ALL ')}) AS merged ORDER BY key ${order}`;
  }
  return candidatesOf(condition.index, condition.value, order, values);
}

function candidatesOf(
  { table, column, key, where, ...index }: CandidateIndex,
  value: unknown,
  order: 'asc' | 'desc',
  values: unknown[],
): string {
  const equals = index.equals.includes('$1')
    ? index.equals.replaceAll('$1', place(values, value))
    : index.equals;
  return `SELECT ${column} AS mark, ${key} AS key FROM ${table}
    WHERE (${column}, ${key}) >= (${equals}, $1::integer) AND (${column}, ${key}) <= (${equals}, $2::integer)
      ${where === undefined ? '' : `AND ${where}`}
    ORDER BY ${column} ${order}, ${key} ${order}`;
}

type IndexedCondition = Condition & { readonly index: CandidateIndex };

/**
 * Selects the conditions whose index exists. All other conditions are checked by key. Throws `index_missing` if these
 * checks could take too long.
 */
async function builtConditions(
  client: ClientBase,
  conditions: readonly Condition[],
  { low, high }: KeyRange,
): Promise<IndexedCondition[]> {
  const indexed = conditions.filter((condition): condition is IndexedCondition => condition.index !== null);
  if (indexed.length === 0) return [];
  const names = await builtIndexes(
    client,
    indexed.map(({ index }) => index.name),
  );
  const built = indexed.filter(({ index }) => names.has(index.name));
  if (built.length > 0 || high - low < candidatesMax) return built;
  throw new AppError(
    'index_missing',
    `an index of this filter is still being built; try again later, or set from and to so that at most ${candidatesMax} inscriptions are between them`,
    { indexes: indexed.map(({ index }) => index.name) },
  );
}

/**
 * The condition with the fewest candidates in the range. `null` if no condition has an index; then all keys are
 * candidates.
 */
async function rarest(
  client: ClientBase,
  conditions: readonly Condition[],
  { low, high }: KeyRange,
): Promise<IndexedCondition | null> {
  const indexed = await builtConditions(client, conditions, { low, high });
  let fewest: { condition: IndexedCondition; count: number } | null = null;
  for (const condition of indexed) {
    if (indexed.length === 1) return condition;
    const values: unknown[] = [low, high];
    const candidates = candidateQuery(condition, 'asc', values);
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*) AS count FROM (${candidates} LIMIT ${countedMax}) AS candidate`,
      values,
    );
    const count = rows[0]?.count ?? 0;
    if (fewest === null || count < fewest.count) fewest = { condition, count };
  }
  return fewest?.condition ?? null;
}

/** The range of keys in the requested blocks, after the start of the page. `null` if there are no such keys. */
async function keyRange(
  client: ClientBase,
  { filter, order, after }: ListQuestion,
): Promise<KeyRange | null> {
  const { first, end } = await keysOfHeights(client, filter);
  if (first === null || end === null) return null;
  let low = first;
  let high = end - 1;
  // candidates from the jubilee height on are vindicated, and could fill many pages without a match, so they are
  // skipped
  if (filter.cursed === true) high = Math.min(high, (await firstKeyOfJubilee(client)) - 1);
  if (after !== null && order === 'asc') low = Math.max(low, after + 1);
  if (after !== null && order === 'desc') high = Math.min(high, after - 1);
  return low <= high ? { low, high } : null;
}

/** The first key at or above the jubilee height. Infinity if no block is that high. */
async function firstKeyOfJubilee(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ first_key: number }>(
    `SELECT first_key FROM chain.blocks WHERE height >= ${jubileeHeight} ORDER BY height LIMIT 1`,
  );
  return rows[0]?.first_key ?? Infinity;
}

/** The height of the block that revealed an inscription. */
export async function heightOfKey(client: ClientBase, key: InscriptionKey): Promise<Height> {
  const { rows } = await client.query<{ height: Height }>(
    'SELECT height FROM chain.inscriptions WHERE key = $1',
    [key],
  );
  const [row] = rows;
  if (row === undefined) throw new RangeError(`inscription ${key} is not there`);
  return row.height;
}
