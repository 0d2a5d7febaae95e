import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import type {
  Corpus,
  HashMatches,
  SearchFilter,
  TextMatch,
  TextMatches,
} from '#kernel/contracts/search-engine.ts';
import type { Slice } from '#search/postgres/inscription-matcher.ts';
import { planNeedles } from '#search/segments/needle-plan.ts';
import { exactWordCheck, fuzzyWordCheck, type WordCheck } from '#search/text/word-check.ts';
import { canPassPending, pendingCheck, pendingConditions } from './pending-filter.ts';

/** A pending inscription by its place in the tables. */
export interface PendingRef {
  readonly position: number;
  readonly index: number;
}

export interface PendingHits {
  /** Of the slice, in the order in which they came to be known. */
  readonly refs: readonly PendingRef[];
  /** Exact. */
  readonly totalItems: number;
}

/** How a corpus stands in chain.pending_inscriptions. */
const folded = {
  content: 'CASE p.text WHEN 1 THEN p.body WHEN 2 THEN p.folded END',
  metadata: 'coalesce(p.metadata_folded, p.metadata_json)',
} as const satisfies Record<Corpus, string>;

const none: PendingHits = { refs: [], totalItems: 0 };

/** What is asked of pending inscriptions. */
interface Question {
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
  /** What SQL does not decide; null: nothing. */
  readonly check: ((row: CandidateRow) => boolean) | null;
  /** SQL of the text that `check` looks into. */
  readonly text: string;
}

/**
 * Pending inscriptions that match, in the moment of the client's snapshot: a scan, because what is pending is bounded
 * (docs/mempool.md) and gone in an hour.
 */
export async function matchPendingTexts(
  client: pg.ClientBase,
  { corpus, match = 'substring', needles, filter = {} }: TextMatches,
  slice: Slice,
): Promise<PendingHits> {
  const plan = planNeedles(needles);
  if (plan === null) return none;
  // a whole word is a substring; one that is a few edits away need not be
  const substrings = match === 'fuzzy' ? [] : plan.all;
  const hasWords = wordCheckOf(match, needles);
  return readMatches(client, filter, slice, (place) => ({
    conditions: substrings.map((needle) => `position(${place(needle)} in ${folded[corpus]}) > 0`),
    text: folded[corpus],
    check: hasWords && (({ text }) => text !== null && hasWords(text)),
  }));
}

/** Null: nothing but substrings is looked for, or nothing at all. */
function wordCheckOf(match: TextMatch, needles: readonly string[]): WordCheck | null {
  if (match === 'substring' || needles.length === 0) return null;
  return match === 'fuzzy' ? fuzzyWordCheck(needles) : exactWordCheck(needles);
}

/** Pending inscriptions of a content, by the sha256 of its stored or decoded bytes. */
export async function matchPendingHash(
  client: pg.ClientBase,
  { hash, filter = {} }: HashMatches,
  slice: Slice,
): Promise<PendingHits> {
  return readMatches(client, filter, slice, (place) => {
    const wanted = place(Buffer.from(hash));
    return {
      conditions: [`(p.sha256 = ${wanted} OR p.decoded_sha256 = ${wanted})`],
      text: 'NULL::bytea',
      check: null,
    };
  });
}

async function readMatches(
  client: pg.ClientBase,
  filter: SearchFilter,
  slice: Slice,
  ask: (place: (value: unknown) => string) => Omit<Question, 'values'>,
): Promise<PendingHits> {
  if (!canPassPending(filter)) return none;
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value) + 2}`;
  const asked = ask(place);
  const conditions = [...asked.conditions, ...pendingConditions(filter, place)];
  const filtered = pendingCheck(filter);
  if (asked.check === null && filtered === null)
    return readHits(client, { ...asked, conditions, values }, slice);
  const check = (row: CandidateRow): boolean =>
    (asked.check?.(row) ?? true) &&
    (filtered?.({ metadata: row.metadata?.toString() ?? null, properties: row.properties }) ?? true);
  return checkHits(client, { ...asked, conditions, values, check }, slice);
}

const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;

async function readHits(
  client: pg.ClientBase,
  { conditions, values }: Question,
  { offset, limit }: Slice,
): Promise<PendingHits> {
  const { rows } = await client.query<{ total: number; position: number | null; index: number | null }>(
    `WITH matches AS MATERIALIZED (
       SELECT p.position, p.index FROM chain.pending_inscriptions AS p ${where(conditions)})
     SELECT total.count::integer AS total, page.position, page.index
       FROM (SELECT count(*) FROM matches) AS total
       LEFT JOIN LATERAL (SELECT position, index FROM matches ORDER BY position, index OFFSET $1 LIMIT $2)
         AS page ON true
      ORDER BY page.position, page.index`,
    [offset, limit, ...values],
  );
  const refs = rows.flatMap(({ position, index }) =>
    position === null || index === null ? [] : [{ position, index }],
  );
  return { refs, totalItems: rows[0]?.total ?? 0 };
}

interface CandidateRow extends PendingRef {
  readonly text: Buffer | null;
  readonly metadata: Buffer | null;
  readonly properties: string | null;
}

/** Candidates that are in memory at once; of all that is pending there are 64 MB at most. */
const candidatesAtOnce = 500;
/** Bytes that are looked at in one turn of the event loop, beside a text that is larger: 5 to 10 ms. */
const bytesATurn = 1024 * 1024;

/** The rows, between which others get to work. */
async function* inTurns(rows: readonly CandidateRow[]): AsyncGenerator<CandidateRow> {
  let bytes = 0;
  for (const row of rows) {
    bytes += sizeOf(row.text) + sizeOf(row.metadata) + sizeOf(row.properties);
    if (bytes > bytesATurn) {
      bytes = 0;
      await nextTurn();
    }
    yield row;
  }
}

const sizeOf = (value: Buffer | string | null): number => value?.length ?? 0;

/** As `readHits`, with candidates checked here, some at a time in their order. */
async function checkHits(
  client: pg.ClientBase,
  { conditions, values, check, text }: Question,
  { offset, limit }: Slice,
): Promise<PendingHits> {
  const refs: PendingRef[] = [];
  let totalItems = 0;
  let after: PendingRef = { position: -1, index: 0 };
  for (;;) {
    const { rows } = await client.query<CandidateRow>(
      `SELECT p.position, p.index, ${text} AS text, p.metadata_json AS metadata, p.properties_json AS properties
         FROM chain.pending_inscriptions AS p
        ${where(['(p.position, p.index) > ($1::bigint, $2::integer)', ...conditions])}
        ORDER BY p.position, p.index LIMIT ${candidatesAtOnce}`,
      [after.position, after.index, ...values],
    );
    for await (const row of inTurns(rows)) {
      if (check?.(row) === false) continue;
      if (totalItems >= offset && refs.length < limit)
        refs.push({ position: row.position, index: row.index });
      totalItems++;
    }
    const last = rows.at(-1);
    if (rows.length < candidatesAtOnce || last === undefined) return { refs, totalItems };
    after = last;
  }
}

/** The revision of what is pending; null: nobody follows a mempool. */
export async function pendingRevision(client: pg.ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ revision: number }>('SELECT revision FROM chain.pending_state');
  return rows[0]?.revision ?? null;
}
