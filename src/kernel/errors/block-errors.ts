import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of blocks, and of their source, which is a folder or a node. */
export const blockErrors = {
  folder_invalid: {
    meaning: 'The blocks folder lacks chain.json or blocks/, or chain.json is invalid.',
    action:
      'Name a folder like ./samples/mainnet (docs/architecture.md, "Block folders", has what it holds), or leave --blocks out to follow a node.',
    retry: 'never',
  },
  network_mismatch: {
    meaning: 'The source is of another network than the database.',
    action: 'Use another data folder or DATABASE_URL for that network: one database serves one network.',
    retry: 'never',
  },
  block_unavailable: {
    meaning:
      'A block of the chain, or what is needed of the outputs that it spends, is missing or cannot be read.',
    action:
      'Restore the file, or correct headers in chain.json. A node may still get it, or switch to another branch.',
    retry: 'replan',
    retryOnly: 'node',
  },
  block_truncated: {
    meaning: 'A block or its spent outputs end before they are complete.',
    action: 'Copy the file again from a good source; for a node, check what is between it and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_oversized: {
    meaning: 'A block is larger than any valid block, or has bytes after its end.',
    action: 'Copy the file again from a good source; for a node, check what is between it and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_corrupt: {
    meaning:
      'A block does not hash to its name, or its proof of work, merkle root or witness commitment does not match.',
    action: 'Copy the file again from a good source.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_not_linked: {
    meaning: 'A block does not name the block before it as its parent.',
    action: 'Correct headers in chain.json, or set "gaps": true if blocks are missing.',
    retry: 'few',
    retryOnly: 'node',
  },
  spent_outputs_mismatch: {
    meaning: 'The spent outputs do not fit the transactions of their block.',
    action: 'Copy the spent file of that block again.',
    retry: 'few',
    retryOnly: 'node',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
