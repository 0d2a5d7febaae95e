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
 * What a pending transaction sells, by the rules of blocks (indexer/ledger/sales). They look at a transaction alone, so
 * it is the same sale once it is mined.
 */

/** Everything that looks like a signature, of each input. */
export type InputSignatures = readonly (readonly SignedAs[])[];

/** What a pending transaction sells an inscription for: a row of chain.mempool_sales. */
export interface PendingSale extends Omit<Sold, 'maker' | 'taker'> {
  readonly inscription: PackedId;
  readonly class: MoveClass;
  readonly input: number;
  /** Its ordinal among the inscriptions of the input. */
  readonly place: number;
  /** Scripts, cut as in chain.sales. */
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
}

/**
 * The rules need what every input spends, and the node is asked about each that is not known. A purchase of 80 items at
 * once has some 170 inputs; what has more than this is no pending sale.
 */
export const soldInputsMax = 250;

/**
 * The signatures of a transaction that may sell what its inputs hold. Null: it does not, as almost all: nothing more of
 * it need be known.
 *
 * @param reader of the batch; it goes forward only
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
  // held scripts are cut, so those of outputs are compared by as much
  const outputs = batch
    .outputs(tx)
    .map((output) => coinOf({ ...output, script: storedScript(output.script) }));
  const inputs = held.map((output, input) =>
    output === null ? null : { ...coinOf(output), signatures: signatures[input] ?? [] },
  );
  return maySell(inputs, outputs, moving) ? signatures : null;
}

/**
 * What a transaction sells. None where what an input spends, or where an inscription goes, is not known: nothing is
 * guessed. Pure.
 *
 * @param spent of each input
 *
 * @param transfers by input and place
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

/** The moves of transfers; a key is the index of the transfer. */
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
