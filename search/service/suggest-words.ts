import type { SearchEngine, Snapshot } from '#kernel/contracts/search-engine.ts';
import type { SuggestedWord } from '#kernel/contracts/search-service.ts';
import { foldText } from '#kernel/text/fold.ts';
import { lastRunStart, wordCodePointsMax, wordsOfFolded } from '#search/text/words.ts';

/** Words that are suggested: as many as a list below a box shows. */
const wordsMax = 8;
/** Inscriptions whose words are counted: the newest that match. */
const sampleMax = 200;
/** So much is read of each text: all of it in nearly all of them. */
const textBytesMax = 2_048;
/** Shorter beginnings are in so many texts that looking for them would take long: the newest texts of all are the sample then. */
const searchedPoints = 3;
/** Contents that are looked at for a shorter beginning. */
const newestMax = 1_000;
/** Words before the last one that the sample has to have too. */
const contextMax = 3;
/** A statement of a search that takes longer is given up, and the newest texts are the sample: what is in so many is in these too. */
const searchTimeoutMs = 60;
/** No statement of a suggestion takes longer, whatever the machine has to do: whoever types has typed on. */
const statementTimeoutMs = 500;

/** So many suggestions are made at once: they must not take the connections of searches. */
export const suggestionGate = { running: 2, waiting: 6, waitMs: 500 };

/** The end of a text that is being typed. */
export interface TypedEnd {
  readonly before: string;
  /** The run of letters that it ends with, folded; empty: none. */
  readonly beginning: string;
}

export function typedEnd(text: string): TypedEnd {
  const start = lastRunStart(text);
  return { before: text.slice(0, start), beginning: foldText(text.slice(start)) };
}

/**
 * What a text could go on with: words that begin with its last one, by the number of distinct contents that have them among the
 * newest inscriptions whose content has all of the text's words. A statement that takes too long is ended by the server (57014).
 */
export async function suggestWords(
  engine: SearchEngine,
  snapshot: Snapshot,
  { before, beginning }: TypedEnd,
): Promise<SuggestedWord[]> {
  const points = Array.from(beginning).length;
  if (points === 0 || points > wordCodePointsMax || !beginning.isWellFormed()) return [];
  const found =
    points < searchedPoints
      ? null
      : await matchingContents(engine, snapshot, [...contextOf(before), beginning]);
  await snapshot.client.query(`SET LOCAL statement_timeout = ${statementTimeoutMs}`);
  return ranked(await readTexts(snapshot, found ?? (await newestContents(snapshot))), beginning);
}

/** Words before the last one that are long enough to be looked for, the nearest ones. */
function contextOf(before: string): string[] {
  return wordsOfFolded(foldText(before))
    .filter((word) => word.isWellFormed() && Array.from(word).length >= searchedPoints)
    .slice(-contextMax);
}

/** Null: to look for them takes too long. */
async function matchingContents(
  engine: SearchEngine,
  snapshot: Snapshot,
  needles: readonly string[],
): Promise<number[] | null> {
  const keys = await newestKeys(engine, snapshot, needles);
  if (keys === null) return null;
  const { rows } = await snapshot.client.query<{ content_id: number }>(
    'SELECT DISTINCT content_id FROM chain.inscriptions WHERE key = ANY($1)',
    [keys],
  );
  return rows.map((row) => row.content_id);
}

async function newestKeys(
  engine: SearchEngine,
  snapshot: Snapshot,
  needles: readonly string[],
): Promise<readonly number[] | null> {
  const { client } = snapshot;
  await client.query(`SAVEPOINT suggestion; SET LOCAL statement_timeout = ${searchTimeoutMs}`);
  // Elasticsearch knows no time limit of Postgres
  const limit = AbortSignal.timeout(statementTimeoutMs);
  const signal = snapshot.signal === undefined ? limit : AbortSignal.any([snapshot.signal, limit]);
  try {
    const { keys } = await engine.searchText(
      { ...snapshot, signal },
      {
        corpus: 'content',
        needles,
        order: 'desc',
        page: 1,
        itemsPerPage: sampleMax,
      },
    );
    return keys;
  } catch (error) {
    if (!isTimeout(error) && !limit.aborted) throw error;
    await client.query('ROLLBACK TO SAVEPOINT suggestion');
    return null;
  }
}

/** The server ended a statement that took longer than it may (57014, query_canceled). */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === '57014';

async function newestContents({ client }: Snapshot): Promise<number[]> {
  const { rows } = await client.query<{ content_id: number }>(
    `SELECT content_id FROM (SELECT content_id, text FROM chain.contents ORDER BY content_id DESC LIMIT $1) AS newest
      WHERE text <> 0`,
    [newestMax],
  );
  return rows.map((row) => row.content_id);
}

async function readTexts({ client }: Snapshot, ids: readonly number[]): Promise<string[]> {
  const { rows } = await client.query<{ folded: Buffer }>(
    `SELECT substring(CASE text WHEN 1 THEN body ELSE folded END FROM 1 FOR $2) AS folded
       FROM chain.contents WHERE content_id = ANY($1) AND text <> 0`,
    [ids, textBytesMax],
  );
  return rows.map(({ folded }) => {
    const text = folded.toString();
    // the last word of a text that is cut there could be the beginning of a longer one
    return folded.length < textBytesMax ? text : text.slice(0, lastRunStart(text));
  });
}

function ranked(texts: readonly string[], beginning: string): SuggestedWord[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of wordsOfFolded(text)) {
      if (word.length === beginning.length || !word.startsWith(beginning)) continue;
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return Array.from(counts, ([word, contents]) => ({ word, contents }))
    .sort((a, b) => b.contents - a.contents || (a.word < b.word ? -1 : 1))
    .slice(0, wordsMax);
}
