import type { HeldSats } from '#indexer/ledger/sats/sat-state.ts';
import { withRoom } from '#kernel/growable.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { packedRangeLength, packRange, unpackPairs } from '#kernel/sats/packed-ranges.ts';
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
const outpointLength = 36;
/** Of a spent output before its ranges: outpoint, height, number of ranges. */
const headLength = outpointLength + 8;

let packed = new Uint8Array(packedRangeLength * 64);
let outputs = Buffer.alloc(1 << 16);
const outpoint = Buffer.alloc(outpointLength);

type Ranges = Pick<HeldSats, 'pairs' | 'first' | 'count'>;

/** Encodes ranges as the value of a column. */
export function encodeRanges(out: CopyEncoder, ranges: Ranges): void {
  const length = ranges.count * packedRangeLength;
  packed = withRoom(packed, length);
  packInto(packed, 0, ranges);
  out.range(packed, 0, length);
}

/** Ranges in a buffer of their own. */
export function packRanges(ranges: Ranges): Buffer {
  const bytes = Buffer.alloc(ranges.count * packedRangeLength);
  packInto(bytes, 0, ranges);
  return bytes;
}

function packInto(into: Uint8Array, from: number, { pairs, first, count }: Ranges): void {
  for (let at = first * 2, to = from; at < (first + count) * 2; at += 2, to += packedRangeLength)
    packRange(into, to, pairs[at]!, pairs[at + 1]!);
}

/** Encodes the row of an unspent output. */
export function encodeHeld(out: CopyEncoder, name: string, held: HeldSats): void {
  outpoint.write(name, 'latin1');
  out.row();
  out.int4(held.height);
  out.int4(outpoint.readInt32LE(hashLength));
  out.range(outpoint, 0, hashLength);
  encodeRanges(out, held);
}

/** Outpoints one after another. The bytes are valid until the next call. */
export function packNames(names: readonly string[]): Uint8Array {
  const length = names.length * outpointLength;
  if (length > outputs.length) outputs = Buffer.alloc(length * 2);
  let at = 0;
  for (const name of names) at += outputs.write(name, at, 'latin1');
  return outputs.subarray(0, length);
}

/** Reads them again. */
export function* unpackNames(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; at += outpointLength)
    yield bytes.toString('latin1', at, at + outpointLength);
}

export interface NamedSats {
  readonly name: string;
  readonly held: HeldSats;
}

/** Outputs of earlier blocks that a block spent, as one value. The bytes are valid until the next call. */
export function packOutputs(spent: readonly NamedSats[]): Uint8Array {
  let length = 0;
  for (const { held } of spent) length += headLength + held.count * packedRangeLength;
  if (length > outputs.length) outputs = Buffer.alloc(length * 2);
  let at = 0;
  for (const { name, held } of spent) {
    outputs.write(name, at, 'latin1');
    outputs.writeInt32LE(held.height, at + outpointLength);
    outputs.writeInt32LE(held.count, at + outpointLength + 4);
    packInto(outputs, at + headLength, held);
    at += headLength + held.count * packedRangeLength;
  }
  return outputs.subarray(0, length);
}

/** Reads them again. */
export function unpackOutputs(bytes: Buffer): NamedSats[] {
  const spent: NamedSats[] = [];
  for (let at = 0; at < bytes.length; ) {
    const name = bytes.toString('latin1', at, at + outpointLength);
    const height = bytes.readInt32LE(at + outpointLength);
    const count = bytes.readInt32LE(at + outpointLength + 4);
    at += headLength;
    spent.push({ name, held: { height, pairs: unpackPairs(bytes, at, count), first: 0, count } });
    at += count * packedRangeLength;
  }
  return spent;
}
