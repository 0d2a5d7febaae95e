import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { keyColumnsOf } from '#search/segments/column-queries.ts';
import { type Segment, sealedEnd } from '#search/segments/segment-table.ts';
import { int32s } from '#search/text/int32s.ts';
import type { Matching } from './search-context.ts';

/** A range of keys whose columns are read together: a sealed segment, or a part of the unsealed end. */
export interface KeyPart {
  readonly firstKey: number;
  /** The key after the last key of the part. */
  readonly nextKey: number;
  /** The sealed segment. Null: the part is unsealed. */
  readonly segmentId: number | null;
}

/** The text ids of inscriptions. Offsets of their keys are included if some keys have no text. */
export interface IdColumn {
  readonly ids: Int32Array;
  readonly offsets: Uint16Array | null;
}

/**
 * Content types. `codes[i]` belongs to the key `firstKey + i`: 0 means no type, otherwise the type is `names[code -
 * 1]`, cut to `typeNameBytes`.
 */
export interface TypeColumn {
  readonly names: readonly Buffer[];
  readonly codes: Uint8Array | Int32Array;
}

/** Bitmaps over the keys: numbers below 0, and unknown numbers. */
export interface NumberColumn {
  readonly cursed: Uint8Array;
  readonly unknown: Uint8Array;
}

interface Rows {
  readonly ids: Buffer;
  readonly keys?: Buffer;
}
interface TypeRows {
  readonly type_names: Buffer;
  readonly type_codes: Buffer;
}
interface NumberRows {
  readonly cursed_keys: Buffer;
  readonly unknown_keys: Buffer;
}
interface AllRows extends TypeRows, NumberRows {
  readonly content_ids: Buffer;
  readonly metadata_keys: Buffer;
  readonly metadata_ids: Buffer;
}

/** Maximum number of keys of a segment, because offsets have two bytes. */
const tailKeys = 65_536;

/** Number of bytes of a cache entry, without its value. */
const entryBytes = 300;

/**
 * The columns of all inscriptions in a snapshot, part by part. Columns of sealed segments are kept in the search's
 * cache.
 */
export class KeyColumns {
  readonly parts: readonly KeyPart[];
  readonly #matching: Matching;
  readonly #tails = new Map<KeyPart, Promise<AllRows>>();

  /** `nextKey` is the key after the last inscription in the snapshot. */
  constructor(matching: Matching, segments: readonly Segment[], nextKey: number) {
    this.#matching = matching;
    const parts: KeyPart[] = segments.map(({ segmentId, firstId, nextId }) => ({
      segmentId,
      firstKey: firstId,
      nextKey: nextId,
    }));
    for (let firstKey = sealedEnd(segments); firstKey < nextKey; firstKey += tailKeys) {
      parts.push({ segmentId: null, firstKey, nextKey: Math.min(nextKey, firstKey + tailKeys) });
    }
    this.parts = parts;
  }

  ids(part: KeyPart, corpus: Corpus): Promise<IdColumn> {
    if (part.segmentId !== null) return readIdColumn(this.#matching, part.segmentId, corpus);
    return this.#tail(part).then((row) =>
      corpus === 'content'
        ? { ids: int32s(row.content_ids), offsets: null }
        : { ids: int32s(row.metadata_ids), offsets: offsetsOf(row.metadata_keys) },
    );
  }

  types(part: KeyPart): Promise<TypeColumn> {
    return this.#cached(part, 't', 'type_names, type_codes', (row: TypeRows) => {
      const column = typeColumn(row);
      return { column, bytes: column.codes.byteLength + row.type_names.length + column.names.length * 100 };
    });
  }

  numbers(part: KeyPart): Promise<NumberColumn> {
    return this.#cached(part, 'n', 'cursed_keys, unknown_keys', (row: NumberRows) => {
      const size = Math.ceil((part.nextKey - part.firstKey) / 8);
      const column = { cursed: bitsOf(row.cursed_keys, size), unknown: bitsOf(row.unknown_keys, size) };
      return { column, bytes: size * 2 };
    });
  }

  async #cached<Row, Column extends object>(
    part: KeyPart,
    prefix: string,
    columns: string,
    read: (row: Row) => { column: Column; bytes: number },
  ): Promise<Column> {
    const { segmentId } = part;
    if (segmentId === null) return read((await this.#tail(part)) as Row).column;
    const { cache, client } = this.#matching;
    const key = `${prefix}${segmentId}`;
    const known = cache.get(key) as Column | undefined;
    if (known !== undefined) return known;
    const { rows } = await client.query<Row & object>(
      `SELECT ${columns} FROM chain.search_columns WHERE segment_id = $1`,
      [segmentId],
    );
    const { column, bytes } = read(rowOf(rows, segmentId));
    cache.set(key, column, bytes + entryBytes);
    return column;
  }

  /** All columns of an unsealed part, read once per search. */
  #tail(part: KeyPart): Promise<AllRows> {
    let rows = this.#tails.get(part);
    if (rows === undefined) {
      rows = this.#matching.client
        .query<AllRows>(keyColumnsOf('$1', '$2'), [part.firstKey, part.nextKey])
        .then((found) => found.rows[0] as AllRows);
      this.#tails.set(part, rows);
    }
    return rows;
  }
}

/** The text ids of a sealed segment of inscriptions. */
export async function readIdColumn(
  { client, cache }: Matching,
  segmentId: number,
  corpus: Corpus,
): Promise<IdColumn> {
  const key = `c${segmentId}:${corpus}`;
  const known = cache.get(key) as IdColumn | undefined;
  if (known !== undefined) return known;
  const columns = corpus === 'content' ? 'content_ids AS ids' : 'metadata_ids AS ids, metadata_keys AS keys';
  const { rows } = await client.query<Rows>(
    `SELECT ${columns} FROM chain.search_columns WHERE segment_id = $1`,
    [segmentId],
  );
  const row = rowOf(rows, segmentId);
  const column: IdColumn = {
    ids: int32s(row.ids),
    offsets: row.keys === undefined ? null : offsetsOf(row.keys),
  };
  cache.set(key, column, row.ids.length * 2 + 200);
  return column;
}

function rowOf<Row>(rows: readonly Row[], segmentId: number): Row {
  const [row] = rows;
  if (row === undefined) throw new Error(`segment ${segmentId} has no columns`);
  return row;
}

function offsetsOf(bytes: Buffer): Uint16Array {
  return Uint16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16BE(index * 2) + 32_768);
}

function bitsOf(offsets: Buffer, size: number): Uint8Array {
  const bits = new Uint8Array(size);
  for (const offset of offsetsOf(offsets)) {
    bits[offset >>> 3] = bits[offset >>> 3]! | (1 << (offset & 7));
  }
  return bits;
}

function typeColumn({ type_names: named, type_codes: codes }: TypeRows): TypeColumn {
  const names: Buffer[] = [];
  for (let at = 0; at < named.length; ) {
    const length = named.readInt16BE(at);
    names.push(named.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  // search/segments/column-queries.ts chose this width
  return { names, codes: names.length < 256 ? codes : int32s(codes) };
}
