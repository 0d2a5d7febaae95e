import { compactSizeWidth, longCompactSize } from '#indexer/transaction/compact-size.ts';
import {
  type FingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { blockLengthMax, maxMoney } from '#kernel/bitcoin/consensus.ts';
import { blockFlags } from './block-columns.ts';
import type { BlockTables } from './block-tables.ts';
import type { EnvelopeReader } from './envelope.ts';
import { type ScriptScan, scanScript } from './witness-script.ts';

/** Why a block could not be walked to its end: the code of docs/errors.md, and the byte at which it showed. */
export interface BrokenBlock {
  readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt';
  readonly at: number;
  readonly message: string;
}

export const headerLength = 80;

// the fewest bytes that each of these takes: what is claimed beyond them is not there, and no room is made for it
const transactionLengthMin = 10;
const inputLengthMin = 41;
const outputLengthMin = 9;
const outpointLength = 36;
const sequenceLength = 4;
const annexPrefix = 0x50;
/** Of a signature in DER; as a script, a push of as many bytes. */
const signaturePrefix = 0x30;
const signatureLengthMax = 73;
const opIfFourTimes = 0x63636363;

/**
 * Walks a block's transactions by offset, fills the tables of transactions and inputs, and gives the script of each
 * witness to the scan. A coinbase is never looked at for envelopes: its input is no inscription's (ord
 * inscription_updater.rs). Null: every byte was walked.
 */
// oxlint-disable-next-line complexity, max-lines-per-function -- one walk: splitting it at inputs, outputs and witnesses measured a third slower
export function walkBlock(
  block: Uint8Array,
  tables: BlockTables,
  scan: ScriptScan,
  reader: EnvelopeReader,
  key: FingerprintKey,
): BrokenBlock | null {
  const end = block.length;
  if (end > blockLengthMax) return oversized(blockLengthMax);
  if (end <= headerLength) return truncated(end);
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const { transactions, inputs, reveals, envelopes } = tables;
  let at = headerLength;
  let txCount = block[at++] as number;
  if (txCount >= 0xfd) {
    const width = compactSizeWidth(txCount);
    txCount = longCompactSize(block, at, end, txCount);
    if (txCount < 0) return notShortest(at);
    at += width;
  }
  if (txCount * transactionLengthMin > end - at) return truncated(end);
  transactions.reserve(txCount);
  const { start, outputs, firstInput, outputValue } = transactions;
  let { fingerprintLow, fingerprintHigh } = inputs;
  let inputRows = 0;
  let outOfRange = false;

  for (let tx = 0; tx < txCount; tx++) {
    if (at + transactionLengthMin > end) return truncated(end);
    start[tx] = at;
    firstInput[tx] = inputRows;
    at += 4;
    let segwit = false;
    let inputsStart = at;
    let inputCount = block[at++] as number;
    if (inputCount === 0 && block[at] !== 0) {
      if (block[at] !== 1) return badFlag(at);
      segwit = true;
      inputsStart = ++at;
      inputCount = block[at++] as number;
    }
    if (inputCount >= 0xfd) {
      const width = compactSizeWidth(inputCount);
      inputCount = longCompactSize(block, at, end, inputCount);
      if (inputCount < 0) return notShortest(at);
      at += width;
    }
    if (inputCount * inputLengthMin > end - at) return truncated(end);
    if (inputRows + inputCount > fingerprintLow.length) {
      inputs.reserve(inputRows + inputCount);
      ({ fingerprintLow, fingerprintHigh } = inputs);
    }
    for (let input = 0; input < inputCount; input++) {
      if (at + inputLengthMin > end) return truncated(end);
      fingerprintOutpoint(view, at, key);
      fingerprintLow[inputRows] = fingerprint.low;
      fingerprintHigh[inputRows++] = fingerprint.high;
      at += outpointLength;
      let length = block[at++] as number;
      if (length >= 0xfd) {
        const width = compactSizeWidth(length);
        length = longCompactSize(block, at, end, length);
        if (length < 0) return notShortest(at);
        at += width;
      }
      at += length + sequenceLength;
    }

    if (at >= end) return truncated(end);
    outputs[tx] = at;
    let outputCount = block[at++] as number;
    if (outputCount >= 0xfd) {
      const width = compactSizeWidth(outputCount);
      outputCount = longCompactSize(block, at, end, outputCount);
      if (outputCount < 0) return notShortest(at);
      at += width;
    }
    if (outputCount * outputLengthMin > end - at) return truncated(end);
    let sum = 0;
    for (let output = 0; output < outputCount; output++) {
      if (at + outputLengthMin > end) return truncated(end);
      const value = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
      if (value > maxMoney) outOfRange = true;
      sum += value;
      at += 8;
      let length = block[at++] as number;
      if (length >= 0xfd) {
        const width = compactSizeWidth(length);
        length = longCompactSize(block, at, end, length);
        if (length < 0) return notShortest(at);
        at += width;
      }
      at += length;
    }
    if (sum > maxMoney) outOfRange = true;
    outputValue[tx] = sum;

    if (segwit) {
      const outputsEnd = at;
      const firstEnvelope = envelopes.length;
      for (let input = 0; input < inputCount; input++) {
        if (at >= end) return truncated(end);
        let items = block[at++] as number;
        if (items >= 0xfd) {
          const width = compactSizeWidth(items);
          items = longCompactSize(block, at, end, items);
          if (items < 0) return notShortest(at);
          at += width;
        }
        if (items > end - at) return truncated(end);
        // begin and end of the last three items
        let thirdAt = 0;
        let thirdEnd = 0;
        let secondAt = 0;
        let secondEnd = 0;
        let lastAt = 0;
        let lastEnd = 0;
        for (let item = 0; item < items; item++) {
          if (at >= end) return truncated(end);
          let length = block[at++] as number;
          if (length >= 0xfd) {
            const width = compactSizeWidth(length);
            length = longCompactSize(block, at, end, length);
            if (length < 0) return notShortest(at);
            at += width;
          }
          thirdAt = secondAt;
          thirdEnd = secondEnd;
          secondAt = lastAt;
          secondEnd = lastEnd;
          lastAt = at;
          at += length;
          lastEnd = at;
        }
        if (at > end) return truncated(end);
        if (items < 2 || tx === 0) continue;
        if (lastEnd > lastAt && block[lastAt] === annexPrefix) {
          // the last item is an annex: with one more it is a key path spend, with two or more the script is third
          if (items === 2) continue;
          secondAt = thirdAt;
          secondEnd = thirdEnd;
        }
        // a script that begins like a signature is one, nine times in ten
        if (block[secondAt] === signaturePrefix && isBareSignature(view, secondAt, secondEnd)) continue;
        if (scanScript(scan, block, secondAt, secondEnd) > 0) reader.add(block, scan, input);
      }
      if (envelopes.length > firstEnvelope) {
        const row = reveals.length;
        reveals.reserve(row + 1);
        reveals.tx[row] = tx;
        reveals.firstEnvelope[row] = firstEnvelope;
        reveals.inputsStart[row] = inputsStart;
        reveals.outputsEnd[row] = outputsEnd;
        reveals.length = row + 1;
      }
    }
    at += 4;
    if (at > end) return truncated(end);
  }
  if (at < end) return oversized(at);
  start[txCount] = at;
  firstInput[txCount] = inputRows;
  transactions.length = txCount;
  inputs.length = inputRows;
  if (outOfRange) tables.flags |= blockFlags.valueOutOfRange;
  return null;
}

/**
 * Whether a script that begins with `signaturePrefix` is as short as a signature and has no OP_IF behind its first push,
 * without which there is no envelope. Most inputs spend by a key, and this is a quarter of the work of a scan.
 */
function isBareSignature(view: DataView, start: number, end: number): boolean {
  // a word may be read that begins before the end and ends behind it
  if (end - start > signatureLengthMax || end + 3 > view.byteLength) return false;
  for (let at = start + 1 + signaturePrefix; at < end; at += 4) {
    const word = view.getInt32(at, true) ^ opIfFourTimes;
    if (((word - 0x01010101) & ~word & 0x80808080) !== 0) return false;
  }
  return true;
}

const truncated = (at: number): BrokenBlock => ({
  code: 'block_truncated',
  at,
  message: 'the block ends before its last transaction is complete',
});

const oversized = (at: number): BrokenBlock => ({
  code: 'block_oversized',
  at,
  message:
    at === blockLengthMax
      ? `a block has ${blockLengthMax} bytes at most`
      : 'there are bytes behind the last transaction',
});

const notShortest = (at: number): BrokenBlock => ({
  code: 'block_corrupt',
  at,
  message: 'a compact size is not in its shortest form',
});

const badFlag = (at: number): BrokenBlock => ({
  code: 'block_corrupt',
  at,
  message: 'a transaction has a flag that nobody knows',
});
