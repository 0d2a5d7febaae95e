import type pg from 'pg';
import type { Batch } from '#indexer/apply/batch.ts';
import { type BatchTable, copyTargets } from '#indexer/apply/block-rows.ts';
import type { DerivedPart } from '#indexer/derived/derived-batch.ts';
import type { KindEvents } from '#indexer/events/block-events.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { type CopyRow, copyRows, queryCopyRows } from './copy-rows.ts';
import type { Difference } from './difference.ts';
import type { RecomputedBlock } from './recompute-block.ts';

/** Number of leading columns of a table that form its key. */
const keyColumns: Readonly<Record<BatchTable, number>> = {
  blocks: 1,
  contents: 1,
  metadataTexts: 1,
  inscriptions: 1,
  details: 1,
  parents: 2,
  locations: 3,
};
/** Columns that may differ between runs. Only the time at which a block was parsed may differ. */
const unequalColumns: ReadonlySet<string> = new Set(['parsed_at']);
const integerLengths: ReadonlySet<number> = new Set([1, 2, 4, 8]);
const byteColumns =
  /^(?:hash|header|sha256|body|folded|decoded_sha256|json|txid|content_type|content_encoding|metaprotocol|pointer|delegate|claimed_parents|metadata|properties|property_encoding|properties_json|title|traits|attributes|ids|rune|note|unknown_fields|script)$/u;
/** Maximum number of bytes of a shown value. Longer values are cut. */
const shownBytes = 40;

/** Compares the rows that a block would write with the stored ones, row by row and field by field. */
export async function compareBlock(
  client: pg.ClientBase,
  block: ParsedBlock,
  { batch, encoders }: RecomputedBlock,
): Promise<Difference[]> {
  const { height } = block.ref;
  const differences: Difference[] = [];
  for (const name of Object.keys(copyTargets) as BatchTable[]) {
    const { table, columns } = copyTargets[name];
    const where = rowsOf(name, height, batch);
    if (where === null) continue;
    const stored = await queryCopyRows(
      client,
      `SELECT ${storedColumns(columns, height)} FROM ${table} WHERE ${where}`,
    );
    const made = copyRows(Buffer.concat([...encoders[name].chunks()]));
    differences.push(...compareRows(height, table, columns.split(', '), keyColumns[name], made, stored));
  }
  differences.push(...(await compareEnded(client, height, batch)));
  for (const part of batch.derived.parts) {
    if (height >= part.fromHeight) differences.push(...(await comparePart(client, height, part, batch)));
  }
  for (const events of batch.events[0]?.kinds ?? []) {
    differences.push(...(await compareHash(client, height, events)));
  }
  return differences;
}

/** Query of the stored rows of a table that a block wrote. Null: the block cannot have written any. */
function rowsOf(name: BatchTable, height: Height, { before, after, left }: Batch): string | null {
  const keys = (column: string): string =>
    `${column} >= ${before.counters.nextKey} AND ${column} < ${after.counters.nextKey}`;
  switch (name) {
    case 'blocks':
      return `height = ${height}`;
    case 'contents':
      return `content_id >= ${before.nextContentId} AND content_id < ${after.nextContentId}`;
    case 'metadataTexts':
      return `metadata_id >= ${before.nextMetadataId} AND metadata_id < ${after.nextMetadataId}`;
    case 'inscriptions':
    case 'details':
      return keys('key');
    case 'parents':
      return keys('child_key');
    case 'locations':
      return `height = ${height} AND (${keys('key')} OR key = ANY('{${left.key.join(',')}}')
        OR key IN (SELECT key FROM chain.locations WHERE spent_height = ${height}))`;
    default:
      return unreachable(name);
  }
}

/** Columns as they were before later blocks: an end or a spend by a later block is treated as absent. */
function storedColumns(columns: string, height: Height): string {
  return columns.replaceAll(
    /spent_(?:height|tx_index)/gu,
    (column) => `CASE WHEN spent_height <= ${height} THEN ${column} END AS ${column}`,
  );
}

function compareRows(
  height: Height,
  table: string,
  columns: readonly string[],
  keyLength: number,
  made: readonly CopyRow[],
  stored: readonly CopyRow[],
): Difference[] {
  const keys = keyLength === 0 ? columns.length : keyLength;
  const nameOf = (row: CopyRow): string =>
    columns
      .slice(0, keys)
      .map((column, at) => `${column} ${shown(column, row[at] ?? null)}`)
      .join(', ');
  const differences: Difference[] = [];
  // a table without a key may have a row twice
  const left = Map.groupBy(stored, nameOf);
  for (const row of made) {
    const name = nameOf(row);
    const other = left.get(name)?.pop();
    if (other === undefined) {
      differences.push({ height, table, row: name, column: null, expected: 'a row', found: null });
      continue;
    }
    columns.forEach((column, at) => {
      const [expected, found] = [row[at] ?? null, other[at] ?? null];
      if (unequalColumns.has(column) || isSame(expected, found)) return;
      differences.push({
        height,
        table,
        row: name,
        column,
        expected: shown(column, expected),
        found: shown(column, found),
      });
    });
  }
  for (const [name, rows] of left) {
    for (let row = 0; row < rows.length; row++) {
      differences.push({ height, table, row: name, column: null, expected: null, found: 'a row' });
    }
  }
  return differences;
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

function shown(column: string, value: Buffer | null): string | null {
  if (value === null) return null;
  if (!byteColumns.test(column) && integerLengths.has(value.length)) {
    return value.length === 8 ? value.readBigInt64BE().toString() : String(value.readIntBE(0, value.length));
  }
  const rest = value.length > shownBytes ? `… (${value.length} bytes)` : '';
  return `${value.subarray(0, shownBytes).toString('hex')}${rest}`;
}

/** Compares the locations of earlier blocks that the block ended with the locations that are stored as ended by it. */
async function compareEnded(client: pg.ClientBase, height: Height, { left }: Batch): Promise<Difference[]> {
  const { rows } = await client.query<{ key: InscriptionKey; height: Height; step: number }>(
    'SELECT key, height, step FROM chain.locations WHERE spent_height = $1 AND height < $1',
    [height],
  );
  const expected = left.key.map((key, at) => `key ${key}, height ${left.height[at]}, step ${left.step[at]}`);
  const found = rows.map((row) => `key ${row.key}, height ${row.height}, step ${row.step}`);
  return compareSets(height, 'chain.locations', 'spent_height', expected, found);
}

/** Compares the rows that the block adds to a derived table with the stored rows. */
async function comparePart(
  client: pg.ClientBase,
  height: Height,
  { table: { targets }, encoders, rows }: DerivedPart,
  { before, after, derived: { last } }: Batch,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const byKey = `key >= ${before.counters.nextKey} AND key < ${after.counters.nextKey}`;
  for (const [at, { table, columns, keyColumns: keyLength, rowsBy }] of targets.entries()) {
    if (rowsBy === 'compare') continue;
    const stored = await queryCopyRows(
      client,
      `SELECT ${storedColumns(columns, height)} FROM ${table} WHERE ${rowsBy === 'key' ? byKey : `height = ${height}`}`,
    );
    const made = copyRows(Buffer.concat([...(encoders[at]?.chunks() ?? [])]));
    differences.push(...compareRows(height, table, columns.split(', '), keyLength, made, stored));
  }
  const sets = last === null ? [] : ((await rows.compare?.(client, last)) ?? []);
  for (const { table, column, expected, found } of sets) {
    differences.push(...compareSets(height, table, column, expected, found));
  }
  return differences;
}

function compareSets(
  height: Height,
  table: string,
  column: string | null,
  expected: readonly string[],
  found: readonly string[],
): Difference[] {
  const foundRows = new Set(found);
  const expectedRows = new Set(expected);
  const missing = expected.filter((row) => !foundRows.has(row));
  const extra = found.filter((row) => !expectedRows.has(row));
  const value = column === null ? 'a row' : String(height);
  return [
    ...missing.map((row) => ({ height, table, row, column, expected: value, found: null })),
    ...extra.map((row) => ({ height, table, row, column, expected: null, found: value })),
  ];
}

interface HashRow {
  readonly height: Height;
  readonly sha256: Buffer;
  readonly cumulative_sha256: Buffer;
}

/** Compares the hash of the block's events of a kind, and the cumulative hash. */
async function compareHash(
  client: pg.ClientBase,
  height: Height,
  { kind, sha256, firstHeight }: KindEvents,
): Promise<Difference[]> {
  const { rows } = await client.query<HashRow>(
    `SELECT height, sha256, cumulative_sha256 FROM chain.event_hashes
     WHERE kind = $1 AND height <= $2 ORDER BY height DESC LIMIT 2`,
    [kind.number, height],
  );
  const [last, previous] = rows;
  const row = {
    height,
    table: 'chain.event_hashes',
    row: `kind ${kind.number}, height ${height}`,
  };
  if (last?.height === height) return compareHashRow(row, sha256, last, previous);
  // the chain of hashes begins with the first relevant block, and ends before a block that is not fully known
  const isDue = sha256 !== null && (height === firstHeight || last?.height === height - 1);
  return isDue ? [{ ...row, column: null, expected: 'a row', found: null }] : [];
}

function compareHashRow(
  row: Pick<Difference, 'height' | 'table' | 'row'>,
  sha256: Uint8Array | null,
  stored: HashRow,
  previous: HashRow | undefined,
): Difference[] {
  const expected = sha256 === null ? null : Buffer.from(sha256);
  const before = previous?.cumulative_sha256 ?? firstCumulative;
  const compared = [
    ['sha256', expected, stored.sha256],
    [
      'cumulative_sha256',
      expected === null ? null : nextCumulative(before, expected),
      stored.cumulative_sha256,
    ],
  ] as const;
  return compared
    .filter(([, made, found]) => !isSame(made, found))
    .map(([column, made, found]) => ({
      ...row,
      column,
      expected: shown('sha256', made),
      found: shown('sha256', found),
    }));
}
