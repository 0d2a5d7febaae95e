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
import { type CheckInParts, ChecksInTurns } from '#search/text/check-in-parts.ts';
import { exactWordCheck, fuzzyWordCheck, type WordCheck } from '#search/text/word-check.ts';
import { canPassPending, pendingCheck, pendingConditions } from './pending-filter.ts';

/** A pending inscription, identified by its position in the tables. */
export interface PendingRef {
  readonly position: number;
  readonly index: number;
}

export interface PendingHits {
  /** The hits of the slice, in the order in which they were seen. */
  readonly refs: readonly PendingRef[];
  /** The exact number of matches. */
  readonly totalItems: number;
}

/** The columns of a corpus in chain.pending_inscriptions. */
const folded = {
  content: 'CASE p.text WHEN 1 THEN p.body WHEN 2 THEN p.folded END',
  metadata: 'coalesce(p.metadata_folded, p.metadata_json)',
} as const satisfies Record<Corpus, string>;

const none: PendingHits = { refs: [], totalItems: 0 };

/** A search of pending inscriptions. */
interface Question {
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
  /** Checks that SQL cannot make. Null: no checks. */
  readonly check: CheckInParts<CandidateRow> | null;
  /** SQL of the text that `check` reads. */
  readonly text: string;
}

/**
 * Pending inscriptions that match, in the snapshot of the client. It is a scan: the size of the mempool is bounded
 * (docs/mempool.md), and most of it is mined within an hour.
 */
export async function matchPendingTexts(
  client: pg.ClientBase,
  { corpus, match = 'substring', needles, filter = {} }: TextMatches,
  slice: Slice,
): Promise<PendingHits> {
  const plan = planNeedles(needles);
  if (plan === null) return none;
  // a whole word is also a substring, but a word that is some edits away need not be
  const substrings = match === 'fuzzy' ? [] : plan.all;
  const hasWords = wordCheckOf(match, needles);
  return readMatches(client, filter, slice, (place) => ({
    conditions: substrings.map((needle) => `position(${place(needle)} in ${folded[corpus]}) > 0`),
    text: folded[corpus],
    check:
      hasWords &&
      function* ({ text }) {
        return text !== null && (yield* hasWords(text));
      },
  }));
}

/** The check of words. Null: the search is only for substrings, or has no text. */
function wordCheckOf(match: TextMatch, needles: readonly string[]): WordCheck | null {
  if (match === 'substring' || needles.length === 0) return null;
  return match === 'fuzzy' ? fuzzyWordCheck(needles) : exactWordCheck(needles);
}

/** The pending inscriptions of a content, by the sha256 of its stored or decoded bytes. */
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
  const check: CheckInParts<CandidateRow> = function* (row) {
    if (asked.check !== null && !(yield* asked.check(row))) return false;
    return filtered?.({ metadata: row.metadata?.toString() ?? null, gallery: row.gallery }) ?? true;
  };
  return checkHits(client, { ...asked, conditions, values, check }, filter, slice);
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
  readonly gallery: Buffer | null;
}

/** Maximum number of candidates in memory at once. All pending candidates together have at most 64 MB. */
const candidatesAtOnce = 500;
/** Like `readHits`, but the candidates are checked here, in order, a few at a time. */
async function checkHits(
  client: pg.ClientBase,
  { conditions, values, check, text }: Question,
  { metadata, gallery }: SearchFilter,
  { offset, limit }: Slice,
): Promise<PendingHits> {
  // only columns that checks read
  const columns = [
    metadata === undefined ? 'NULL::bytea AS metadata' : 'p.metadata_json AS metadata',
    gallery === undefined ? 'NULL::bytea AS gallery' : 'p.gallery',
  ].join(', ');
  const refs: PendingRef[] = [];
  let totalItems = 0;
  let after: PendingRef = { position: -1, index: 0 };
  const turns = new ChecksInTurns();
  for (;;) {
    const { rows } = await client.query<CandidateRow>(
      `SELECT p.position, p.index, ${text} AS text, ${columns}
         FROM chain.pending_inscriptions AS p
        ${where(['(p.position, p.index) > ($1::bigint, $2::integer)', ...conditions])}
        ORDER BY p.position, p.index LIMIT ${candidatesAtOnce}`,
      [after.position, after.index, ...values],
    );
    for (const row of rows) {
      if (check !== null && !(await turns.outcomeOf(check(row)))) continue;
      if (totalItems >= offset && refs.length < limit)
        refs.push({ position: row.position, index: row.index });
      totalItems++;
    }
    const last = rows.at(-1);
    if (rows.length < candidatesAtOnce || last === undefined) return { refs, totalItems };
    after = last;
  }
}

/** The revision of the mempool. Null: no mempool is followed. */
export async function pendingRevision(client: pg.ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ revision: number }>('SELECT revision FROM chain.pending_state');
  return rows[0]?.revision ?? null;
}
