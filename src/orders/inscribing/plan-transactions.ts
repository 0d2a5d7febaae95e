import assert from 'node:assert/strict';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, leafInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type {
  OwnScript,
  PlannedInput,
  PlannedOutput,
  TransactionPlan,
} from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { maturityBlocks } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import type { RuneRoute } from '#orders/parents/rune-route.ts';
import { commitAmounts } from './commit-amounts.ts';
import { claimedName, etchingRunestone, premineOutputs } from './etching-parts.ts';
import type { OrderLayout, RevealLayout } from './order-layout.ts';
import { type OrderRefusal, type OrderTerms, refused, shortOf } from './order-terms.ts';
import {
  anchorDust,
  anchorOutputWeight,
  anchorScript,
  burnScript,
  largest,
  type OwnOutput,
  ownOutputFrom,
  type Parts,
  p2trDust,
  p2trOutputWeight,
  valueOf,
  weightWith,
} from './plan-amounts.ts';
import { type SentHoldings, withHoldings } from './plan-holdings.ts';
import { burnParts } from './reveal-parts.ts';
import {
  type FileGroup,
  inventoryOf,
  isLast,
  leftOfInventory,
  pointerOf,
  postageOutputs,
  revealsPostageFirst,
  type SettledTerms,
  settleTerms,
} from './settled-terms.ts';

/** An output in the chain or the mempool that the wallet can spend. */
export interface Arrived extends OwnScript {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Contents in addition to sats. Absent if the output holds only sats. */
  readonly holds?: Holdings;
}

/** A P2TR script of the wallet. */
export interface OwnDestination {
  readonly script: Uint8Array;
  readonly own: OwnScript;
}

export interface RevealFunds {
  /**
   * The first payment commits to this reveal, and is spent by leaf. The other payments add sats or pay the fee, and are
   * spent by key.
   */
  readonly payments: readonly [Arrived, ...Arrived[]];
  /** The parents, in the sequence of the terms. */
  readonly parents: readonly Arrived[];
  /** The inventory output that the terms name for the file of this reveal. It is spent by key. */
  readonly inventory?: Arrived;
  /** Destination of our output. Not used if only an anchor is possible. */
  readonly service: OwnDestination;
  /**
   * How a runestone moves runes. Without a runestone, all runes go to the first output. A route is needed in two cases.
   * If an inscription is in the first output, the route returns the parents' runes. If the first output belongs to the
   * inventory, the route sends runes of the payments to the inscription. The runestone is the last output, and the
   * service pays for it.
   */
  readonly route?: RuneRoute;
}

export interface CommitFunds {
  /** The payments that the commit spends, all of them by key. */
  readonly payments: readonly [Arrived, ...Arrived[]];
  /** One destination for each reveal of the layout, with the leaf of the reveal. */
  readonly commits: readonly OwnDestination[];
  /** Destination of the outputs that later pay the fees of reveals, if the layout has such outputs. */
  readonly feeInputs: OwnDestination;
  readonly change: OwnDestination;
}

export interface BurnFunds {
  /** The reveal's anchors of kind `burn`, in their sequence. */
  readonly anchors: readonly Omit<Arrived, keyof OwnScript>[];
  /** The reveal's output of kind `service`. */
  readonly payment: Arrived;
  readonly service: OwnDestination;
}

const opReturn = 0x6a;

/**
 * Plans the reveal of some files of an order, with the outputs that arrived. The plan pays exactly the fee rate of the
 * terms, whatever its inputs are. The customer's outputs never get smaller, so the service pays for additional inputs.
 *
 * Inputs: parents or an inventory output, then payments. Outputs: parents with their unchanged values, the
 * inscriptions, our output. The unused sats of an inventory output go back to the inventory, in outputs before and
 * after the inscription. If the envelope must be in the first input, the envelope's input and the inscription's output
 * come first (`revealsPostageFirst`).
 *
 * Refuses with `payment-short` and the missing sats if the payments are not enough. Refuses with `parent-value-differs`
 * if the pointers, which were written for the values of the terms, would move inscriptions into other outputs.
 */
export function planReveal(
  terms: OrderTerms,
  group: FileGroup,
  funds: RevealFunds,
): TransactionPlan | OrderRefusal {
  const settled = settleTerms(terms);
  const [committed] = funds.payments;
  assert(committed.leafScript !== null, 'a reveal spends an output with its leaf');
  assert(funds.parents.length === terms.parents.length, 'a reveal spends each parent');
  assert(
    !revealsPostageFirst(terms) || committed.value === settled.postage,
    'where it comes first, the output of an inscription holds exactly its postage',
  );
  assert(
    funds.inventory?.value === inventoryOf(settled, group)?.value,
    'a reveal spends the output that its terms name',
  );
  const inscriptions = inscriptionOutputs(settled, group, funds);
  if (!Array.isArray(inscriptions)) return inscriptions;
  const inputs = revealInputs(settled, funds);
  const returned = parentOutputs(settled, group, funds);
  const outputs = revealsPostageFirst(terms)
    ? [...inscriptions, ...returned]
    : [
        ...returned,
        ...withInventory(settled, group, inscriptions, funds),
        ...premineOutputs(settled).map((output): PlannedOutput => ({ ...output, kind: 'postage' })),
      ];
  const runestone = runestoneOf(settled, group, funds);
  const runestones = runestone === null ? [] : [runestoneOutput(runestone)];
  const parts = partsOf(inputs, [...outputs, ...runestones]);
  const own = terms.burn
    ? ownBeforeBurn(settled, parts, inscriptions.length, valueOf(inputs) - valueOf(outputs))
    : ownOutputFrom(parts, terms.feeRate, valueOf(inputs) - valueOf(outputs));
  if (own === null) {
    return short(parts, settled, inscriptions.length, valueOf(inputs) - valueOf(outputs));
  }
  const plan = planOf(inputs, [...outputs, ownOutput(own, funds.service), ...runestones], terms.feeRate);
  return withRevealed(plan, settled, group, { ...funds, runestone });
}

/** The runestone of a reveal, which etches or moves runes; null if the reveal needs no runestone. */
function runestoneOf(terms: SettledTerms, group: FileGroup, { route }: RevealFunds): Runestone | null {
  const etching = etchingRunestone(terms, group);
  assert(etching === null || route === undefined, 'a reveal that etches leads no other runes');
  return etching ?? (route === undefined ? null : routeRunestone(route));
}

export const runestoneOutput = (runestone: Runestone): PlannedOutput => ({
  script: encipher(runestone),
  value: 0n,
  kind: 'burn',
});

/**
 * Adds to the plan of a reveal which inscriptions and runes it spends and creates. Inscriptions and runes of a parent
 * go to the parent's output. Inscriptions of payments go to the output of the first inscription. Runes of payments go
 * to the output to which the runestone sends them.
 */
function withRevealed(
  plan: TransactionPlan,
  terms: SettledTerms,
  group: FileGroup,
  { payments, parents, inventory, runestone }: RevealFunds & { readonly runestone: Runestone | null },
): TransactionPlan {
  const isPostageFirst = revealsPostageFirst(terms);
  const rest = runestone?.pointer ?? 0;
  const first = plan.outputs.findIndex(({ kind }) => kind === 'postage' || kind === 'burn');
  const firstParent = isPostageFirst ? postageOutputs(terms, group).length : 0;
  const others = payments.slice(1);
  const beforeParents = isPostageFirst || inventory !== undefined ? 1 : 0;
  const committed = isPostageFirst ? 0 : beforeParents + parents.length;
  const firstOther = beforeParents + parents.length + (isPostageFirst ? 0 : 1);
  const paid = (payment: Arrived, input: number): SentHoldings => sentTo(payment, input, first, rest);
  const start = valueOf(plan.inputs.slice(0, committed));
  return withHoldings(plan, {
    sent: [
      ...parents.map((parent, index) =>
        sentTo(parent, beforeParents + index, firstParent + index, firstParent + index),
      ),
      paid(payments[0], committed),
      ...others.map((payment, index) => paid(payment, firstOther + index)),
    ],
    reveals: Array.from({ length: group.count }, (_, place) => ({
      at: pointerOf(terms, group, place) ?? start,
      output: terms.batchMode === 'shared-output' ? first : first + place,
    })),
    runestone,
    rest,
  });
}

const sentTo = ({ holds }: Arrived, input: number, output: number, runesTo: number): SentHoldings => ({
  input,
  holds,
  output,
  runesTo,
});

/** The outputs of the inscription, between outputs with the unused sats of the inventory output. */
function withInventory(
  terms: SettledTerms,
  group: FileGroup,
  inscriptions: readonly PlannedOutput[],
  { inventory }: RevealFunds,
): readonly PlannedOutput[] {
  if (inventory === undefined) return inscriptions;
  const { script, key, leafScript } = inventory;
  const [before, after] = leftOfInventory(terms, group).map((value): PlannedOutput[] =>
    value === 0n ? [] : [{ script, value, kind: 'inventory', own: { key, leafScript } }],
  );
  return [...(before ?? []), ...inscriptions, ...(after ?? [])];
}

function revealInputs(terms: SettledTerms, { payments, parents, inventory }: RevealFunds): PlannedInput[] {
  const [committed, ...others] = payments;
  const revealing = spent(
    committed,
    'leaf',
    claimedName(terms) === null ? replaceableSequence : maturityBlocks,
  );
  const kept = parents.map((parent) => spent(parent, 'key'));
  const paying = others.map((payment) => spent(payment, 'key'));
  if (revealsPostageFirst(terms)) return [revealing, ...kept, ...paying];
  const taken = inventory === undefined ? [] : [spent(inventory, 'key')];
  return [...taken, ...kept, revealing, ...paying];
}

/** Converts an output to an input of a plan. */
export const spent = (
  { txid, vout, value, script, key, leafScript, leafHash }: Arrived,
  path: PlannedInput['path'],
  sequence: number = replaceableSequence,
): PlannedInput => ({
  txid,
  vout,
  value,
  script,
  sequence,
  key,
  leafScript,
  ...(leafHash === undefined ? {} : { leafHash }),
  path,
});

/**
 * Outputs of the parents, with their unchanged values. The last reveal returns each parent to its owner; earlier
 * reveals return it to its deposit address.
 */
function parentOutputs(terms: SettledTerms, group: FileGroup, { parents }: RevealFunds): PlannedOutput[] {
  return parents.map(({ value, script, key, leafScript }, index) => {
    const owner = terms.parents[index];
    return owner !== undefined && isLast(terms, group)
      ? { script: owner.returnScript, value, kind: 'parent' }
      : { script, value, kind: 'parent', own: { key, leafScript } };
  });
}

/**
 * Outputs of the inscriptions. Pointers count from the first sat of all outputs. If the parents' values differ from the
 * values in the pointers, the first inscription's output absorbs the difference, and the other inscriptions keep their
 * positions.
 */
export function inscriptionOutputs(
  terms: SettledTerms,
  group: FileGroup,
  { parents }: { readonly parents: readonly { readonly value: bigint }[] },
): PlannedOutput[] | OrderRefusal {
  const kind = terms.burn ? 'burn' : 'postage';
  const outputs = postageOutputs(terms, group);
  const differs = valueOf(parents) - terms.parentsValue;
  const [first, ...others] = outputs;
  if (group.count === 1 || differs === 0n || first === undefined) {
    return outputs.map((output) => ({ ...output, kind }));
  }
  const value = first.value - differs;
  // in a shared output, the second inscription must not move onto the sat of the first inscription
  const least = first.value - terms.postage + BigInt(dustOf(first.script));
  if (value >= least) return [{ ...first, value }, ...others].map((output) => ({ ...output, kind }));
  const reason = `The parents have ${valueOf(parents)} sats, but the order says ${terms.parentsValue}, so its inscriptions cannot be placed. Send the parents in outputs of the ordered values.`;
  return refused('parent-value-differs', reason);
}

function partsOf(
  inputs: readonly Pick<PlannedInput, 'path' | 'leafScript'>[],
  outputs: readonly PlannedOutput[],
): Parts {
  const spending = inputs.reduce(
    (sum, { path, leafScript }) =>
      sum + (path === 'leaf' ? leafInputWeight(leafScript?.length ?? 0) : keyInputWeight),
    0,
  );
  const paying = outputs.reduce((sum, { script }) => sum + outputWeight(script), 0);
  return { inputs: inputs.length, outputs: outputs.length, weight: spending + paying };
}

/**
 * Our output of the reveal, which the burn will spend. It is P2TR, with enough sats for the fee of the burn and for our
 * output of the burn. Null if there are not enough sats.
 */
function ownBeforeBurn(terms: SettledTerms, parts: Parts, anchors: number, rest: bigint): OwnOutput | null {
  const weight = weightWith(parts, p2trOutputWeight);
  const fee = feeOf(weight, terms.feeRate);
  const value = rest - fee;
  const after = ownOutputFrom(burnParts(anchors), terms.feeRate, value);
  return value < p2trDust || after === null ? null : { kind: 'service', value, weight, fee };
}

function short(parts: Parts, terms: SettledTerms, anchors: number, rest: bigint): OrderRefusal {
  const output = terms.burn ? p2trOutputWeight : anchorOutputWeight;
  const fee = feeOf(weightWith(parts, output), terms.feeRate);
  const burning = feeOf(weightWith(burnParts(anchors), anchorOutputWeight), terms.feeRate);
  const own = terms.burn ? largest(burning + anchorDust, p2trDust) : anchorDust;
  return shortOf(fee + own - rest, 'transaction');
}

function ownOutput({ kind, value }: OwnOutput, { script, own }: OwnDestination): PlannedOutput {
  return kind === 'service' ? { script, value, kind, own } : { script: anchorScript, value, kind };
}

/**
 * Plans the commit of an order that was paid to the wallet. The commit has an output with the cost of each reveal. It
 * also has a change output if the change is large enough (commit-amounts.ts).
 */
export function planCommit(
  terms: OrderTerms,
  layout: OrderLayout,
  { payments, commits, feeInputs, change }: CommitFunds,
): TransactionPlan | OrderRefusal {
  const amounts = commitAmounts(terms, layout.reveals, payments);
  if (amounts.kind === 'refused') return amounts;
  assert(commits.length === amounts.reveals.length, 'a commit has a destination for each reveal');
  const inputs = payments.map((payment) => spent(payment, 'key'));
  const outputs = amounts.reveals.flatMap((reveal, index) =>
    commitOutputs(reveal, commits[index], feeInputs),
  );
  const left: PlannedOutput[] =
    amounts.change === null ? [] : [{ ...change, value: amounts.change, kind: 'change' }];
  const plan = planOf(inputs, [...outputs, ...left], terms.feeRate);
  const sent = payments.map((payment, input) => sentTo(payment, input, 0, 0));
  return withHoldings(plan, { sent, rest: 0 });
}

function commitOutputs(
  { committed, feeInput }: Pick<RevealLayout, 'committed' | 'feeInput'>,
  commit: OwnDestination | undefined,
  fees: OwnDestination,
): PlannedOutput[] {
  assert(commit !== undefined, 'a commit has a destination for each reveal');
  const kind = 'commit';
  const revealed: PlannedOutput = { ...commit, value: committed, kind };
  return feeInput === null ? [revealed] : [revealed, { ...fees, value: feeInput, kind }];
}

/**
 * Plans the transaction that burns a reveal's anchors. All sats of the anchors go to an OP_RETURN output. Anyone may
 * spend an anchor, so the reveal and the burn are sent as one package.
 */
export function planBurn(
  terms: OrderTerms,
  { anchors, payment, service }: BurnFunds,
): TransactionPlan | OrderRefusal {
  const inputs: PlannedInput[] = [
    // an anchor needs no signature
    ...anchors.map((anchor) => spent({ ...anchor, key: payment.key, leafScript: null }, 'key')),
    spent(payment, 'key'),
  ];
  const burned: PlannedOutput = { script: burnScript, value: valueOf(anchors), kind: 'burn' };
  const own = ownOutputFrom(burnParts(anchors.length), terms.feeRate, payment.value);
  if (own === null) {
    return refused('payment-short', 'The rest of the payment is not enough for the burn.');
  }
  const sent = [...anchors, payment].map(({ holds }, input) => ({ input, holds, output: 0, runesTo: 1 }));
  return withHoldings(planOf(inputs, [burned, ownOutput(own, service)], terms.feeRate), { sent, rest: 1 });
}

/**
 * Creates a plan and checks its invariants. The plan pays exactly the fee rate, all other sats go to its outputs, and
 * no output is dust.
 */
export function planOf(inputs: PlannedInput[], outputs: PlannedOutput[], feeRate: bigint): TransactionPlan {
  const fee = feeOf(plannedWeight({ inputs, outputs }), feeRate);
  const left = valueOf(inputs) - valueOf(outputs);
  assert(left === fee, `a plan that leaves ${left} sats for a fee of ${fee}`);
  for (const { value, script, kind } of outputs) {
    const least = script[0] === opReturn ? 0 : dustOf(script);
    assert(value >= BigInt(least), `an output of kind ${kind} of ${value} sats is dust`);
  }
  return { version: 2, lockTime: 0, inputs, outputs, feeMax: fee };
}
