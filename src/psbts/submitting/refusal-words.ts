/** Prefixes of Bitcoin Core's reasons, and their meaning for the sender. The message also contains Core's own words. */
const meanings: readonly (readonly [beginning: string, meaning: string])[] = [
  ['max-fee-exceeded', 'its fee is above 0.1 BTC for 1,000 virtual bytes, which can only be a mistake'],
  ['missing-inputs', 'it spends an output that does not exist, or that another transaction has spent'],
  [
    'bad-txns-inputs-missingorspent',
    'it spends an output that does not exist, or that another transaction has spent',
  ],
  ['min relay fee not met', 'its fee is below what the node relays; sign a transaction with a higher fee'],
  [
    'mempool min fee not met',
    'its fee is below what the node accepts now; sign a transaction with a higher fee',
  ],
  ['mempool full', 'its fee is below what the node accepts now; sign a transaction with a higher fee'],
  [
    'insufficient fee',
    'it would replace a transaction that pays as much or more; sign a transaction with a higher fee',
  ],
  [
    'replacement-failed',
    'it would replace a transaction that pays as much or more; sign a transaction with a higher fee',
  ],
  [
    'txn-mempool-conflict',
    'another transaction in the mempool spends the same output, and cannot be replaced',
  ],
  [
    'bip125-replacement-disallowed',
    'another transaction in the mempool spends the same output, and cannot be replaced',
  ],
  ['too many potential replacements', 'it would replace more transactions than the node allows'],
  ['bad-txns-spends-conflicting-tx', 'it spends an output of a transaction that it would replace'],
  ['non-final', 'its lock time is not reached yet; send it again after that'],
  ['non-BIP68-final', 'an input is locked for some more blocks; send it again after these blocks'],
  ['bad-txns-premature-spend-of-coinbase', 'it spends a reward of a miner that is too young to be spent'],
  ['too-long-mempool-chain', 'too many unconfirmed transactions depend on each other; wait for a block'],
  ['too-large-cluster', 'too many unconfirmed transactions depend on each other; wait for a block'],
  ['TRUC-violation', 'it breaks a rule for transactions of version 3'],
  ['dust', 'an output has fewer sats than nodes relay'],
  ['scriptpubkey', 'an output has a script that nodes do not relay'],
  ['bad-txns-in-belowout', 'its outputs have more sats than its inputs'],
  ['mandatory-script-verify-flag-failed', 'a signature is wrong'],
  ['mempool-script-verify-flag-failed', 'a signature is wrong, or has a form that nodes do not relay'],
  ['non-mandatory-script-verify-flag', 'a signature is wrong, or has a form that nodes do not relay'],
];

/** Explains in a sentence why a node does not accept a transaction. Pure. */
export function refusalWords(reason: string): string {
  const [, meaning] = meanings.find(([beginning]) => reason.startsWith(beginning)) ?? [];
  return meaning === undefined
    ? `The node does not accept the transaction: ${reason}.`
    : `The node does not accept the transaction, because ${meaning} (${reason}).`;
}
