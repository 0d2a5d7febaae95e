/**
 * Meaning of a refusal:
 *
 * - `held`: the transaction is already in the node's mempool.
 * - `mined`: the transaction is in a block.
 * - `missing`: an input is spent or unknown.
 * - `fee`: the transaction pays less than the node accepts now.
 * - `temporary`: the node may accept the unchanged transaction later.
 * - `lasting`: this node never accepts the transaction.
 */
export type RefusalKind = 'held' | 'mined' | 'missing' | 'fee' | 'temporary' | 'lasting';

/** A node's refusal of a transaction. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** The reason in the node's words. */
  readonly reason: string;
}

/**
 * Prefixes of Bitcoin Core's reasons (validation.cpp, txmempool.cpp, policy.cpp). They are the same in all versions.
 * Any other reason is about the transaction itself, so a later try would fail again.
 */
const kinds: readonly (readonly [RefusalKind, readonly string[]])[] = [
  ['held', ['txn-already-in-mempool', 'txn-same-nonwitness-data-in-mempool']],
  ['mined', ['txn-already-known', 'Transaction outputs already in utxo set']],
  ['missing', ['missing-inputs', 'bad-txns-inputs-missingorspent']],
  [
    'fee',
    [
      'mempool min fee not met',
      'min relay fee not met',
      'mempool full',
      'insufficient fee',
      'package-fee-too-low',
      'replacement-failed',
    ],
  ],
  [
    'temporary',
    [
      'too-long-mempool-chain',
      'too-large-cluster',
      'too many potential replacements',
      'txn-mempool-conflict',
      'bip125-replacement-disallowed',
      'bad-txns-spends-conflicting-tx',
      'non-final',
      'non-BIP68-final',
      'bad-txns-premature-spend-of-coinbase',
      'package-not-validated',
    ],
  ],
];

/** Determines the meaning of a node's reason and its details. Pure. */
export function refusalOf(reason: string, details = ''): Refusal {
  const found = kinds.find(([, beginnings]) => beginnings.some((beginning) => reason.startsWith(beginning)));
  return { kind: found?.[0] ?? 'lasting', reason: details.startsWith(reason) ? details : reason };
}
