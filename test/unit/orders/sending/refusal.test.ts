import { describe, expect, test } from 'vitest';
import { refusalOf } from '#orders/sending/refusal.ts';

describe('a node’s reason to refuse a transaction', () => {
  test.each([
    ['txn-already-in-mempool', 'held'],
    ['txn-already-known', 'mined'],
    ['missing-inputs', 'missing'],
    ['bad-txns-inputs-missingorspent', 'missing'],
    ['mempool min fee not met', 'fee'],
    ['min relay fee not met', 'fee'],
    ['insufficient fee', 'fee'],
    ['mempool full', 'fee'],
    ['too-long-mempool-chain', 'temporary'],
    ['too-large-cluster', 'temporary'],
    ['txn-mempool-conflict', 'temporary'],
    ['non-final', 'temporary'],
    ['bad-txns-spends-conflicting-tx', 'temporary'],
    ['bad-witness-nonstandard', 'lasting'],
    ['tx-size', 'lasting'],
    ['scriptpubkey', 'lasting'],
    ['datacarrier', 'lasting'],
    ['dust', 'lasting'],
    ['mempool-script-verify-flag-failed (Invalid Schnorr signature)', 'lasting'],
    ['what a later version says', 'lasting'],
  ])('%s is %s', (reason, kind) => {
    expect(refusalOf(reason)).toEqual({ kind, reason });
  });

  test('has its details, if they begin with it', () => {
    expect(refusalOf('min relay fee not met', 'min relay fee not met, 100 < 110').reason).toBe(
      'min relay fee not met, 100 < 110',
    );
    expect(refusalOf('missing-inputs', 'bad-txns-inputs-missingorspent').reason).toBe('missing-inputs');
  });
});
