import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the wallet that orders use, and of the transactions that it should sign. */
export const walletErrors = {
  wallet_missing: {
    meaning: 'The database has no wallet, so no order can be paid.',
    action: 'Make one with `satscribe wallet init` (docs/wallet.md).',
    retry: 'never',
  },
  wallet_exists: {
    meaning: 'The database has a wallet already: it is never replaced.',
    action:
      'Nothing where the message says that it is that of the seed file. Else use its seed file; `satscribe wallet show` gives its fingerprint. Another wallet needs another database.',
    retry: 'never',
  },
  wallet_seed_exists: {
    meaning: 'The seed file exists already: it is never written over.',
    action:
      'Name another file; or, to use this one in a new database, bring its mark file beside it, or run the command again with --first-index (docs/wallet.md).',
    retry: 'never',
  },
  wallet_seed_missing: {
    meaning: 'There is no seed file, so nothing can be signed.',
    action: 'Set WALLET_SEED_FILE to the seed file, or restore it from its backup (docs/wallet.md).',
    retry: 'never',
  },
  wallet_seed_refused: {
    meaning:
      'The seed file can be read by others than its owner, is another’s, a link, or holds no BIP 39 words.',
    action: 'Correct what the message names: an ordinary file of the service’s own user, with `chmod 600`.',
    retry: 'never',
  },
  wallet_seed_mismatch: {
    meaning: 'The seed file is of another wallet than that of the database, or of another network.',
    action: 'Name the seed file of this database; `satscribe wallet show` gives its fingerprint.',
    retry: 'never',
  },
  wallet_indices_unreleased: {
    meaning:
      'No address can be shown, because the process with the seed has released no indices of the wallet, or none that are left.',
    action:
      'Customers: send it again in a minute. Operators: run one process with WALLET_SEED_FILE (`all` or `orders`); its log and `satscribe wallet show` say what keeps it from releasing indices (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_missing: {
    meaning:
      'The mark file of the wallet is missing, although this database was used with one. Nothing else knows which addresses were shown after the database was dumped, so no more are.',
    action:
      'Bring the file back from where it was (WALLET_MARK_FILE, else beside the seed file). Where it is lost: `satscribe wallet skip` moves on by 1,000,000 addresses, far beyond all that can have been shown, and makes a new one (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_refused: {
    meaning:
      'The mark file of the wallet can be changed by others than its owner, is a link, or its content is damaged. No more addresses are shown.',
    action:
      'Correct the owner and mode that the message names (`chmod 600`). Where its content is damaged: `satscribe wallet skip` moves on by 1,000,000 addresses and writes it again (docs/wallet.md, "The high-water mark").',
    retry: 'minute',
  },
  wallet_mark_mismatch: {
    meaning: 'The mark file is of another wallet, or of another network. No more addresses are shown.',
    action:
      'Name the mark file of this wallet with WALLET_MARK_FILE; `satscribe wallet show` gives its fingerprint. Nothing writes over that of another wallet.',
    retry: 'minute',
  },
  wallet_mark_unwritable: {
    meaning:
      'The mark file of the wallet cannot be written: its folder is missing, read-only or full, or belongs to another user. No more addresses are shown.',
    action:
      'Let the user of the service write to its folder. Where the folder of the seed is read-only, as secrets of containers are, name a file on a lasting volume with WALLET_MARK_FILE.',
    retry: 'minute',
  },
  order_unspendable: {
    meaning: 'An address was not shown, because what is paid to it could not be spent. No money was lost.',
    action: 'Please report it, with the message.',
    retry: 'never',
  },
  plan_refused: {
    meaning:
      'The wallet did not sign a transaction, because its plan breaks a rule of the wallet. Nothing was sent.',
    action: 'Please report it, with the message: it names the rule (docs/wallet.md, "What it signs").',
    retry: 'never',
  },
  recovery_refused: {
    meaning: 'The outputs at the address of a recovery kit cannot be taken back as requested.',
    action: 'Read the reason in the message (docs/wallet.md, "Recovering a payment").',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
