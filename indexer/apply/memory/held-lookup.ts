import type { HeldInscriptions } from '#indexer/ledger/ledger-block.ts';
import { OutpointReader } from '#indexer/transaction/outpoint-reader.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { trustedHeight } from '#kernel/primitives/height.ts';
import { trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { HeldOutputs } from './held-outputs.ts';

const idLength = 36;

const none: HeldInscriptions = {
  count: 0,
  input: new Uint32Array(0),
  key: new Int32Array(0),
  satOffset: new Float64Array(0),
  id: new Uint8Array(0),
  curse: new Uint8Array(0),
  height: new Int32Array(0),
  step: new Uint32Array(0),
};

interface Hit {
  readonly input: number;
  readonly from: HeldOutputs;
  readonly row: number;
}

/** A table of outputs that a block may spend. */
export interface HeldSource {
  readonly table: HeldOutputs;
  /** The inputs that may spend an output of the table, ascending. Null: any input may. */
  readonly inputs: Uint32Array | null;
}

export const anyInput = (table: HeldOutputs): HeldSource => ({ table, inputs: null });

/**
 * Inscriptions in the outputs that a block spends, if the sources know these outputs. Fingerprints are compared first,
 * then outpoints.
 */
export function heldByBlock(block: ParsedBlock, sources: readonly HeldSource[]): HeldInscriptions {
  const hits: Hit[] = [];
  for (const source of sources) if (source.table.size > 0) addHits(hits, block, source);
  return hits.length === 0 ? none : inOrder(hits);
}

function addHits(hits: Hit[], block: ParsedBlock, { table: from, inputs }: HeldSource): void {
  const { inputFingerprintLow, inputFingerprintHigh } = block.columns;
  const outpoints = new OutpointReader(block);
  const count = inputs?.length ?? inputFingerprintLow.length;
  for (let at = 0; at < count; at++) {
    const input = inputs === null ? at : inputs[at]!;
    const low = inputFingerprintLow[input]!;
    const high = inputFingerprintHigh[input]!;
    for (let row = from.first(low, high); row >= 0; row = from.next(row)) {
      if (from.isAt(row, block.bytes, outpoints.at(input))) hits.push({ input, from, row });
    }
  }
}

/**
 * Rows in the ledger's order: by input, then by key. If two tables have a row, because one was committed in the
 * meantime, the row counts once.
 */
function inOrder(hits: Hit[]): HeldInscriptions {
  const keyOf = ({ from, row }: Hit): number => from.key[row]!;
  hits.sort((a, b) => a.input - b.input || keyOf(a) - keyOf(b));
  const distinct = hits.filter((hit, at) => {
    const before = hits[at - 1];
    return before === undefined || before.input !== hit.input || keyOf(before) !== keyOf(hit);
  });
  const count = distinct.length;
  const held = {
    count,
    input: new Uint32Array(count),
    key: new Int32Array(count),
    satOffset: new Float64Array(count),
    id: new Uint8Array(count * idLength),
    curse: new Uint8Array(count),
    height: new Int32Array(count),
    step: new Uint32Array(count),
  };
  distinct.forEach(({ input, from, row }, at) => {
    held.input[at] = input;
    held.key[at] = from.key[row]!;
    held.satOffset[at] = from.satOffset[row]!;
    held.curse[at] = from.curse[row]!;
    held.height[at] = from.height[row]!;
    held.step[at] = from.step[row]!;
    for (let index = 0; index < idLength; index++) {
      held.id[at * idLength + index] = from.id[row * idLength + index]!;
    }
  });
  return held;
}

/** Adds the outputs with inscriptions that a block spends. */
export function holdSpent(ended: HeldOutputs, block: ParsedBlock, held: HeldInscriptions): void {
  const { inputFingerprintLow, inputFingerprintHigh } = block.columns;
  const outpoints = new OutpointReader(block);
  const view = new DataView(block.bytes.buffer, block.bytes.byteOffset, block.bytes.byteLength);
  for (let row = 0; row < held.count; row++) {
    const input = held.input[row]!;
    const at = outpoints.at(input);
    ended.add({
      fingerprintLow: inputFingerprintLow[input]!,
      fingerprintHigh: inputFingerprintHigh[input]!,
      key: trustedInscriptionKey(held.key[row]!),
      height: trustedHeight(held.height[row]!),
      step: held.step[row]!,
      satOffset: held.satOffset[row]!,
      txids: block.bytes,
      txidAt: at,
      vout: view.getUint32(at + 32, true),
      idTxids: held.id,
      idTxidAt: row * idLength,
      idIndex: 0,
      curse: held.curse[row]!,
    });
  }
}
