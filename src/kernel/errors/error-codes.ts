/** What an operating failure means and what to do about it. `docs/errors.md` is made from this table. */
export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly action: string;
  /** Whether the same call may succeed later with nothing changed by a person. */
  readonly retryable: boolean;
}

const table = {
  config_invalid: {
    meaning: 'A setting or a command line flag has a value that it cannot have.',
    action: 'Correct the setting that the message names; docs/configuration.md has the bounds.',
    retryable: false,
  },
  folder_invalid: {
    meaning: 'The blocks folder lacks chain.json or blocks/, or chain.json does not say what it must.',
    action: 'Compare the folder with docs/architecture.md, "Block folders".',
    retryable: false,
  },
  network_mismatch: {
    meaning: 'The source is of another network than the database.',
    action: 'Use another data folder or DATABASE_URL for that network: one database serves one network.',
    retryable: false,
  },
  block_unavailable: {
    meaning: 'A block that the chain names is not there or cannot be read.',
    action: 'Restore the file, or correct headers in chain.json.',
    retryable: true,
  },
  block_truncated: {
    meaning: 'A block or its spent outputs end before they are complete.',
    action: 'Copy the file again from a good source.',
    retryable: false,
  },
  block_oversized: {
    meaning: 'A block file is larger than a block can be, or has bytes behind the block.',
    action: 'Copy the file again from a good source.',
    retryable: false,
  },
  block_corrupt: {
    meaning:
      'A block does not hash to its name, or its proof of work, merkle root or witness commitment does not match.',
    action: 'Copy the file again from a good source.',
    retryable: false,
  },
  block_not_linked: {
    meaning: 'A block does not name the block before it as its parent.',
    action: 'Correct headers in chain.json, or set "gaps": true where blocks are left out.',
    retryable: false,
  },
  spent_outputs_mismatch: {
    meaning: 'The spent outputs do not fit the transactions of their block.',
    action: 'Copy the spent file of that block again.',
    retryable: false,
  },
  search_text_invalid: {
    meaning: 'The text of a search has no needle, too many, or one that is too long.',
    action: 'Send 1 to 32 needles of 1 to 1,000 characters each; docs/search.md, "Needles".',
    retryable: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof table;
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = table;
