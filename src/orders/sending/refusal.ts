/**
 * Meaning of a refusal. `held`: the transaction is already in the node's mempool. `mined`: it is in a block. `missing`:
 * an input is spent or unknown. `fee`: it pays less than the node accepts now. `temporary`: the unchanged transaction
 * may be accepted later. `lasting`: this node never accepts it.
 */
export type RefusalKind = 'held' | 'mined' | 'missing' | 'fee' | 'temporary' | 'lasting';

/** A node's refusal of a transaction. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** The node's own words. */
  readonly reason: string;
}

/**
 * Prefixes of Bitcoin Core's reasons (validation.cpp, txmempool.cpp, policy.cpp), which are the same in all its
 * versions. Other reasons are about the transaction itself, so they never change.
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

/** Determines the meaning of a node's reason, with its details. Pure. */
export function refusalOf(reason: string, details = ''): Refusal {
  const found = kinds.find(([, beginnings]) => beginnings.some((beginning) => reason.startsWith(beginning)));
  return { kind: found?.[0] ?? 'lasting', reason: details.startsWith(reason) ? details : reason };
}
