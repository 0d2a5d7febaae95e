import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of `satscribe backup` and `satscribe restore`. */
export const backupErrors = {
  backup_exists: {
    meaning: 'The folder for the backup is not empty: a backup is never written over anything.',
    action: 'Name a folder that does not exist, or an empty one.',
    retry: 'never',
  },
  backup_incomplete: {
    meaning: 'The backup would lack something that the service needs, so it was not made.',
    action:
      'Bring back the files that the message names, for example from an earlier backup, and run the command again.',
    retry: 'never',
  },
  backup_damaged: {
    meaning: 'The backup is incomplete, or its bytes were changed. Nothing was restored.',
    action: 'Restore another backup, or copy this one again from the place where it was made.',
    retry: 'never',
  },
  backup_newer: {
    meaning: 'A later version of the program made the backup, so this version cannot read it.',
    action: 'Install the version that the message names, or a later one, and run the command again.',
    retry: 'never',
  },
  restore_refused: {
    meaning:
      'The restore would mix with a service, write over a file, or not fit on a disk. Nothing was changed.',
    action:
      'Do what the message says: use an empty database, move the named file away, or make room. Then run the command again.',
    retry: 'never',
  },
  restored_on_hold: {
    meaning:
      'The database was restored from a backup. Payouts, withdrawals and refunds without a signed transaction wait, because the service may have paid them after the backup. Everything else works.',
    action:
      'Read `satscribe payouts held`: it names payments in the chain that the backup does not know. Then run `satscribe payouts release`, which books them and makes the others.',
    retry: 'never',
  },
  release_refused: {
    meaning:
      'Payments stay on hold after the restore, because the chain is not followed to its tip, or has payments that the database lacks or that cannot be told from those that wait.',
    action:
      'Do what the message says, then run `satscribe payouts release` again. It changes nothing until it succeeds.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
