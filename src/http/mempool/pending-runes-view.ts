import type {
  PendingEtchingRow,
  PendingMove,
  PendingRuneTransaction,
  PendingStep,
} from '#chain/pending/pending-runes.queries.ts';
import { amountView, runeView } from '#http/runes/rune-views.ts';
import { storedOwner } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { RunesAnswer } from './mempool.schemas.ts';
import { transactionJson } from './mempool-views.ts';

type TransactionView = RunesAnswer['transactions'][number];
type AmountView = TransactionView['minted'][number];

/** The JSON of `/mempool/runes` about one transaction. */
export function pendingRunesJson(row: PendingRuneTransaction, network: NetworkParameters): TransactionView {
  const of = (step: PendingStep): PendingMove[] => row.moves.filter((move) => move.step === step);
  const atOutput = (move: PendingMove) => ({
    output: `${displayHash(move.fromTxid ?? row.txid)}:${move.vout}`,
    ...storedOwner(move.script ?? new Uint8Array(0), network),
    ...amountOf(move, row),
  });
  return {
    ...transactionJson(row),
    etching: row.etching === null ? null : etchingView(row.etching),
    minted: of('minted').map((move) => amountOf(move, row)),
    sent: of('taken').map(atOutput),
    received: of('given').map(atOutput),
    burned: of('burned').map((move) => amountOf(move, row)),
  };
}

function amountOf(
  { rune, etchedBy, amount }: PendingMove,
  { txid, etching }: PendingRuneTransaction,
): AmountView {
  const own = isSame(etchedBy, txid) ? etching : null;
  const named = rune === null ? null : runeView(rune);
  return {
    rune: named?.rune ?? nameOf(own),
    id: named?.id ?? null,
    etchedBy: etchedBy === null ? null : displayHash(etchedBy),
    // the divisibility is unknown here if another pending transaction etches the rune, so amounts are in base units
    // then
    ...amountView(amount, rune?.divisibility ?? own?.divisibility ?? 0),
  };
}

function isSame(a: Txid | null, b: Txid): boolean {
  return a !== null && Buffer.compare(a, b) === 0;
}

function nameOf(etching: PendingEtchingRow | null): string | null {
  if (etching === null || etching.rune === null) return null;
  return formatSpacedRune({ rune: etching.rune, spacers: etching.spacers });
}

function etchingView(etching: PendingEtchingRow): NonNullable<TransactionView['etching']> {
  const { divisibility, symbol, premine, state, matureHeight, rivals, rivalCount } = etching;
  const others = rivalCount === 1 ? 'another pending transaction etches' : `${rivalCount} others etch`;
  return {
    rune: nameOf(etching),
    divisibility,
    symbol: symbol === null ? null : String.fromCodePoint(symbol),
    premine: String(premine),
    state,
    matureHeight,
    rivals: rivals.map(displayHash),
    warning: rivalCount === 0 ? null : `${others} the same name, so at most one of them gets it`,
  };
}
