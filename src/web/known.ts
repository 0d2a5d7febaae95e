/** What decides which fields of a block's inscriptions are known (docs/schema.md). */
export interface KnownFacts {
  readonly anchored: boolean;
  readonly hasSpent: boolean;
  readonly sequenced: boolean;
}

export interface Known {
  readonly known: string;
  /** What is not known, and why; null where all is. */
  readonly unknown: string | null;
  readonly why: string | null;
}

const missingHistory = 'blocks before it are missing';
const missingSpent = 'the outputs that it spends are not given';

/** What is known of the inscriptions of a block, and why, in words. */
export function knownOf({ anchored, hasSpent, sequenced }: KnownFacts): Known {
  const always = 'ids, contents, metadata';
  if (anchored && hasSpent) {
    return {
      known: 'everything: its whole history and the outputs that it spends',
      unknown: null,
      why: null,
    };
  }
  if (hasSpent) {
    return {
      known: `${always}, places, values, fees${sequenced ? ', and sequence numbers, as their start is proven' : ''}`,
      unknown: 'numbers, charms, which parents hold',
      why: missingHistory,
    };
  }
  return {
    known: always,
    unknown: 'places, values, fees, numbers, charms, which parents hold',
    why: anchored ? missingSpent : `${missingSpent}, and ${missingHistory}`,
  };
}
