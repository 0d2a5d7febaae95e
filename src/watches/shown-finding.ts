import type { Finding, FindingFacts, FindingState } from './watch.ts';

/** A finding in answers and in webhooks. Fields of its kind are next to these fields. */
export interface ShownFinding {
  readonly id: string;
  readonly number: number;
  readonly state: FindingState;
  readonly txid: string;
  readonly height: number | null;
  readonly blockHash: string | null;
  readonly replacedBy: string | null;
  readonly firstSeen: string;
  readonly changedAt: string;
}

/** Shows a finding in the form of answers and webhooks. */
export function shownFinding(finding: Finding): ShownFinding & FindingFacts {
  const { id, number, state, facts, txid, height, blockHash, replacedBy, firstSeen, changedAt } = finding;
  return {
    id,
    number,
    state,
    ...facts,
    txid,
    height,
    blockHash,
    replacedBy,
    firstSeen: firstSeen.toISOString(),
    changedAt: changedAt.toISOString(),
  };
}
