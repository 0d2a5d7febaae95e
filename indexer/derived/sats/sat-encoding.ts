import {
  outpointLength,
  outpointWords,
  type Ranges,
  type SatOutputs,
} from '#indexer/ledger/sats/sat-outputs.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import { withRoom } from '#kernel/growable.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { packedRangeLength, packRange } from '#kernel/sats/packed-ranges.ts';
import type { DerivedTarget } from '../derived-table.ts';

/** The tables of sats, in the order of their encoders. */
export const satTargets = {
  ranges: { table: 'chain.sat_ranges', columns: 'height, vout, txid, ranges' },
  sats: { table: 'chain.sats', columns: 'sat, key' },
  rare: { table: 'chain.rare_sats', columns: 'sat, sat_offset, height, vout, txid' },
  lost: { table: 'chain.lost_sats', columns: 'height, lost_sats, replaced_sats, ranges' },
  spent: { table: 'chain.spent_sats', columns: 'height, outputs' },
  recent: { table: 'chain.recent_sats', columns: 'height, written_below, made, spent' },
} as const satisfies Record<string, Pick<DerivedTarget, 'table' | 'columns'>>;

const hashLength = 32;
/** Length in bytes of the head of a packed spent output, before its ranges: outpoint, height, number of ranges. */
const headLength = outpointLength + 8;

let packed = new Uint8Array(packedRangeLength * 64);
let values = new DataView(new ArrayBuffer(1 << 16));
const outpoint = new Uint8Array(outpointLength);
const outpointView = new DataView(outpoint.buffer);

/** Encodes ranges as the value of a column. */
export function encodeRanges(out: CopyEncoder, ranges: Ranges): void {
  const length = ranges.count * packedRangeLength;
  packed = withRoom(packed, length);
  packInto(packed, 0, ranges.pairs, ranges.first, ranges.count);
  out.range(packed, 0, length);
}

/** Packs ranges into a new buffer. */
export function packRanges(ranges: Ranges): Buffer {
  const bytes = Buffer.alloc(ranges.count * packedRangeLength);
  packInto(bytes, 0, ranges.pairs, ranges.first, ranges.count);
  return bytes;
}

function packInto(into: Uint8Array, from: number, pairs: Float64Array, first: number, count: number): void {
  for (let at = first * 2, to = from; at < (first + count) * 2; at += 2, to += packedRangeLength)
    packRange(into, to, pairs[at]!, pairs[at + 1]!);
}

/** Encodes the row of an unspent output. */
export function encodeHeld(out: CopyEncoder, outputs: SatOutputs, row: number): void {
  writeOutpoint(outpointView, 0, outputs, row);
  out.row();
  out.int4(outputs.heightOf(row));
  out.int4(outpointView.getInt32(hashLength, true));
  out.range(outpoint, 0, hashLength);
  encodeRanges(out, outputs.rangesOf(row));
}

/** Writes the 36 bytes of a row's outpoint. */
export function writeOutpoint(into: DataView, at: number, outputs: SatOutputs, row: number): void {
  for (let word = 0; word < outpointWords; word++)
    into.setInt32(at + word * 4, outputs.wordOf(row, word), true);
}

function reserve(length: number): Uint8Array {
  if (length > values.byteLength) values = new DataView(new ArrayBuffer(length * 2));
  return new Uint8Array(values.buffer, 0, length);
}

/** Packs outpoints one after another. The bytes are valid until the next call. */
export function packOutpoints(outputs: SatOutputs, rows: readonly number[]): Uint8Array {
  const bytes = reserve(rows.length * outpointLength);
  let at = 0;
  for (const row of rows) {
    writeOutpoint(values, at, outputs, row);
    at += outpointLength;
  }
  return bytes;
}

/** Packs outputs and their ranges as one value. The bytes are valid until the next call. */
export function packOutputs(outputs: SatOutputs, rows: readonly number[]): Uint8Array {
  let length = 0;
  for (const row of rows) length += headLength + outputs.countOf(row) * packedRangeLength;
  const bytes = reserve(length);
  let at = 0;
  for (const row of rows) {
    writeOutpoint(values, at, outputs, row);
    const count = outputs.countOf(row);
    values.setInt32(at + outpointLength, outputs.heightOf(row), true);
    values.setInt32(at + outpointLength + 4, count, true);
    packInto(bytes, at + headLength, outputs.pairs, outputs.firstOf(row), count);
    at += headLength + count * packedRangeLength;
  }
  return bytes;
}

/** One packed output: its outpoint is at `at`, its packed ranges at `rangesAt`. */
export interface PackedOutput {
  readonly at: number;
  readonly height: number;
  readonly count: number;
  readonly rangesAt: number;
}

/** Reads packed outputs. */
export function* packedOutputs(view: DataView): Generator<PackedOutput> {
  for (let at = 0; at < view.byteLength; ) {
    const height = view.getInt32(at + outpointLength, true);
    const count = view.getInt32(at + outpointLength + 4, true);
    yield { at, height, count, rangesAt: at + headLength };
    at += headLength + count * packedRangeLength;
  }
}

/** Encodes the rows of packed outputs. */
export function encodePacked(out: CopyEncoder, bytes: Uint8Array): void {
  const view = viewOf(bytes);
  for (const { at, height, count, rangesAt } of packedOutputs(view)) {
    out.row();
    out.int4(height);
    out.int4(view.getInt32(at + hashLength, true));
    out.range(bytes, at, hashLength);
    out.range(bytes, rangesAt, count * packedRangeLength);
  }
}
