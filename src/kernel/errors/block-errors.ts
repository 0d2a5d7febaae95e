import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of blocks, and of their source, which is a folder or a node. */
export const blockErrors = {
  folder_invalid: {
    meaning: 'The blocks folder lacks chain.json or blocks/, or chain.json is invalid.',
    action:
      'Name a folder like ./samples/mainnet, or leave --blocks out to follow a node. docs/architecture.md, "Block folders", describes the files of a folder.',
    retry: 'never',
  },
  network_mismatch: {
    meaning: 'The source belongs to another network than the database.',
    action:
      'Correct NETWORK, or the address of the node. To serve another network, use another DATA_DIR or another DATABASE_URL, because one database serves one network.',
    retry: 'never',
  },
  block_unavailable: {
    meaning: 'A block of the chain, or the data of the outputs that it spends, is missing or cannot be read.',
    action:
      'Restore the file, or correct `headers` in chain.json. A node may still receive the block, or switch to another branch.',
    retry: 'replan',
    retryOnly: 'node',
  },
  block_truncated: {
    meaning: 'The data of a block, or of its spent outputs, is incomplete.',
    action:
      'Copy the file again from a good source. If the source is a node, check the network and the proxies between the node and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_oversized: {
    meaning: 'A block is larger than any valid block, or has bytes after its end.',
    action:
      'Copy the file again from a good source. If the source is a node, check the network and the proxies between the node and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_corrupt: {
    meaning:
      'The hash of a block is not its name, or its proof of work, merkle root or witness commitment does not match.',
    action: 'Copy the file again from a good source.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_not_linked: {
    meaning: 'The parent of a block is not the block before it in the chain.',
    action: 'Correct `headers` in chain.json, or set "gaps": true if blocks are missing.',
    retry: 'few',
    retryOnly: 'node',
  },
  spent_outputs_mismatch: {
    meaning: 'The spent outputs do not match the transactions of their block.',
    action: 'Copy the spent file of that block again.',
    retry: 'few',
    retryOnly: 'node',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
