import { places } from '#indexer/ledger/ledger-block.ts';
import { fingerprint, fingerprintOutpoint } from '#indexer/transaction/outpoint-fingerprint.ts';
import { charms } from '#kernel/primitives/charm.ts';
import { curses } from '#kernel/primitives/curse.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { type BlockPass, traits } from './block-pass.ts';
import { claimedParents, writeParents } from './parents.ts';
import { offsetInOutput } from './place-rules.ts';

const opReturn = 0x6a;
const nowhere = -1;

/**
 * Writes floating inscriptions, sorted by offset, into the outputs of `tx`. Returns the number of placed inscriptions.
 * The others float beyond the last output.
 *
 * @param reveal row of `tx` among the reveals; -1: `tx` has no envelope
 */
export function placeInOutputs(pass: BlockPass, tx: number, step: number, reveal: number): number {
  const { floating, outputWalk, output } = pass;
  let placed = 0;
  let start = 0;
  let txid: Txid | null = null;
  output.txid = -1;
  outputWalk.open(pass.columns.txOutputs[tx]!);
  while (placed < floating.count && outputWalk.next()) {
    const { value } = outputWalk;
    let satOffset = offsetInOutput(floating.offset[placed]!, start, value);
    if (satOffset < 0) {
      start += value;
      continue;
    }
    txid ??= reveal < 0 ? pass.txidOf(tx) : pass.revealTxid(reveal);
    enterOutput(pass, txid);
    let previous = -1;
    while (satOffset >= 0) {
      const source = floating.source[placed++]!;
      const row = writeInOutput(pass, tx, step, source, satOffset, reveal, txid);
      satOffset = placed < floating.count ? offsetInOutput(floating.offset[placed]!, start, value) : -1;
      if (row < 0) continue;
      if (previous < 0) pass.made.add(output.fingerprintLow, output.fingerprintHigh, row);
      else pass.locations.nextInOutput[previous] = row;
      previous = row;
    }
    start += value;
  }
  return placed;
}

const outpoint = new Uint8Array(36);
const outpointView = new DataView(outpoint.buffer);

/** Sets the output at the current position as the one that receives inscriptions. */
function enterOutput(pass: BlockPass, txid: Txid): void {
  const { output, outputWalk } = pass;
  outpoint.set(txid);
  outpointView.setUint32(32, outputWalk.vout, true);
  fingerprintOutpoint(outpointView, 0, pass.input.fingerprintKey);
  output.vout = outputWalk.vout;
  output.value = outputWalk.value;
  output.scriptStart = outputWalk.scriptStart;
  output.scriptLength = outputWalk.scriptLength;
  output.fingerprintLow = fingerprint.low;
  output.fingerprintHigh = fingerprint.high;
}

/**
 * Writes one inscription into the current output. Returns its location row. -1: the inscription is unbound, so it is
 * not in the output.
 */
function writeInOutput(
  pass: BlockPass,
  tx: number,
  step: number,
  source: number,
  satOffset: number,
  reveal: number,
  txid: Txid,
): number {
  const { output, locations } = pass;
  const isNew = source < pass.heldBase;
  let written = source;
  if (isNew) {
    const isBurned = output.scriptLength > 0 && pass.block[output.scriptStart] === opReturn;
    written = writeNew(pass, source, isBurned ? charms.burned : 0);
    if (writeUnbound(pass, step, source)) return nowhere;
  } else {
    pass.oldPlaced++;
  }
  const isOwnReveal = isNew && pass.reveal[source] === reveal;
  // one row of the table serves all inscriptions in the outputs of this transaction
  if (!isOwnReveal && output.txid < 0) output.txid = pass.addTxid(txid);
  const row = locations.addInOutput(pass.keyOf(written), tx, step, satOffset, written, output);
  if (isOwnReveal) locations.txid[row] = -1;
  return row;
}

/**
 * Writes the floating inscriptions from index `from` on as lost, because they are beyond the outputs of the coinbase.
 */
export function placeLost(pass: BlockPass, from: number): void {
  const { floating, totals, locations } = pass;
  const beyond = pass.columns.txOutputValue[0]!;
  for (let at = from; at < floating.count; at++) {
    const source = floating.source[at]!;
    const isNew = source < pass.heldBase;
    let written = source;
    if (isNew) {
      written = writeNew(pass, source, charms.lost);
      if (writeUnbound(pass, pass.txCount, source)) continue;
    } else {
      pass.oldPlaced++;
    }
    // without the previous total the satpoint is unknown
    if (totals.lostSats === null) continue;
    const satOffset = totals.lostSats + floating.offset[at]! - beyond;
    locations.addOutside(pass.keyOf(written), pass.txCount, places.lost, satOffset);
  }
}

/**
 * Writes the location of an unbound inscription, whatever offset it floated to. Returns false if the inscription is
 * bound.
 */
function writeUnbound(pass: BlockPass, step: number, envelope: number): boolean {
  if ((pass.traits[envelope]! & traits.unbound) === 0) return false;
  const { totals } = pass;
  if (totals.unbound !== null) {
    const key = pass.keyOf(envelope);
    pass.locations.addOutside(key, step, places.unbound, totals.unbound++);
  }
  return true;
}

/**
 * Writes a new inscription. The order of these calls is the order of keys, numbers and sequence numbers. Returns its
 * new source.
 */
function writeNew(pass: BlockPass, envelope: number, placeCharms: number): number {
  const { inscriptions, input } = pass;
  const curse = pass.curse[envelope]!;
  const row = inscriptions.add(envelope, pass.reveal[envelope]!, pass.indexOf(envelope));
  inscriptions.curse[row] = curse;
  inscriptions.number[row] = pass.totals.takeNumber(curse);
  inscriptions.fee[row] = pass.fee[envelope]!;
  if (input.anchored) {
    inscriptions.charms[row] = charmsOf(pass, envelope, curse) | placeCharms;
    inscriptions.parentsKnown[row] = 1;
    writeParents(pass, envelope);
  } else {
    inscriptions.parentsKnown[row] = claimedParents(pass.columns, envelope) < 0 ? 1 : 0;
  }
  pass.writtenRow[envelope] = row;
  return pass.newBase + row;
}

function charmsOf(pass: BlockPass, envelope: number, curse: number): number {
  const marks = pass.traits[envelope]!;
  let bits = 0;
  if (curse !== curses.none) bits |= pass.jubilant ? charms.vindicated : charms.cursed;
  if ((marks & traits.reinscription) !== 0) bits |= charms.reinscription;
  if ((marks & traits.unbound) !== 0) bits |= charms.unbound;
  return bits;
}
