import { ownerScript } from '#indexer/derived/runes/rune-encoding.ts';
import type { SignatureReader } from '#indexer/facts/signatures.ts';
import { classifyMoves, type Sold } from '#indexer/ledger/sales/classify-moves.ts';
import { maySell } from '#indexer/ledger/sales/may-sell.ts';
import type { Coin, Move, SignedAs } from '#indexer/ledger/sales/moving-transaction.ts';
import type { MoveClass } from '#kernel/sales/sale-names.ts';
import type { SpentCoin, TransactionBatch, TransactionOutput } from '../stream/transaction-batch.ts';
import { pendingPlaces } from './pending-place.ts';
import { type HeldOutput, type PackedId, type PendingTransfer, storedScript } from './pending-transaction.ts';

/*
 * Sales of pending transactions, by the rules of blocks (indexer/ledger/sales). The rules look at a transaction alone,
 * so it is the same sale once it is mined.
 */

/** For each input: everything that looks like a signature. */
export type InputSignatures = readonly (readonly SignedAs[])[];

/** Sale of an inscription by a pending transaction: a row of chain.mempool_sales. */
export interface PendingSale extends Omit<Sold, 'maker' | 'taker'> {
  readonly inscription: PackedId;
  readonly class: MoveClass;
  readonly input: number;
  /** Position among the inscriptions of the input. */
  readonly place: number;
  /** Scripts, cut as in chain.sales. */
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
}

/**
 * Maximum number of inputs of a pending sale. The rules need the output that every input spends, and each unknown
 * output costs a request to the node. A purchase of 80 items at once has some 170 inputs.
 */
export const soldInputsMax = 250;

/**
 * The signatures of a transaction that may sell inscriptions of its inputs. Null for almost all transactions: they
 * cannot sell any, so no more facts are needed.
 *
 * @param reader reader of the batch; it only moves forward
 */
export function saleSignatures(
  batch: TransactionBatch,
  tx: number,
  held: readonly (HeldOutput | null)[],
  reader: SignatureReader,
): InputSignatures | null {
  const moving = held.flatMap((output, input) => (output === null ? [] : input));
  if (moving.length === 0 || held.length > soldInputsMax) return null;
  const first = batch.columns.txFirstInput[tx]!;
  const signatures = held.map((_, input) => reader.of(first + input));
  // held scripts are cut, so scripts of outputs are cut to the same length before they are compared
  const outputs = batch
    .outputs(tx)
    .map((output) => coinOf({ ...output, script: storedScript(output.script) }));
  const inputs = held.map((output, input) =>
    output === null ? null : { ...coinOf(output), signatures: signatures[input] ?? [] },
  );
  return maySell(inputs, outputs, moving) ? signatures : null;
}

/**
 * The sales of a transaction. Empty if a spent output or the place of an inscription is unknown, because nothing is
 * guessed. Pure.
 *
 * @param spent outputs by input
 *
 * @param transfers sorted by input and position
 */
export function pendingSalesOf(
  signatures: InputSignatures,
  spent: readonly (SpentCoin | null)[],
  outputs: readonly TransactionOutput[],
  transfers: readonly PendingTransfer[],
): PendingSale[] {
  const inputs = spent.flatMap((coin, input) =>
    coin === null ? [] : { ...coinOf(coin), signatures: signatures[input] ?? [] },
  );
  const isUnknown = transfers.some(({ placed }) => placed.place === pendingPlaces.unknown);
  if (inputs.length < spent.length || isUnknown) return [];
  const moves = movesOf(transfers);
  return classifyMoves({ inputs, outputs: outputs.map(coinOf), moves }).flatMap(
    ({ move, class: of, sold }) => {
      const transfer = transfers[move.key];
      if (sold === null || transfer === undefined) return [];
      const { input, place } = move;
      const [maker, taker] = [ownerBytes(sold.maker), sold.taker === null ? null : ownerBytes(sold.taker)];
      return { ...sold, maker, taker, inscription: transfer.inscription, class: of, input, place };
    },
  );
}

/** The moves of transfers. The key of a move is the index of its transfer. */
function movesOf(transfers: readonly PendingTransfer[]): Move[] {
  let place = 0;
  return transfers.map(({ input, placed }, key) => {
    place = transfers[key - 1]?.input === input ? place + 1 : 0;
    return { key, input, place, landing: placed.output?.vout ?? null };
  });
}

const coinOf = ({ script, value }: SpentCoin): Coin => ({
  script: Buffer.from(script.buffer, script.byteOffset, script.length).toString('latin1'),
  value,
});

function ownerBytes(owner: string): Buffer {
  const script = Buffer.from(owner, 'latin1');
  return ownerScript(script, 0, script.length);
}
