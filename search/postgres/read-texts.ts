import type pg from 'pg';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Check, ChecksInTurns } from '#search/text/check-in-parts.ts';
import { int32s } from '#search/text/int32s.ts';

/** A table of texts by id. */
export interface TextTable {
  readonly table: string;
  readonly id: string;
  /** SQL of the text as bytea. SQL NULL: no text. */
  readonly text: string;
}

/** Remaining bytes of texts that a search may read to check them one by one. */
export interface ReadBudget {
  bytesLeft: number;
}

/**
 * Maximum bytes of texts read at once; a larger text is read alone. They take some turns of checks, and twice the
 * memory while they arrive.
 */
const batchBytes = 1024 * 1024;

/** Maximum number of ids whose sizes are read at once. */
const idsAtOnce = 65_536;

/** Minimum share of wanted ids at which a scan of all is faster than lookups. */
const scanShare = 1 / 8;

/**
 * Given ascending ids whose texts satisfy `has`. Reads texts in batches and yields between batches. Throws
 * `search_too_broad` before it would read more than the budget allows.
 */
export async function idsWith(
  client: pg.ClientBase,
  table: TextTable,
  ids: Int32Array,
  has: Check<Uint8Array>,
  budget: ReadBudget,
): Promise<number[]> {
  const sizes = await readSizes(client, table, ids, budget);
  const found: number[] = [];
  for (let from = 0; from < sizes.ids.length; ) {
    let to = from;
    for (let bytes = 0; to < sizes.ids.length; to++) {
      bytes += sizes.bytes[to]!;
      if (to > from && bytes > batchBytes) break;
    }
    const texts = await readBatch(client, table, sizes.ids.subarray(from, to));
    await nextTurn();
    const turns = new ChecksInTurns();
    for (const { id, text } of texts) {
      const outcome = turns.outcomeOf(has(text));
      if (typeof outcome === 'boolean' ? outcome : await outcome) found.push(id);
    }
    from = to;
  }
  return found;
}

/** The ids that have a text, ascending, with the bytes of each text. Subtracts these bytes from the budget. */
async function readSizes(
  client: pg.ClientBase,
  { table, id, text }: TextTable,
  ids: Int32Array,
  budget: ReadBudget,
): Promise<{ ids: Int32Array; bytes: Int32Array }> {
  const known = new Int32Array(ids.length);
  const bytes = new Int32Array(ids.length);
  let count = 0;
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const part = ids.subarray(from, from + idsAtOnce);
    const wanted = wantedOf(part, id);
    const { rows } = await client.query<{ sizes: Buffer | null }>(
      `SELECT string_agg(int4send(${id}) || int4send(octet_length(${text})), '' ORDER BY ${id}) AS sizes
         FROM ${table} WHERE ${wanted.where}`,
      wanted.values,
    );
    const numbers = int32s(rows[0]?.sizes ?? null);
    for (let at = 0; at < numbers.length; at += 2) {
      known[count] = numbers[at]!;
      bytes[count] = numbers[at + 1]!;
      budget.bytesLeft -= bytes[count]!;
      count++;
    }
    if (budget.bytesLeft < 0) {
      throw new AppError('search_too_broad', 'Too many texts could match, so they cannot all be checked.');
    }
  }
  return { ids: known.subarray(0, count), bytes: bytes.subarray(0, count) };
}

async function readBatch(
  client: pg.ClientBase,
  { table, id, text }: TextTable,
  ids: Int32Array,
): Promise<{ id: number; text: Uint8Array }[]> {
  const wanted = wantedOf(ids, id);
  // return one value for all texts, because a row per text costs more than the text
  const { rows } = await client.query<{ texts: Buffer | null }>(
    `SELECT string_agg(int4send(${id}) || int4send(octet_length(${text})) || ${text}, '' ORDER BY ${id}) AS texts
       FROM ${table} WHERE ${wanted.where}`,
    wanted.values,
  );
  const all = rows[0]?.texts ?? Buffer.alloc(0);
  const texts: { id: number; text: Uint8Array }[] = [];
  for (let at = 0; at < all.length; ) {
    const length = all.readInt32BE(at + 4);
    texts.push({ id: all.readInt32BE(at), text: all.subarray(at + 8, at + 8 + length) });
    at += 8 + length;
  }
  return texts;
}

/** SQL that selects ids: one by one, or by a bitmap over their range if they are dense. */
function wantedOf(ids: Int32Array, id: string): { where: string; values: unknown[] } {
  const first = ids[0] ?? 0;
  const last = ids.at(-1) ?? -1;
  if (ids.length < (last - first) * scanShare) return { where: `${id} = ANY($1)`, values: [[...ids]] };
  const bits = Buffer.alloc(Math.ceil((last - first + 1) / 8));
  for (const one of ids) bits[(one - first) >>> 3] = bits[(one - first) >>> 3]! | (1 << ((one - first) & 7));
  // with CASE, unwanted texts are not even read
  return {
    where: `${id} BETWEEN $1::integer AND $2::integer AND CASE WHEN get_bit($3::bytea, ${id} - $1::integer) = 1 THEN true END`,
    values: [first, last, bits],
  };
}
