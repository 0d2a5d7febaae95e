import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { CoinKey } from '#purse/coins/coin-keys.queries.ts';

/** An input of a found transaction. */
export interface FoundInput {
  /** `<txid>:<vout>`, with the txid in display order. */
  readonly outpoint: string;
  /** Value in sats. Null while the transaction is only in the mempool. */
  readonly value: bigint | null;
  /** Script in hex. Null while the transaction is only in the mempool. */
  readonly script: string | null;
  /** Key of the wallet, or null if the input is not of the wallet. */
  readonly key: WalletKey | null;
  /** The coin in the table of coins, or null if the table does not have it. */
  readonly coin: CoinKey | null;
}

/** An output of a found transaction. */
export interface FoundOutput {
  readonly value: bigint;
  /** Script in hex. */
  readonly script: string;
  readonly address: string | null;
  /** Key of the wallet, or null if the output pays others. */
  readonly key: WalletKey | null;
}

/**
 * A transaction after the backup that the database does not know. It spends a coin of the wallet, or pays what a
 * payment on hold would pay.
 */
export interface FoundTransaction {
  /** In display order. */
  readonly txid: string;
  /** Height of its block. Null while the transaction is only in the mempool. */
  readonly height: number | null;
  /** Serialized transaction in hex. */
  readonly hex: string;
  readonly inputs: readonly FoundInput[];
  readonly outputs: readonly FoundOutput[];
}

/** Whether the wallet signed the whole transaction. */
export const isOfWallet = ({ inputs }: Pick<FoundTransaction, 'inputs'>): boolean =>
  inputs.length > 0 && inputs.every(({ key }) => key !== null);

/**
 * Whether the wallet paid with coins of accounts or of the service. The money of an order is paid only once, because
 * its transactions spend the payment of the order.
 */
export const spendsOwnMoney = (found: Pick<FoundTransaction, 'inputs'>): boolean =>
  isOfWallet(found) &&
  found.inputs.every(({ coin }) => coin?.held !== 'reserved') &&
  // a key of branch 1 without a coin is of change that another found transaction made
  found.inputs.some(({ coin, key }) => coin !== null || key?.branch === 1);

/** Whether an output is an OP_RETURN, for example a runestone. */
export const isReturn = ({ script }: Pick<FoundOutput, 'script'>): boolean => script.startsWith(returnOpcode);

/** Outputs that pay others. */
export const paymentsOf = ({ outputs }: Pick<FoundTransaction, 'outputs'>): readonly FoundOutput[] =>
  outputs.filter((output) => output.key === null && !isReturn(output));

/** Outputs of the wallet, as `<txid>:<vout>`. */
export const ownOutputs = ({ txid, outputs }: Pick<FoundTransaction, 'txid' | 'outputs'>): string[] =>
  outputs.flatMap(({ key }, vout) => (key === null ? [] : [`${txid}:${vout}`]));

/** OP_RETURN in hex. */
const returnOpcode = '6a';
