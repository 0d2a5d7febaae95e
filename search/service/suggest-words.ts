import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { SearchEngine, Snapshot } from '#kernel/contracts/search-engine.ts';
import type { SuggestedWord } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { foldText } from '#kernel/text/fold.ts';
import { lastRunStart, wordCodePointsMax, wordsBeginningWith, wordsOfFolded } from '#search/text/words.ts';

/** Maximum number of suggested words: as many as a list below a text box shows. */
const wordsMax = 8;
/** Maximum number of matching inscriptions, newest first, whose words are counted. */
const sampleMax = 200;
/** Maximum bytes read from each text. Nearly all texts are shorter. */
const textBytesMax = 2_048;
/**
 * Minimum length of a beginning that is searched, in code points. Shorter beginnings are in too many texts, so finding
 * them takes long. The sample is then the newest texts.
 */
const searchedPoints = 3;
/** Maximum number of contents in the sample for a shorter beginning. */
const newestMax = 1_000;
/** Maximum number of words before the last word that the sample must also contain. */
const contextMax = 3;
/**
 * How long a statement of a search may take, in ms. After that the newest texts are the sample, because frequent words
 * are in them too.
 */
const searchTimeoutMs = 60;
/** How long any statement of a suggestion may take, in ms. After that the user has typed more. */
const statementTimeoutMs = 500;

/** Maximum numbers of running and waiting suggestions. They must not take the connections of searches. */
export const suggestionGate = { running: 2, waiting: 6, waitMs: 500 };

/** The end of a text that is being typed. */
export interface TypedEnd {
  readonly before: string;
  /** The folded run of letters at the end of the text. Empty: the text does not end with a letter. */
  readonly beginning: string;
}

export function typedEnd(text: string): TypedEnd {
  const start = lastRunStart(text);
  return { before: text.slice(0, start), beginning: foldText(text.slice(start)) };
}

/**
 * Suggests continuations of a text: words that begin with the text's last word. They are ranked by the number of
 * distinct contents with the word, among the newest inscriptions whose content has all words of the text. The server
 * ends a statement that takes too long (57014).
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

/** The nearest words before the last word that are long enough to be searched. */
function contextOf(before: string): string[] {
  return wordsOfFolded(foldText(before))
    .filter((word) => word.isWellFormed() && Array.from(word).length >= searchedPoints)
    .slice(-contextMax);
}

/** Contents that match. Null: finding them takes too long, or the search server does not answer. */
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
  // Elasticsearch does not know the time limit of Postgres
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
    if (!isTimeout(error) && !limit.aborted && !isOfSearchServer(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT suggestion');
    return null;
  }
}

/** Whether Elasticsearch failed. Postgres then has no search index, so only the newest texts are read. */
const isOfSearchServer = (error: unknown): boolean =>
  error instanceof AppError && error.code.startsWith('search_engine_');

/** Whether the server ended a statement at its time limit (57014, query_canceled). */
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
    // if the text is cut, its last word may be the beginning of a longer word
    return folded.length < textBytesMax ? text : text.slice(0, lastRunStart(text));
  });
}

/** Maximum number of texts read in one turn of the event loop, which takes some milliseconds. */
const textsATurn = 200;

async function ranked(texts: readonly string[], beginning: string): Promise<SuggestedWord[]> {
  const counts = new Map<string, number>();
  for (const [place, text] of texts.entries()) {
    if (place % textsATurn === textsATurn - 1) await nextTurn();
    for (const word of wordsBeginningWith(beginning, text)) {
      if (word.length > beginning.length) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return Array.from(counts, ([word, contents]) => ({ word, contents }))
    .sort((a, b) => b.contents - a.contents || (a.word < b.word ? -1 : 1))
    .slice(0, wordsMax);
}
