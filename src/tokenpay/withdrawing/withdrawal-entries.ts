import { type LedgerEntry, satsAsset } from '#purse/ledger/ledger.ts';
import { receivedUnits, type Withdrawal } from './withdrawal.ts';

/** Facts about a batch's transaction that the ledger needs. */
export interface BatchTransaction {
  /** Txid in hex, in internal order. */
  readonly txid: string;
  /** Sats that the transaction paid to the miner. */
  readonly fee: bigint;
  /** Withdrawals that the transaction pays. */
  readonly paid: readonly Pick<Withdrawal, 'account' | 'asset' | 'amount' | 'fee' | 'postage' | 'payer'>[];
}

type Moved = Pick<LedgerEntry, 'from' | 'fromOwner' | 'to' | 'toOwner' | 'asset' | 'amount'>;

/**
 * The ledger entries of a batch, for each of its transactions that is in a block. Accounts pay the amounts of their
 * receivers. They also pay their prices to the operator, who pays the miner. If two transactions are mined, both get
 * entries, so an account that paid twice is in debt. Pure.
 */
export function withdrawalEntries(mined: readonly BatchTransaction[]): LedgerEntry[] {
  return mined.flatMap(({ txid, fee, paid }) =>
    [...paid.flatMap(movedBy), { ...ofOperator, to: 'fee' as const, asset: satsAsset, amount: fee }]
      .filter(({ amount }) => amount > 0n)
      .map((each) => ({ ...each, txid, vout: null })),
  );
}

const ofOperator = { from: 'operator', fromOwner: null, toOwner: null } as const;

function movedBy(withdrawal: BatchTransaction['paid'][number]): Moved[] {
  const { account, asset, fee, postage, payer } = withdrawal;
  const ofAccount = { from: 'token', fromOwner: account, toOwner: null } as const;
  const beneath = payer === 'operator' ? ofOperator : ofAccount;
  return [
    { ...ofAccount, to: 'outside', asset, amount: receivedUnits(withdrawal) },
    { ...beneath, to: 'outside', asset: satsAsset, amount: postage },
    { ...ofAccount, to: 'operator', asset: satsAsset, amount: payer === 'operator' ? 0n : fee },
  ];
}
