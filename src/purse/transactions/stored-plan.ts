import { frameWeight, outputWeight, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutputKind } from '#kernel/contracts/transaction-plan.ts';
import type { StoredHoldings } from './stored-holdings.ts';

/** A plan in its stored form: outpoints as `<txid>:<vout>`, and outputs by their kinds. Amounts are in sats. */
export interface StoredPlan {
  readonly inputs: readonly {
    readonly outpoint: string;
    readonly value: number;
    /** Present if the input is an output of the inventory. */
    readonly isInventory?: true;
    /** Present if the input is a coin of the operator, of another order, or without an order. */
    readonly isOperator?: true;
  }[];
  readonly outputs: readonly {
    readonly kind: PlannedOutputKind;
    readonly value: number;
    readonly script: string;
    /** Contents of an output that stays in the wallet. Absent if the output has only sats. */
    readonly holds?: StoredHoldings;
  }[];
}

/** Total sats of inputs or outputs. Pure. */
export const valueIn = (parts: readonly { readonly value: number }[]): bigint =>
  parts.reduce((sum, { value }) => sum + BigInt(value), 0n);

/**
 * Outputs that transactions spend, as `<txid>:<vout>`. If `kind` is null, transactions of all kinds are included. Pure.
 */
export const spentBy = (
  transactions: readonly { readonly kind?: string; readonly plan: StoredPlan }[],
  kind: string | null = null,
): ReadonlySet<string> =>
  new Set(
    transactions
      .filter((made) => kind === null || made.kind === kind)
      .flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)),
  );

/** The virtual size of a transaction whose serialization has this number of bytes (BIP 141). Pure. */
export function virtualBytesOf({ inputs, outputs }: StoredPlan, bytes: number): number {
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(Buffer.from(script, 'hex')), 0);
  const stripped =
    (frameWeight(inputs.length, outputs.length) - markerWeight + paid) / 4 + inputs.length * inputBytes;
  return virtualSize(3 * stripped + bytes);
}

/** Weight of the marker and the flag (BIP 144). */
const markerWeight = 2;
/** Bytes of an input: the outpoint, the length of an empty script, and the sequence. */
const inputBytes = 41;
