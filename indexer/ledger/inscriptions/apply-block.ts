import { curseUnknown, type LedgerBlock, type LedgerInput } from '#indexer/ledger/ledger-block.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { curses } from '#kernel/primitives/curse.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { BlockPass } from './block-pass.ts';
import { collectInputs } from './collect-inputs.ts';
import { curseOfEnvelope } from './curse-of-envelope.ts';
import { claimedParents } from './parents.ts';
import { placeInOutputs, placeLost } from './place-inscriptions.ts';

/**
 * Applies a block to the inscriptions. It finds new inscriptions, with their numbers, curses, charms, fees and parents,
 * and the new location of each inscription that the block moves. Follows ord 0.29.1 (src/index/updater.rs,
 * src/index/updater/inscription_updater.rs). Sats have a ledger of their own (indexer/ledger/sats). A value that
 * depends on unknown facts is null (docs/adr/0004-null-never-a-guess.md).
 *
 * Pure. Costs a few additions per transaction that neither reveals nor moves an inscription. Throws
 * `spent_outputs_mismatch` if the spent values of the block are impossible. Asserts that every inscription that enters
 * a transaction leaves it at exactly one location.
 */
export function applyBlock(input: LedgerInput): LedgerBlock {
  // ord does not look for inscriptions below this height
  if (input.height < input.network.firstInscriptionHeight) {
    const pass = new BlockPass(input, 0);
    if (input.countsLostSats === true) countLost(pass);
    return pass.finish(input.anchored);
  }
  const pass = new BlockPass(input, input.columns.envelopeInput.length);
  // a block with only a coinbase spends nothing
  if (input.hasSpent || pass.txCount <= 1) {
    walkTransactions(pass);
    return pass.finish(input.anchored);
  }
  const isStill = pass.envelopeCount === 0 && input.held.count === 0;
  applyWithoutSpent(pass);
  return pass.finish(input.anchored && isStill);
}

/** Processes the transactions in block order, the coinbase last. */
function walkTransactions(pass: BlockPass): void {
  const { columns, txCount, made } = pass;
  const { held } = pass.input;
  const { txFirstInput, txInputValue, txOutputValue, revealTx } = columns;
  pass.reward = subsidyAt(pass.input.height);
  let reveal = 0;
  for (let tx = 1; tx < txCount; tx++) {
    const endInput = txFirstInput[tx + 1]!;
    const isReveal = revealTx[reveal] === tx;
    const movesOld =
      (pass.heldTaken < held.count && held.input[pass.heldTaken]! < endInput) ||
      (made.size > 0 && spendsMade(pass, txFirstInput[tx]!, endInput));
    if (isReveal || movesOld) applyTransaction(pass, tx, isReveal ? reveal : -1);
    if (isReveal) reveal++;
    pass.reward += txInputValue[tx]! - txOutputValue[tx]!;
  }
  applyCoinbase(pass);
}

/** Counts lost sats of a block without inscriptions: only the remainder of its coinbase matters. */
function countLost({ input, columns, totals, txCount }: BlockPass): void {
  const { txInputValue, txOutputValue } = columns;
  let reward: number = subsidyAt(input.height);
  for (let tx = 1; tx < txCount; tx++) reward += txInputValue[tx]! - txOutputValue[tx]!;
  const left = reward - txOutputValue[0]!;
  // NaN: the values of the block's spent outputs are unknown
  if (totals.lostSats !== null) totals.lostSats = Number.isNaN(left) ? null : totals.lostSats + left;
}

/** Whether an input may spend an output of this block that holds inscriptions, by its fingerprint. */
function spendsMade(pass: BlockPass, firstInput: number, endInput: number): boolean {
  const { inputFingerprintLow, inputFingerprintHigh } = pass.columns;
  for (let input = firstInput; input < endInput; input++) {
    if (pass.made.find(inputFingerprintLow[input]!, inputFingerprintHigh[input]!) >= 0) {
      return true;
    }
  }
  return false;
}

function applyTransaction(pass: BlockPass, tx: number, reveal: number): void {
  collectInputs(pass, tx, reveal);
  const { floating, flotsam } = pass;
  floating.sort();
  const placed = placeInOutputs(pass, tx, tx, reveal);
  // inscriptions spent as fees move with the reward and are written together with the coinbase
  const beyond = pass.columns.txOutputValue[tx]!;
  for (let at = placed; at < floating.count; at++) {
    const offset = floating.offset[at]! - beyond;
    flotsam.push(pass.reward + offset, floating.source[at]!);
  }
}

function applyCoinbase(pass: BlockPass): void {
  const { columns, floating, flotsam, totals } = pass;
  const claimed = columns.txOutputValue[0]!;
  if (claimed > pass.reward) {
    throw new AppError(
      'spent_outputs_mismatch',
      `the coinbase at height ${pass.input.height} takes more than subsidy and fees`,
      { height: pass.input.height, claimedSat: claimed, rewardSat: pass.reward },
    );
  }
  floating.clear();
  for (let at = 0; at < flotsam.count; at++) {
    floating.push(flotsam.offset[at]!, flotsam.source[at]!);
  }
  flotsam.clear();
  floating.sort();
  const placed = placeInOutputs(pass, 0, pass.txCount, -1);
  placeLost(pass, placed);
  if (totals.lostSats !== null) totals.lostSats += pass.reward - claimed;
}

/**
 * Applies a block with unknown spent outputs. Moved inscriptions get no new location, and new inscriptions are ordered
 * by id.
 */
function applyWithoutSpent(pass: BlockPass): void {
  const { columns, inscriptions, totals, input, envelopeCount } = pass;
  const isFirstOfAll = input.anchored && totals.sequence === 0;
  pass.heldTaken = input.held.count;
  let reveal = 0;
  for (let envelope = 0; envelope < envelopeCount; envelope++) {
    while (columns.revealFirstEnvelope[reveal + 1]! <= envelope) reveal++;
    pass.reveal[envelope] = reveal;
    const row = inscriptions.add(envelope, reveal, pass.indexOf(envelope));
    const flags = columns.envelopeFlags[envelope]!;
    const byBytes = curseOfEnvelope(flags, columns.envelopeInput[envelope]!);
    // the very first inscription cannot be a reinscription
    const isDecided = byBytes !== curses.none || (isFirstOfAll && envelope === 0);
    const curse = isDecided ? byBytes : curseUnknown;
    inscriptions.curse[row] = curse;
    const number = totals.takeNumber(curse);
    // if there are several envelopes, any of them may become last, because fees move an inscription to the coinbase
    if (envelopeCount === 1) inscriptions.number[row] = number;
    inscriptions.parentsKnown[row] = claimedParents(columns, envelope) < 0 ? 1 : 0;
  }
  if (envelopeCount > 0) totals.unbound = null;
  totals.lostSats = null;
}
