import assert from 'node:assert/strict';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { maxU128 } from '#kernel/runes/u128.ts';
import { type DraftFault, WithdrawalDraft } from './withdrawal-draft.ts';
import { withdrawalFault } from './withdrawal-fault.ts';
import { edictsOf, layOut, stoneScript } from './withdrawal-layout.ts';
import type {
  PlannedBatch,
  PricedWithdrawal,
  WithdrawalBatch,
  WithdrawalRefusal,
  WithdrawalWait,
} from './withdrawal-plan.ts';

type Verdict =
  | { readonly kind: 'refused'; readonly refusal: WithdrawalRefusal }
  | { readonly kind: 'waits'; readonly wait: WithdrawalWait };

/**
 * Plans one transaction for withdrawals, in the order of the requests. Withdrawals that do not fit wait for the next
 * transaction. Pure, total. Costs O(withdrawals + coins log coins) if the runestone has room for all withdrawals.
 *
 * Asserts these invariants according to the rules of runes: each receiver gets its sats and units, all other units of
 * the inputs go to the change, nothing is burned, no sat appears or disappears except the fee.
 */
export function planWithdrawals(batch: WithdrawalBatch): PlannedBatch {
  const draft = new WithdrawalDraft(batch);
  const verdicts = new Map<string, Verdict>();
  const tryAgain: PricedWithdrawal[] = [];
  for (const withdrawal of batch.withdrawals) {
    const refusal = refusalOf(withdrawal, batch);
    const verdict =
      refusal === null ? addTo(draft, withdrawal, batch) : { kind: 'refused' as const, refusal };
    if (verdict === null) continue;
    verdicts.set(withdrawal.id, verdict);
    if (verdict.kind === 'waits' && verdict.wait.code === 'coins') tryAgain.push(withdrawal);
  }
  // the first withdrawal must pay for the fixed parts of the transaction; if it could not, later withdrawals may have
  // paid for these parts by now
  for (const withdrawal of draft.isEmpty ? [] : tryAgain) {
    const verdict = addTo(draft, withdrawal, batch);
    if (verdict === null) verdicts.delete(withdrawal.id);
  }
  return { plan: planOf(draft, batch), ...parted(verdicts) };
}

function addTo(draft: WithdrawalDraft, withdrawal: PricedWithdrawal, batch: WithdrawalBatch): Verdict | null {
  const isAlone = draft.isEmpty;
  const fault = draft.add(withdrawal);
  return fault === null ? null : verdictOf(fault, batch, isAlone);
}

function planOf(draft: WithdrawalDraft, batch: WithdrawalBatch): PlannedBatch['plan'] {
  if (draft.withdrawals.length === 0) return null;
  const plan = layOut(draft, batch);
  assert(plan !== null, 'a draft has the sats for its transaction');
  const held = plan.inputs.map(({ runes }) => runes);
  const fault = withdrawalFault(plan, held, batch.limits);
  assert(fault === null, `a plan of withdrawals: ${fault}`);
  return plan;
}

/** Finds a fault of the withdrawal itself. Other coins of the wallet cannot change such a fault. */
export function refusalOf(
  { rune, units, sats, script }: PricedWithdrawal,
  { change, limits }: Pick<WithdrawalBatch, 'change' | 'limits'>,
): WithdrawalRefusal | null {
  if (units <= 0n || units > maxU128 || (rune === null && sats > units)) return { code: 'amount' };
  const checked = checkDestination({ script, amount: null }, (own) => Buffer.compare(own, change) === 0);
  if (checked.kind === 'refused') return { code: 'destination', fault: checked.code, reason: checked.reason };
  const least = BigInt(dustOf(script));
  if (sats < least) return { code: 'dust', sats, least };
  const bytes = rune === null ? 0 : bytesAlone({ rune, units, sats, script, id: '', account: '' });
  return bytes > limits.dataCarrierBytes
    ? { code: 'runestone', bytes, bytesMax: limits.dataCarrierBytes }
    : null;
}

/** Size of a runestone with only this edict, in bytes. */
const bytesAlone = (withdrawal: PricedWithdrawal): number => stoneScript(edictsOf([withdrawal], 1)).length;

/**
 * Converts a fault of a draft to a verdict. If the transaction is empty, the fault is final, unless other coins without
 * an owner could remove the fault.
 */
function verdictOf(
  fault: DraftFault,
  { limits: { inputsMax, dataCarrierBytes, weightMax } }: WithdrawalBatch,
  isAlone: boolean,
): Verdict {
  if (fault.code === 'coins') return { kind: 'waits', wait: fault };
  if (!isAlone || (fault.code === 'inputs' && !fault.isOwn))
    return { kind: 'waits', wait: { code: fault.code } };
  switch (fault.code) {
    case 'inputs':
      return { kind: 'refused', refusal: { code: 'inputs', most: fault.most, inputsMax } };
    case 'runestone':
      return { kind: 'refused', refusal: { ...fault, bytesMax: dataCarrierBytes } };
    case 'weight':
      return { kind: 'refused', refusal: { ...fault, weightMax } };
  }
}

function parted(verdicts: ReadonlyMap<string, Verdict>): Pick<PlannedBatch, 'waiting' | 'refused'> {
  const all = [...verdicts];
  return {
    waiting: all.flatMap(([id, verdict]) => (verdict.kind === 'waits' ? [{ id, wait: verdict.wait }] : [])),
    refused: all.flatMap(([id, verdict]) =>
      verdict.kind === 'refused' ? [{ id, refusal: verdict.refusal }] : [],
    ),
  };
}
