import type { CoinsShort } from './choose-coins.ts';

/** Why no PSBT is built: an outcome that the customer can change. */
export interface PsbtRefusal {
  readonly kind: 'refused';
  /** Whole sentences for people: the fault, and what to send instead. */
  readonly reason: string;
  /** The field at fault. Null: no single one. */
  readonly parameter: string | null;
}

export const refusedPsbt = (reason: string, parameter: string | null = null): PsbtRefusal => ({
  kind: 'refused',
  reason,
  parameter,
});

/** Maximum number of shown reasons why coins are omitted. */
const reasonsMax = 5;

/**
 * The words that public clients show if coins do not suffice (client compatibility, 2.3), and the coins that were left
 * out.
 */
export function notEnough({
  kind,
  there,
  needed,
  leftOut,
}: CoinsShort & { readonly leftOut: ReadonlyMap<string, number> }): PsbtRefusal {
  const lines = [
    'Not enough cardinal spendable funds.',
    `Address has: ${there} sats`,
    `Needed: ${needed} sats`,
  ];
  if (kind === 'too-many')
    lines.push('Nodes do not relay a transaction with more outputs: join some of them first.');
  const reasons = [...leftOut].toSorted(([, a], [, b]) => b - a).slice(0, reasonsMax);
  if (reasons.length > 0)
    lines.push(`Not spent: ${reasons.map(([reason, count]) => `${count} (each ${reason})`).join(', ')}`);
  return refusedPsbt(lines.join('\n'));
}
