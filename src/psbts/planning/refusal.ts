import type { CoinsShort } from './choose-coins.ts';

/** The reason why no PSBT is built. The customer can change the outcome with another request. */
export interface PsbtRefusal {
  readonly kind: 'refused';
  /** Complete sentences for people, with the fault and the correct request. */
  readonly reason: string;
  /** The field with the fault, or null if the fault concerns no single field. */
  readonly parameter: string | null;
}

export const refusedPsbt = (reason: string, parameter: string | null = null): PsbtRefusal => ({
  kind: 'refused',
  reason,
  parameter,
});

/** Maximum number of reasons that are shown for omitted coins. */
const reasonsMax = 5;

/**
 * The refusal for too few coins, in the words that public clients show (client compatibility, 2.3). Also names the
 * coins that were omitted.
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
    lines.push('Nodes do not relay a transaction with more outputs. Join some of them first.');
  const reasons = [...leftOut].toSorted(([, a], [, b]) => b - a).slice(0, reasonsMax);
  if (reasons.length > 0)
    lines.push(`Not spent: ${reasons.map(([reason, count]) => `${count} (each ${reason})`).join(', ')}`);
  return refusedPsbt(lines.join('\n'));
}
