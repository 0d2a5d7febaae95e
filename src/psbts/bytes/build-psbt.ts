import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import { previousTransactions } from './previous-transactions.ts';
import { type WrittenPsbt, writePsbt } from './write-psbt.ts';

/** A transaction that is ready to be signed by wallets. */
export interface BuiltPsbt {
  readonly kind: 'built';
  readonly plan: PsbtPlan;
  readonly psbt: WrittenPsbt;
  /** Requested fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** Sentences for the customer. */
  readonly warnings: readonly string[];
  /** Sentences about kinds of contents that were not searched for. */
  readonly unproven: readonly string[];
}

/**
 * Writes a plan as a PSBT, with the previous transactions that the signers need. Throws the codes of
 * `previousTransactions`.
 */
export async function buildPsbt(
  node: NodeRpc,
  plan: PsbtPlan,
  { feeRate, warnings, unproven }: Pick<BuiltPsbt, 'feeRate' | 'warnings' | 'unproven'>,
): Promise<BuiltPsbt> {
  const previous = await previousTransactions(node, plan.inputs);
  const psbt = writePsbt(plan, previous.byInput);
  return { kind: 'built', plan, psbt, feeRate, warnings: [...warnings, ...previous.warnings], unproven };
}
