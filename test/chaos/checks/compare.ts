import type pg from 'pg';
import { foldText } from '#kernel/text/fold.ts';
import type { Random } from '#test/builders/random.ts';

/** Tables of implementation state. For each table there is the reason why a difference does not matter. */
export const excludedTables: Readonly<Record<string, string>> = {
  search_segments:
    'the start and end of segments depend on the time of sealing; answers of searches are compared',
  search_postings: 'the same',
  search_columns: 'the same',
  search_lengths: 'the same',
  outbox: 'it has a row for every block that was taken back; its events are replayed and compared',
  outbox_texts: 'the same; the hashes of its texts are compared',
  follower_status: 'the last state that the process reported',
};

/** Columns that depend on the time of the run or on a random key. */
export const excludedColumns: Readonly<Record<string, string>> = {
  parsed_at: 'the time of parsing',
  fingerprint_key: 'random for every database',
  outpoint_fingerprint: 'made with that key',
  undo_epoch: 'counts how often blocks were taken back',
  derived_epoch: 'counts how often the writer took over a derived table, or left one',
  set_up_at: 'the time of the first start',
  caught_up_at: 'the time at which the index first reached its node',
};

/** Whether a table is derived from the mempool, not from blocks. Such a table is compared over HTTP. */
const isOfMempool = (table: string): boolean => /^(pending|mempool)/u.test(table);

const shownLength = 300;

/**
 * Every row of the tables of `chain` as text, without the excluded tables and columns. Equal chains give equal dumps.
 */
export async function dumpDerived(pool: pg.Pool): Promise<Map<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'chain'::regnamespace AND relkind = 'r' ORDER BY relname`,
  );
  const dump = new Map<string, string[]>();
  for (const { name } of tables) {
    if (name in excludedTables || isOfMempool(name) || name === 'migrations') continue;
    const { rows } = await pool.query<{ line: string }>(
      `SELECT left(whole, ${shownLength}) || ' ' || md5(whole) AS line
       FROM (SELECT (to_jsonb(t) - $1::text[])::text AS whole FROM chain.${name} t) AS lines`,
      [Object.keys(excludedColumns)],
    );
    dump.set(
      name,
      rows.map(({ line }) => line),
    );
  }
  return dump;
}

/** Lines that one dump has and the other lacks. */
export function differences(what: string, survived: readonly string[], clean: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of survived) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of clean) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts].flatMap(([line, count]) => {
    if (count === 0) return [];
    return [`${what}: ${count > 0 ? 'only after chaos' : 'only in the clean index'}: ${line}`];
  });
}

/** Rows of two databases that differ. */
export async function compareDumps(survived: pg.Pool, clean: pg.Pool): Promise<string[]> {
  const [a, b] = [await dumpDerived(survived), await dumpDerived(clean)];
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].flatMap((name) => differences(name, a.get(name) ?? [], b.get(name) ?? []));
}

export interface SampledSearch {
  readonly needle: string;
  /** Number of matches, counted by a scan of all folded texts. */
  readonly expected: number;
}

const needlesSampled = 40;

/**
 * Pieces of existing texts. Some are joined to pieces that probably do not exist. A scan counts the matches of each
 * piece.
 */
export async function sampleSearches(clean: pg.Pool, random: Random): Promise<SampledSearch[]> {
  const { rows } = await clean.query<{ text: Buffer }>(
    `SELECT coalesce(folded, body) AS text FROM chain.contents WHERE text > 0 AND length(body) > 0 ORDER BY content_id`,
  );
  const texts = rows.map(({ text }) => Array.from(text.toString()));
  const made: SampledSearch[] = [];
  for (let count = 0; texts.length > 0 && count < needlesSampled; count++) {
    const characters = texts[random.below(texts.length)] as string[];
    const length = 1 + random.below(9);
    const from = random.below(Math.max(1, characters.length - length));
    const needle =
      `${characters.slice(from, from + length).join('')}${random.unit() < 0.1 ? 'zq' : ''}`.trim();
    if (needle === '' || !needle.isWellFormed()) continue;
    const found = await clean.query<{ count: string }>(
      `SELECT count(*) FROM chain.inscriptions JOIN chain.contents c USING (content_id)
       WHERE c.text > 0 AND position($1::bytea in coalesce(c.folded, c.body)) > 0`,
      [Buffer.from(foldText(needle))],
    );
    made.push({ needle, expected: Number(found.rows[0]?.count) });
  }
  return made;
}

/** Ids of some inscriptions, in display form. */
export async function sampleIds(clean: pg.Pool, most: number): Promise<string[]> {
  const { rows } = await clean.query<{ txid: Buffer; index: number }>(
    'SELECT txid, index FROM chain.inscriptions ORDER BY md5(key::text) LIMIT $1',
    [most],
  );
  return rows.map(({ txid, index }) => `${Buffer.from(txid).reverse().toString('hex')}i${index}`);
}
