import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the wallet that orders use, and of the transactions that it should sign. */
export const walletErrors = {
  wallet_missing: {
    meaning: 'The database has no wallet, so no order can be paid.',
    action: 'Make one with `satscribe wallet init` (docs/wallet.md).',
    retry: 'never',
  },
  wallet_exists: {
    meaning: 'The database already has a wallet, and a wallet is never replaced.',
    action:
      'Read in the message whether the seed file belongs to this wallet. If so, no action is needed. Otherwise use the seed file with the fingerprint that `satscribe wallet show` prints. A second wallet needs another database.',
    retry: 'never',
  },
  wallet_seed_exists: {
    meaning: 'The seed file already exists, and a seed file is never overwritten.',
    action:
      'Name another file. To use the existing file in a new database, put its mark file beside it, or run the command again with --first-index (docs/wallet.md).',
    retry: 'never',
  },
  wallet_seed_missing: {
    meaning: 'There is no seed file, so nothing can be signed.',
    action:
      'Set WALLET_SEED_FILE to the seed file, or restore the seed file from its backup (docs/wallet.md). After the loss of a machine, `satscribe restore DIR` also brings back the seed, before the first start of the service.',
    retry: 'never',
  },
  wallet_seed_refused: {
    meaning:
      'The seed file is readable by other users, belongs to another user, is a link, or has no BIP 39 words.',
    action:
      'Correct the fault in the message. The file must be an ordinary file of the user that runs the service, with mode 600 (`chmod 600`).',
    retry: 'never',
  },
  wallet_seed_mismatch: {
    meaning: 'The seed file belongs to another wallet than the database, or to another network.',
    action: 'Use the seed file of this database. `satscribe wallet show` prints its fingerprint.',
    retry: 'never',
  },
  wallet_indices_unreleased: {
    meaning:
      'No address can be shown, because the process with the seed has not released any indices of the wallet, or no released index is left.',
    action:
      'Customers: send the request again in a minute. Operators: run one process with WALLET_SEED_FILE (role `all` or `orders`). Its log and `satscribe wallet show` say why it does not release indices (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_missing: {
    meaning:
      'The mark file of the wallet is missing, although this database was used with a mark file. Without this file no one knows which addresses were shown after the backup of the database, so no more addresses are shown.',
    action:
      'Restore the mark file to its place (WALLET_MARK_FILE, or else beside the seed file). If the file is lost, run `satscribe wallet skip`. It skips 1,000,000 addresses, far more than can have been shown, and makes a new mark file (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_refused: {
    meaning:
      'Other users can change the mark file of the wallet, or the file is a link, or its content is damaged. No more addresses are shown.',
    action:
      'Correct the owner and the mode that the message names (`chmod 600`). If the content is damaged, run `satscribe wallet skip`. It skips 1,000,000 addresses and writes the file again (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_mismatch: {
    meaning: 'The mark file belongs to another wallet or to another network. No more addresses are shown.',
    action:
      'Set WALLET_MARK_FILE to the mark file of this wallet. `satscribe wallet show` prints the fingerprint of the wallet. The mark file of another wallet is never overwritten.',
    retry: 'minute',
  },
  wallet_mark_unwritable: {
    meaning:
      'The mark file of the wallet cannot be written, because its folder is missing, read-only or full, or belongs to another user. No more addresses are shown.',
    action:
      'Give the user of the service the right to write to the folder. If the folder of the seed is read-only, as for secrets of containers, set WALLET_MARK_FILE to a file on a permanent volume.',
    retry: 'minute',
  },
  order_unspendable: {
    meaning:
      'The service did not show an address, because it would not be able to spend payments to this address. No money was lost.',
    action: 'Please report this failure with its message.',
    retry: 'never',
  },
  plan_refused: {
    meaning:
      'The wallet did not sign a transaction, because its plan breaks a rule of the wallet. Nothing was sent.',
    action:
      'Please report this failure with its message, which names the rule (docs/wallet.md, "What it signs").',
    retry: 'never',
  },
  recovery_refused: {
    meaning: 'The outputs at the address of a recovery kit cannot be taken back as requested.',
    action: 'Read the reason in the message (docs/wallet.md, "Recovering a payment").',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
