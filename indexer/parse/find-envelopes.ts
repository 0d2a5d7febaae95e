import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { type FingerprintKey, fingerprintOutpoints } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockTables, InputTable } from './block-tables.ts';
import type { EnvelopeReader } from './envelope.ts';
import { type ScriptScan, scanScript } from './witness-script.ts';

/** First byte of a DER signature. If it is read as an opcode, it pushes 48 bytes. */
const signaturePrefix = 0x30;
const signatureLengthMax = 73;
const opIfFourTimes = 0x63636363;

/** Fills in the fingerprints of the outpoints that the inputs of a block spend. */
export function fingerprintInputs(
  view: DataView,
  layout: BlockLayout,
  inputs: InputTable,
  key: FingerprintKey,
): void {
  const { inputAt, inputCount } = layout;
  inputs.reserve(inputCount);
  const { fingerprintLow, fingerprintHigh } = inputs;
  fingerprintOutpoints(view, key, {
    at: inputAt,
    count: inputCount,
    low: fingerprintLow,
    high: fingerprintHigh,
  });
}

/**
 * Finds envelopes in the scripts of all witnesses and keeps the transactions that have one. The coinbase is skipped:
 * its input cannot reveal an inscription (ord inscription_updater.rs).
 */
export function findEnvelopes(
  block: Uint8Array,
  view: DataView,
  layout: BlockLayout,
  tables: BlockTables,
  scan: ScriptScan,
  reader: EnvelopeReader,
): void {
  const { scriptAt, scriptEnd, firstInput, inputCount, transactionCount } = layout;
  const { reveals, envelopes } = tables;
  if (transactionCount < 2) return;
  let tx = 1;
  let lastReveal = -1;
  for (let input = firstInput[tx]!; input < inputCount; input++) {
    const at = scriptAt[input]!;
    if (at === 0) continue;
    const end = scriptEnd[input]!;
    // nine of ten scripts that begin like a signature are a signature
    if (block[at] === signaturePrefix && isBareSignature(view, at, end)) continue;
    if (scanScript(scan, block, at, end) === 0) continue;
    while (firstInput[tx + 1]! <= input) tx++;
    if (tx !== lastReveal) {
      reveals.add(tx, envelopes.length);
      lastReveal = tx;
    }
    reader.add(block, scan, input - firstInput[tx]!);
  }
}

/**
 * Whether a script that begins with `signaturePrefix` has no envelope, because the script is as short as a signature
 * and has no OP_IF after its first push. Most inputs spend by a key, and this check takes a quarter of the work of a
 * scan.
 */
function isBareSignature(view: DataView, start: number, end: number): boolean {
  // the last word that is read may extend beyond the end
  if (end - start > signatureLengthMax || end + 3 > view.byteLength) return false;
  for (let at = start + 1 + signaturePrefix; at < end; at += 4) {
    const word = view.getInt32(at, true) ^ opIfFourTimes;
    if (((word - 0x01010101) & ~word & 0x80808080) !== 0) return false;
  }
  return true;
}
