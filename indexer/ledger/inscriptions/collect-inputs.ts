import { curseUnknown } from '#indexer/ledger/ledger-block.ts';
import { curses } from '#kernel/primitives/curse.ts';
import { type BlockPass, traits } from './block-pass.ts';
import { curseOfEnvelope, isCursedReinscription } from './curse-of-envelope.ts';
import { findCandidates } from './parents.ts';
import { isUnbound, revealOffset } from './place-rules.ts';

/**
 * Collects all inscriptions that a transaction's inputs hold and reveal into `floating`. The order is ord's: input by
 * input, first the inscriptions of the spent output, then the input's own envelopes.
 *
 * @param reveal row of the transaction among the reveals; -1: the transaction has no envelope
 */
export function collectInputs(pass: BlockPass, tx: number, reveal: number): void {
  const { columns, floating } = pass;
  floating.clear();
  const firstInput = columns.txFirstInput[tx]!;
  const endInput = columns.txFirstInput[tx + 1]!;
  const firstEnvelope = reveal < 0 ? 0 : columns.revealFirstEnvelope[reveal]!;
  const endEnvelope = reveal < 0 ? 0 : columns.revealFirstEnvelope[reveal + 1]!;
  pass.inputWalk.open(columns.txStart[tx]!);
  let envelope = firstEnvelope;
  let inputOffset = 0;
  for (let input = firstInput; input < endInput; input++) {
    takeHeld(pass, input, inputOffset);
    if (pass.made.size > 0) takeMade(pass, input, input - firstInput, inputOffset);
    while (envelope < endEnvelope && columns.envelopeInput[envelope] === input - firstInput) {
      pass.reveal[envelope] = reveal;
      meetEnvelope(pass, tx, envelope++, input, inputOffset);
    }
    inputOffset += columns.inputValue[input]!;
  }
  if (reveal < 0) return;
  findCandidates(pass, firstEnvelope, endEnvelope);
  const fees = columns.txInputValue[tx]! - columns.txOutputValue[tx]!;
  pass.fee.fill(Math.floor(fees / (endEnvelope - firstEnvelope)), firstEnvelope, endEnvelope);
}

/** Takes the inscriptions of earlier blocks from the output that an input spends. */
function takeHeld(pass: BlockPass, input: number, inputOffset: number): void {
  const { held } = pass.input;
  while (pass.heldTaken < held.count && held.input[pass.heldTaken] === input) {
    const row = pass.heldTaken++;
    pass.floating.push(inputOffset + held.satOffset[row]!, pass.heldBase + row);
    pass.oldTaken++;
  }
}

/** Takes the inscriptions from an output of this block. */
function takeMade(pass: BlockPass, input: number, inputIndex: number, inputOffset: number): void {
  const { locations, floating } = pass;
  const first = findMade(pass, input, inputIndex);
  if (first < 0) return;
  const rows: number[] = [];
  for (let row = first; row >= 0; row = locations.nextInOutput[row]!) rows.push(row);
  // rows of an output are sorted by sat, but ord takes them by sequence number
  if (rows.length > 1) rows.sort((a, b) => locations.key[a]! - locations.key[b]!);
  for (const row of rows) {
    locations.spent[row] = 1;
    floating.push(inputOffset + locations.satOffset[row]!, locations.source[row]!);
  }
  pass.oldTaken += rows.length;
}

/**
 * First location row of the output that an input spends. -1 if this block did not make the output, or if the output
 * holds no inscriptions.
 */
function findMade(pass: BlockPass, input: number, inputIndex: number): number {
  const { columns, made, locations, block } = pass;
  const low = columns.inputFingerprintLow[input]!;
  const high = columns.inputFingerprintHigh[input]!;
  let row = made.find(low, high);
  while (row >= 0) {
    const at = pass.inputWalk.outpointOf(inputIndex);
    const txid = pass.txidOfRow(row);
    let same = 0;
    while (same < 32 && block[at + same] === txid[same]) same++;
    if (same === 32 && readUint32(block, at + 32) === locations.vout[row]) return row;
    row = made.next(low, high, row);
  }
  return -1;
}

function readUint32(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [
    number,
    number,
    number,
    number,
  ];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/**
 * Decides the facts of a new inscription that do not depend on its location, and adds it to the floating inscriptions.
 */
function meetEnvelope(
  pass: BlockPass,
  tx: number,
  envelope: number,
  input: number,
  inputOffset: number,
): void {
  const { columns, floating } = pass;
  const flags = columns.envelopeFlags[envelope]!;
  const byBytes = curseOfEnvelope(flags, columns.envelopeInput[envelope]!);
  const curse = byBytes === curses.none ? curseOfReinscription(pass) : byBytes;
  const pointer = columns.envelopePointer[envelope]!;
  const offset = revealOffset(pointer, columns.txOutputValue[tx]!, inputOffset);
  const unbound = isUnbound(flags, columns.inputValue[input]!);
  pass.curse[envelope] = curse;
  pass.traits[envelope] =
    (floating.isOccupied(offset) ? traits.reinscription : 0) | (unbound ? traits.unbound : 0);
  floating.push(offset, envelope);
}

/**
 * The curse of an envelope that its own bytes do not curse. The envelope is the first of the first input, so all
 * floating inscriptions come from the output that this input spends. Only inscriptions on the input's first sat matter.
 */
function curseOfReinscription(pass: BlockPass): number {
  if (!pass.input.anchored) return curseUnknown;
  const { floating } = pass;
  let count = 0;
  let oldest = -1;
  for (let at = 0; at < floating.count; at++) {
    if (floating.offset[at] !== 0) continue;
    if (count === 0) oldest = floating.source[at]!;
    count++;
  }
  if (count === 0) return curses.none;
  return isCursedReinscription(count, pass.curseOf(oldest)) ? curses.reinscription : curses.none;
}
