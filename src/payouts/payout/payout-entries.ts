import { type LedgerEntry, satsAsset } from '#purse/ledger/ledger.ts';
import type { PayoutShare, PayoutTransaction } from './payout.ts';

/**
 * The ledger entries of a payout. For each transaction that is in a block, the shares go outside, and the operator pays
 * the miner's fee. Sats that were never in the ledger have no entry. If two transactions are mined, both get entries,
 * so a partner who received a share twice is in debt. Pure.
 */
export const payoutEntries = (
  shares: readonly Pick<PayoutShare, 'account' | 'owner' | 'sats'>[],
  transactions: readonly Pick<PayoutTransaction, 'txid' | 'fee' | 'height'>[],
): LedgerEntry[] =>
  transactions
    .filter(({ height }) => height !== null)
    .flatMap(({ txid, fee }): LedgerEntry[] => {
      const common = {
        toOwner: null,
        asset: satsAsset,
        txid: Buffer.from(txid).toString('hex'),
        vout: null,
      };
      return [
        ...shares.flatMap(({ account, owner, sats }): LedgerEntry[] =>
          account === 'outside'
            ? []
            : [{ ...common, from: account, fromOwner: owner, to: 'outside', amount: sats }],
        ),
        { ...common, from: 'operator', fromOwner: null, to: 'fee', amount: fee },
      ];
    });
