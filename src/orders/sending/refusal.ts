/**
 * What a refusal means. `held`: the node's mempool has it already; `mined`: a block has it. `missing`: what it spends is
 * spent or unknown. `fee`: it pays less than the node takes now. `temporary`: it may be taken later as it is. `lasting`:
 * this node never takes it.
 */
export type RefusalKind = 'held' | 'mined' | 'missing' | 'fee' | 'temporary' | 'lasting';

/** Why a node does not take a transaction. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** In its own words. */
  readonly reason: string;
}

/**
 * The beginnings of Bitcoin Core's reasons (validation.cpp, txmempool.cpp, policy.cpp), which are the same in all of its
 * versions. What begins otherwise is about the transaction itself, which does not change.
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

/** What the reason of a node means, with what it says beyond it. Pure. */
export function refusalOf(reason: string, details = ''): Refusal {
  const found = kinds.find(([, beginnings]) => beginnings.some((beginning) => reason.startsWith(beginning)));
  return { kind: found?.[0] ?? 'lasting', reason: details.startsWith(reason) ? details : reason };
}
