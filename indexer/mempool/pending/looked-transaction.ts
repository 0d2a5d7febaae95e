import { storedScriptBytesMax } from '#indexer/apply/block-rows.ts';
import type { SignatureReader } from '#indexer/facts/signatures.ts';
import type { HashKey } from '#indexer/mempool/stream/membership.ts';
import type { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import type { SpentCoin, TransactionBatch } from '../stream/transaction-batch.ts';
import type { RunicHolding } from './pending-runes.ts';
import { type InputSignatures, saleSignatures } from './pending-sales.ts';
import { type HeldOutput, inputValuesNeeded } from './pending-transaction.ts';

/** A transaction that involves runes: its message, and the runes in its inputs. */
export interface Runic {
  readonly artifact: Artifact | null;
  readonly held: readonly (RunicHolding | null)[];
}

/** A transaction, with the known facts of its inputs. */
export interface Looked {
  readonly tx: number;
  readonly txid: HashKey;
  readonly held: readonly (HeldOutput | null)[];
  /** The output that each input spends. Null: unknown. */
  readonly spent: (SpentCoin | null)[];
  /**
   * Signatures of a transaction that may sell inscriptions of its inputs. Null: it cannot sell any, or sales are
   * unknown.
   */
  readonly signatures: InputSignatures | null;
  readonly runic: Runic | null;
}

/**
 * Maximum number of inputs requested from the node per transaction. Locations after hundreds of unknown inputs stay
 * unknown, so that one transaction with thousands of inputs does not delay the others.
 */
const askedInputsMax = 250;

/**
 * Finds the facts of the inputs that need no request to the node.
 *
 * @param sales reader of signatures; null: sales are unknown
 */
export function lookAt(
  batch: TransactionBatch,
  of: Pick<Looked, 'tx' | 'txid' | 'held' | 'runic'>,
  sales: SignatureReader | null,
): Looked {
  const { tx, held } = of;
  return {
    ...of,
    spent: held.map((output, input) => batch.spentCoin(tx, input) ?? wholeCoin(output)),
    signatures: sales === null ? null : saleSignatures(batch, tx, held, sales),
  };
}

/** The coin of an output. Null if its script was cut or the output is null. */
function wholeCoin(output: HeldOutput | null): SpentCoin | null {
  return output === null || output.script.length >= storedScriptBytesMax ? null : output;
}

/** Value in sats that an input spends. Null: unknown. */
export const valueOf = ({ held, spent }: Looked, input: number): Sats | null =>
  spent[input]?.value ?? held[input]?.value ?? null;

/** The inputs that must be requested from the node, in order. Empty if there are too many. */
export function inputsToAsk(batch: TransactionBatch, looked: Looked): number[] {
  const { tx, held, spent, signatures } = looked;
  const needed = inputValuesNeeded(batch, tx, held);
  const asked = held.flatMap((_, input) => {
    const isValueNeeded = needed > 0 && input <= needed && valueOf(looked, input) === null;
    return isValueNeeded || (signatures !== null && spent[input] === null) ? input : [];
  });
  return asked.length > askedInputsMax ? [] : asked;
}

/** Requests inputs from the node and stores its answers. */
export async function askForInputs(
  node: NodeMempool,
  batch: TransactionBatch,
  waiting: readonly { readonly looked: Looked; readonly asked: readonly number[] }[],
): Promise<void> {
  const answers = await node.spentOutputs(
    waiting.flatMap(({ looked, asked }) => {
      const outpoints = batch.outpoints(looked.tx);
      return asked.map((input) => outpoints.subarray(input * 36, input * 36 + 36));
    }),
  );
  let at = 0;
  for (const { looked, asked } of waiting)
    for (const input of asked) looked.spent[input] = answers[at++] ?? null;
}
