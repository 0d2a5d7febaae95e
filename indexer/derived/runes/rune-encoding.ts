import { strict as assert } from 'node:assert';
import { hash } from 'node:crypto';
import type { Burned, RuneChanges } from '#indexer/ledger/runes/rune-changes.ts';
import type { RuneEntry } from '#indexer/ledger/runes/rune-entry.ts';
import type { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { DerivedTarget } from '../derived-table.ts';
import type { RunePosition } from './rune-memory.ts';

/** The tables of runes, in the order of their encoders. */
export const runeTargets = {
  blocks: { table: 'chain.rune_blocks', columns: 'height, anchored, next_key', keyColumns: 1 },
  etched: {
    table: 'chain.runes',
    columns:
      'key, height, tx_index, txid, rune, spacers, divisibility, symbol, turbo, timestamp, premine, has_terms, amount, cap, height_start, height_end, offset_start, offset_end',
    keyColumns: 1,
  },
  balances: {
    table: 'chain.rune_balances',
    columns: 'height, tx_index, vout, rune_key, spent_height, spent_tx_index, amount, txid, script',
    keyColumns: 4,
  },
  mints: { table: 'chain.rune_mints', columns: 'height, rune_key, mints, tx_indexes, txids', keyColumns: 2 },
  burns: {
    table: 'chain.rune_burns',
    columns: 'rune_key, height, tx_index, amount, total, txid',
    keyColumns: 3,
  },
} as const satisfies Readonly<Record<string, DerivedTarget>>;

const hashLength = 32;

export function encodeRuneBlock(out: CopyEncoder, { height, anchored, nextKey }: RunePosition): void {
  out.row();
  out.int4(height);
  out.boolean(anchored);
  out.int4(nextKey);
}

export function encodeRune(out: CopyEncoder, entry: RuneEntry): void {
  const { terms } = entry;
  out.row();
  out.int4(entry.key);
  out.int4(entry.block);
  out.int4(entry.tx);
  out.range(entry.etching, 0, hashLength);
  out.numeric(entry.rune);
  out.int4(entry.spacers);
  out.int2(entry.divisibility);
  if (entry.symbol === null) out.null();
  else out.int4(entry.symbol);
  out.boolean(entry.turbo);
  out.int8(entry.timestamp);
  out.numeric(entry.premine);
  out.boolean(terms !== null);
  numericOrNull(out, terms?.amount);
  numericOrNull(out, terms?.cap);
  numericOrNull(out, terms?.heightStart);
  numericOrNull(out, terms?.heightEnd);
  numericOrNull(out, terms?.offsetStart);
  numericOrNull(out, terms?.offsetEnd);
}

function numericOrNull(out: CopyEncoder, value: U128 | null | undefined): void {
  if (value === null || value === undefined) out.null();
  else out.numeric(value);
}

/** The rows of an output: one row for each rune that it holds. */
export function encodeBalances(out: CopyEncoder, block: Uint8Array, outputs: RuneOutputs, row: number): void {
  const first = outputs.firstOf(row);
  const end = first + outputs.countOf(row);
  for (let balance = first; balance < end; balance++) {
    out.row();
    out.int4(outputs.heightOf(row));
    out.int4(outputs.txOf(row));
    out.int4(outputs.voutOf(row));
    out.int4(outputs.keyOf(balance));
    if (outputs.isSpent(row)) {
      out.int4(outputs.spentHeightOf(row));
      out.int4(outputs.spentTxOf(row));
    } else {
      out.null();
      out.null();
    }
    out.numeric(outputs.amountOf(balance));
    out.range(outputs.bytes, outputs.txidAt(row), hashLength);
    encodeScript(out, block, outputs.scriptStartOf(row), outputs.scriptLengthOf(row));
  }
}

/**
 * Maximum length in bytes of a script that is stored whole. Every script with an address is shorter. A longer script
 * would be repeated for each rune in its output. Its sha256 identifies the owner, and its beginning shows its kind.
 */
const wholeScriptMax = 128;
const shownScriptBytes = wholeScriptMax + 1 - hashLength;

function encodeScript(out: CopyEncoder, block: Uint8Array, start: number, length: number): void {
  if (length <= wholeScriptMax) {
    out.range(block, start, length);
    return;
  }
  const cut = ownerScript(block, start, length);
  out.range(cut, 0, cut.length);
}

/** The script of an output as it is stored: whole, or its beginning and its sha256. The result is a copy. */
export function ownerScript(bytes: Uint8Array, start: number, length: number): Buffer {
  const script = bytes.subarray(start, start + length);
  if (length <= wholeScriptMax) return Buffer.from(script);
  return Buffer.concat([script.subarray(0, shownScriptBytes), hash('sha256', script, 'buffer')]);
}

/** Encodes the mints of a block in order: one row for each rune. */
export function encodeMints(out: CopyEncoder, height: number, changes: RuneChanges): void {
  const byKey = Map.groupBy(changes.minted.keys(), (mint) => changes.minted[mint]!.key);
  for (const key of [...byKey.keys()].sort((a, b) => a - b))
    encodeMintsOf(out, height, changes, byKey.get(key) ?? []);
}

/** @param mints indexes of the mints of one rune */
function encodeMintsOf(
  out: CopyEncoder,
  height: number,
  changes: RuneChanges,
  mints: readonly number[],
): void {
  const { minted } = changes;
  const last = minted[mints.at(-1) ?? -1];
  assert(last !== undefined, 'a rune was minted');
  const array = int4Array(mints.map((mint) => minted[mint]!.tx));
  out.row();
  out.int4(height);
  out.int4(last.key);
  out.int4(last.mints);
  out.range(array, 0, array.length);
  if (last.amount !== 0) {
    out.null();
    return;
  }
  // a mint of amount 0 has no other row with its txid
  const txids = Buffer.concat(mints.map((mint) => changes.txidOf(mint)));
  out.range(txids, 0, txids.length);
}

export function encodeBurn(out: CopyEncoder, height: number, { key, tx, amount, total, txid }: Burned): void {
  out.row();
  out.int4(key);
  out.int4(height);
  out.int4(tx);
  out.numeric(amount);
  out.numeric(total);
  out.range(txid, 0, hashLength);
}
