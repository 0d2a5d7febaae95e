import { frameWeight, outputWeight, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutputKind } from '#kernel/contracts/transaction-plan.ts';
import type { StoredHoldings } from './stored-holdings.ts';

/** A plan as it is stored: outpoints as `<txid>:<vout>`, and outputs by their kinds. Amounts in sats. */
export interface StoredPlan {
  readonly inputs: readonly {
    readonly outpoint: string;
    readonly value: number;
    /** It is an output of the inventory; absent: it is not. */
    readonly isInventory?: true;
    /** It is a coin of the operator, of another order, or without an order; absent: it is not. */
    readonly isOperator?: true;
  }[];
  readonly outputs: readonly {
    readonly kind: PlannedOutputKind;
    readonly value: number;
    readonly script: string;
    /** Known if it stays with the wallet; absent: nothing except sats. */
    readonly holds?: StoredHoldings;
  }[];
}

/** Sats of inputs or outputs together. Pure. */
export const valueIn = (parts: readonly { readonly value: number }[]): bigint =>
  parts.reduce((sum, { value }) => sum + BigInt(value), 0n);

/** Outputs that transactions spend, of all kinds or of one, as `<txid>:<vout>`. Pure. */
export const spentBy = (
  transactions: readonly { readonly kind?: string; readonly plan: StoredPlan }[],
  kind: string | null = null,
): ReadonlySet<string> =>
  new Set(
    transactions
      .filter((made) => kind === null || made.kind === kind)
      .flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)),
  );

/** The virtual size of a transaction of this length (BIP 141). Pure. */
export function virtualBytesOf({ inputs, outputs }: StoredPlan, bytes: number): number {
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(Buffer.from(script, 'hex')), 0);
  const stripped =
    (frameWeight(inputs.length, outputs.length) - markerWeight + paid) / 4 + inputs.length * inputBytes;
  return virtualSize(3 * stripped + bytes);
}

/** Marker and flag (BIP 144). */
const markerWeight = 2;
/** Outpoint, the length of an empty script, sequence. */
const inputBytes = 41;
