import { Buffer } from 'node:buffer';
import pg from 'pg';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { seam } from '#kernel/process/failpoint.ts';

/** Header of the file (PostgreSQL manual, COPY, "Binary Format"). It has the signature, no flags, and no extension. */
const fileHeader = Buffer.from([
  ...Buffer.from('PGCOPY\n', 'latin1'),
  0xff,
  0x0d,
  0x0a,
  0x00,
  ...new Uint8Array(8),
]);

/**
 * Size of a chunk, in bytes. It is large enough that socket writes cost little per byte, and small enough that an idle
 * encoder takes little memory.
 */
const chunkBytes = 1 << 18;
/**
 * Size of an encoder's first chunk, in bytes. Most tables get few rows per block, and many encoders are used for only
 * one block.
 */
const firstChunkBytes = 1 << 13;
/**
 * Maximum number of chunks that are kept for reuse (8 MB). It is more than the rows of one table in a usual batch need.
 */
const idleChunksMax = 32;
/**
 * Maximum length of a value that is always in one chunk, in bytes. A longer value may begin in one chunk and end in
 * another chunk.
 */
const wholeMax = 64;
const nullLength = -1;
/** Base of the digits in which a numeric is sent. Ten such digits are enough for 2^128 - 1. */
const numericBase = 10_000;
const numericDigitsMax = 10;
const maxSafe = BigInt(Number.MAX_SAFE_INTEGER);
/**
 * The start of Postgres's time (2000-01-01) in milliseconds since 1970. Postgres counts microseconds from this time.
 */
const epochOffsetMs = 946_684_800_000;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  used: number;
}

function newChunk(sizeBytes: number): Chunk {
  const buffer = new ArrayBuffer(sizeBytes);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer), used: 0 };
}

/**
 * Rows in the binary format of COPY. They are written value by value into buffers that are reused for the next batch.
 * `row()` begins a row. Then write exactly one value per column of the target, in order and with the right types,
 * because the encoder does not know the table. The bytes of `chunks()` belong to the encoder, so call `reset` only
 * after these bytes were sent.
 */
export class CopyEncoder {
  rows = 0;
  readonly #columns: number;
  readonly #idle: Chunk[] = [];
  #done: Chunk[] = [];
  #doneBytes = 0;
  #chunk = newChunk(firstChunkBytes);
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;
  readonly #digits = new Int16Array(numericDigitsMax);

  constructor(columns: number) {
    this.#columns = columns;
    this.#bytes = this.#chunk.bytes;
    this.#view = this.#chunk.view;
    this.#begin();
  }

  /** Number of bytes written so far. */
  get byteLength(): number {
    return this.#doneBytes + this.#at;
  }

  /** Begins a row. */
  row(): void {
    this.rows++;
    this.#reserve(2);
    this.#view.setInt16(this.#at, this.#columns);
    this.#at += 2;
  }

  null(): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, nullLength);
    this.#at += 4;
  }

  boolean(value: boolean): void {
    this.#reserve(5);
    this.#view.setInt32(this.#at, 1);
    this.#view.setUint8(this.#at + 4, value ? 1 : 0);
    this.#at += 5;
  }

  int2(value: number): void {
    this.#reserve(6);
    this.#view.setInt32(this.#at, 2);
    this.#view.setInt16(this.#at + 4, value);
    this.#at += 6;
  }

  int4(value: number): void {
    this.#reserve(8);
    this.#view.setInt32(this.#at, 4);
    this.#view.setInt32(this.#at + 4, value);
    this.#at += 8;
  }

  /** Writes a safe integer. */
  int8(value: number): void {
    const high = Math.floor(value / 2 ** 32);
    this.int8Halves(high, value - high * 2 ** 32);
  }

  /** Writes the 64 bits of a bigint as two halves of 32 bits. */
  int8Halves(high: number, low: number): void {
    this.#reserve(12);
    this.#view.setInt32(this.#at, 8);
    this.#view.setInt32(this.#at + 4, high);
    this.#view.setInt32(this.#at + 8, low);
    this.#at += 12;
  }

  /**
   * Writes a numeric without decimals. It is an integer from 0 to 2^128 - 1, in the only form in which Postgres also
   * sends it.
   */
  numeric(value: number | bigint): void {
    const digits = this.#digits;
    let count = 0;
    let left = value;
    while (typeof left === 'bigint') {
      if (left <= maxSafe) {
        left = Number(left);
        break;
      }
      digits[count++] = Number(left % BigInt(numericBase));
      left /= BigInt(numericBase);
    }
    while (left > 0) {
      const rest: number = Math.floor(left / numericBase);
      digits[count++] = left - rest * numericBase;
      left = rest;
    }
    let zeros = 0;
    while (zeros < count && digits[zeros] === 0) zeros++;
    this.#reserve(12 + 2 * numericDigitsMax);
    const view = this.#view;
    let at = this.#at;
    view.setInt32(at, 8 + 2 * (count - zeros));
    view.setInt16(at + 4, count - zeros);
    // weight of the first digit, which is its power of 10,000
    view.setInt16(at + 6, Math.max(0, count - 1));
    // sign and number of decimals
    view.setInt32(at + 8, 0);
    at += 12;
    for (let digit = count - 1; digit >= zeros; digit--, at += 2) view.setInt16(at, digits[digit]!);
    this.#at = at;
  }

  /** Writes a time in milliseconds since 1970, as `Date.now()` returns it. */
  timestamptz(milliseconds: number): void {
    this.int8(Math.round((milliseconds - epochOffsetMs) * 1000));
  }

  /** Writes a bytea, or a text in UTF-8. It is `length` bytes of `source`, starting at `start`. */
  range(source: Uint8Array, start: number, length: number): void {
    if (length > wholeMax) {
      this.#longRange(source, start, length);
      return;
    }
    this.#reserve(4 + length);
    this.#view.setInt32(this.#at, length);
    const to = this.#at + 4;
    copyBytes(source, start, length, this.#bytes, to);
    this.#at = to + length;
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.range(bytes, 0, bytes.length);
  }

  /** All written rows and the trailer. Nothing can be added until `reset` is called. */
  *chunks(): Generator<Uint8Array> {
    this.#reserve(2);
    this.#view.setInt16(this.#at, -1);
    this.#at += 2;
    for (const { bytes, used } of this.#done) yield bytes.subarray(0, used);
    yield this.#bytes.subarray(0, this.#at);
  }

  /**
   * Drops all rows, and keeps enough buffers for a usual batch. Further buffers are freed, so that an unusual block
   * does not keep its memory forever.
   */
  reset(): void {
    for (const chunk of this.#done)
      if (chunk.bytes.length === chunkBytes && this.#idle.length < idleChunksMax) this.#idle.push(chunk);
    this.#done = [];
    this.#doneBytes = 0;
    this.rows = 0;
    this.#begin();
  }

  #begin(): void {
    this.#bytes.set(fileHeader, 0);
    this.#at = fileHeader.length;
  }

  #longRange(source: Uint8Array, start: number, length: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, length);
    this.#at += 4;
    let from = start;
    const end = start + length;
    while (from < end) {
      if (this.#at === this.#bytes.length) this.#next();
      const part = Math.min(end - from, this.#bytes.length - this.#at);
      copyBytes(source, from, part, this.#bytes, this.#at);
      this.#at += part;
      from += part;
    }
  }

  #reserve(length: number): void {
    if (this.#at + length > this.#bytes.length) this.#next();
  }

  #next(): void {
    this.#chunk.used = this.#at;
    this.#done.push(this.#chunk);
    this.#doneBytes += this.#at;
    this.#take(this.#idle.pop() ?? newChunk(chunkBytes));
  }

  #take(chunk: Chunk): void {
    this.#chunk = chunk;
    this.#bytes = chunk.bytes;
    this.#view = chunk.view;
    this.#at = 0;
  }
}

/** A table that gets rows, and its columns in the order in which they are encoded. */
export interface CopyTarget {
  /** Name of the table, with its schema. */
  readonly table: string;
  /** Column names separated by commas. */
  readonly columns: string;
}

export const encoderOf = ({ columns }: CopyTarget): CopyEncoder => new CopyEncoder(columns.split(',').length);

/**
 * Sends the rows of an encoder into `target`. Returns the number of rows. All bytes are written to the socket at once,
 * before the server answers, so on a pipelined connection (pool.ts) other statements may follow immediately. The client
 * must not be a pool, because a COPY occupies its connection. The encoder may be reset after this function has
 * succeeded. If the server refuses a COPY, its bytes are still being sent. Then reset the encoder only after a later
 * statement is answered or the connection is lost.
 */
export function copyBinary(
  client: pg.ClientBase,
  { table, columns }: CopyTarget,
  encoder: CopyEncoder,
): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(
      new CopyIn(`COPY ${table} (${columns}) FROM STDIN (FORMAT binary)`, encoder, (error, result) => {
        if (error instanceof Error) reject(error);
        else resolve(result.rowCount ?? 0);
      }),
    );
  });
}

/** Parts of a message of COPY (PostgreSQL manual, "Message Formats"). It has a code, and the length of the rest. */
const copyDataCode = 0x64;
const lengthBytes = 4;
const copyDone = Buffer.from([0x63, 0, 0, 0, lengthBytes]);

/**
 * A COPY whose rows are sent with the command. If the server refuses the command or a row, it ignores the rest of the
 * rows (PostgreSQL manual, "COPY Operations"), and the connection can still be used.
 */
class CopyIn extends pg.Query {
  readonly #encoder: CopyEncoder;

  constructor(text: string, encoder: CopyEncoder, callback: QueryCallback) {
    super(text, callback);
    this.#encoder = encoder;
    this.submit = (connection): void => this.#send(connection, text);
  }

  /** Does nothing, because the rows that the server requests are already being sent. */
  handleCopyInResponse(): void {}

  #send(connection: pg.Connection, text: string): void {
    const { stream } = connection;
    // make the chunks first, because no step may fail after the server begins to expect rows
    const chunks = [...this.#encoder.chunks()];
    // use one system call for many parts
    stream.cork();
    connection.query(text);
    for (const chunk of chunks) {
      const head = Buffer.allocUnsafe(1 + lengthBytes);
      head[0] = copyDataCode;
      head.writeUInt32BE(lengthBytes + chunk.length, 1);
      stream.write(head);
      stream.write(chunk.subarray(sendHalf(stream, chunk)));
    }
    stream.write(copyDone);
    stream.uncork();
  }
}

/**
 * Tests use this to split a COPY. If the point `copying` is active, sends the written part and half of a chunk, and
 * holds the rest until the point releases it, as a full socket would. Returns how many bytes of the chunk were sent.
 */
function sendHalf(stream: pg.Connection['stream'], chunk: Uint8Array): number {
  let sent = 0;
  const held = seam('copying', () => {
    sent = chunk.length >> 1;
    stream.write(chunk.subarray(0, sent));
    stream.uncork();
    stream.cork();
    stream.cork();
  });
  void held?.then(() => stream.uncork());
  return sent;
}

type QueryCallback = (error: Error | undefined, result: pg.QueryResult) => void;
