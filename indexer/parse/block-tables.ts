import { withRoom } from '#kernel/growable.ts';
import { Arena } from './arena.ts';

/**
 * The columns of a block while they are built (./block-columns.ts describes them). Their memory is reused from block to
 * block. A table's `length` is its number of rows.
 */

/** t: one row per transaction. The other columns of t are those of the block's layout. */
export class TransactionTable {
  inputValue = new Float64Array(1 << 13);

  reserve(rows: number): void {
    this.inputValue = withRoom(this.inputValue, rows);
  }
}

/** i: one row per input. */
export class InputTable {
  fingerprintLow = new Uint32Array(1 << 14);
  fingerprintHigh = new Uint32Array(1 << 14);
  value = new Float64Array(1 << 14);

  reserve(rows: number): void {
    this.fingerprintLow = withRoom(this.fingerprintLow, rows);
    this.fingerprintHigh = withRoom(this.fingerprintHigh, rows);
    this.value = withRoom(this.value, rows);
  }
}

/** r: one row per transaction with envelopes, and one more of `firstEnvelope`. */
export class RevealTable {
  length = 0;
  tx = new Uint32Array(1 << 10);
  firstEnvelope = new Uint32Array(1 << 10);
  /** The txids. */
  hash: Uint8Array<ArrayBuffer> = new Uint8Array(32 << 10);

  add(tx: number, firstEnvelope: number): void {
    const row = this.length++;
    this.#reserve(row + 1);
    this.tx[row] = tx;
    this.firstEnvelope[row] = firstEnvelope;
  }

  #reserve(rows: number): void {
    if (rows < this.tx.length) return;
    this.tx = withRoom(this.tx, rows);
    this.firstEnvelope = withRoom(this.firstEnvelope, rows + 1);
    this.hash = withRoom(this.hash, rows * 32);
  }
}

/** e: one row per envelope, and one more of `firstField`. */
export class EnvelopeTable {
  length = 0;
  input = new Uint32Array(1 << 10);
  flags = new Uint16Array(1 << 10);
  pointer = new Float64Array(1 << 10);
  content = new Int32Array(1 << 10);
  type = new Int32Array(1 << 10);
  metadata = new Int32Array(1 << 10);
  firstField = new Uint32Array(1 << 10);

  reserve(rows: number): void {
    if (rows < this.input.length) return;
    this.input = withRoom(this.input, rows);
    this.flags = withRoom(this.flags, rows);
    this.pointer = withRoom(this.pointer, rows);
    this.content = withRoom(this.content, rows);
    this.type = withRoom(this.type, rows);
    this.metadata = withRoom(this.metadata, rows);
    this.firstField = withRoom(this.firstField, rows + 1);
  }
}

/** c: one row per distinct content. */
export class ContentTable {
  length = 0;
  hash: Uint8Array<ArrayBuffer> = new Uint8Array(32 << 10);
  variant = new Uint8Array(1 << 10);
  text = new Uint8Array(1 << 10);
  range = new Uint32Array(2 << 10);
  folded = new Uint32Array(2 << 10);
  /** Zeros if nothing was decoded, because only `setDecoded` writes here. */
  decodedHash: Uint8Array<ArrayBuffer> = new Uint8Array(32 << 10);
  decodedLength = new Int32Array(1 << 10);
  #decodedRows: number[] = [];

  reset(): void {
    this.length = 0;
    for (const row of this.#decodedRows) this.decodedHash.fill(0, row * 32, row * 32 + 32);
    this.#decodedRows = [];
  }

  setDecoded(row: number, hash: Uint8Array, length: number): void {
    this.decodedHash.set(hash, row * 32);
    this.decodedLength[row] = length;
    this.#decodedRows.push(row);
  }

  reserve(rows: number): void {
    if (rows <= this.variant.length) return;
    this.hash = withRoom(this.hash, rows * 32);
    this.variant = withRoom(this.variant, rows);
    this.text = withRoom(this.text, rows);
    this.range = withRoom(this.range, rows * 2);
    this.folded = withRoom(this.folded, rows * 2);
    this.decodedHash = withRoom(this.decodedHash, rows * 32);
    this.decodedLength = withRoom(this.decodedLength, rows);
  }
}

/** m: one row per distinct metadata text. */
export class MetadataTable {
  length = 0;
  hash: Uint8Array<ArrayBuffer> = new Uint8Array(32 << 6);
  range = new Uint32Array(2 << 6);
  folded = new Uint32Array(2 << 6);

  reserve(rows: number): void {
    this.hash = withRoom(this.hash, rows * 32);
    this.range = withRoom(this.range, rows * 2);
    this.folded = withRoom(this.folded, rows * 2);
  }
}

/** f: one row per field that few envelopes have. */
export class FieldTable {
  length = 0;
  kind = new Uint8Array(1 << 8);
  range = new Uint32Array(2 << 8);

  reserve(rows: number): void {
    if (rows <= this.kind.length) return;
    this.kind = withRoom(this.kind, rows);
    this.range = withRoom(this.range, rows * 2);
  }
}

/** Distinct content types: ranges into the arena. */
export class TypeTable {
  length = 0;
  range = new Uint32Array(2 << 6);

  reserve(rows: number): void {
    this.range = withRoom(this.range, rows * 2);
  }
}

export class BlockTables {
  flags = 0;
  readonly transactions = new TransactionTable();
  readonly inputs = new InputTable();
  readonly reveals = new RevealTable();
  readonly envelopes = new EnvelopeTable();
  readonly contents = new ContentTable();
  readonly metadata = new MetadataTable();
  readonly fields = new FieldTable();
  readonly types = new TypeTable();
  readonly arena = new Arena();

  reset(): void {
    this.flags = 0;
    this.reveals.length = 0;
    this.envelopes.length = 0;
    this.contents.reset();
    this.metadata.length = 0;
    this.fields.length = 0;
    this.types.length = 0;
    this.arena.length = 0;
  }
}
