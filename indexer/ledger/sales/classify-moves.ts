import type { Refusal } from '#kernel/sales/refusals.ts';
import type { Confidence, MoveClass, SaleForm } from '#kernel/sales/sale-names.ts';
import { paymentFor, type SalePayment } from './find-payment.ts';
import type { Move, MovingTransaction } from './moving-transaction.ts';
import { dustMax, opReturn } from './sale-rules.ts';
import { TradeFacts } from './trade-facts.ts';

/** How an inscription was sold. Amounts are the share of this inscription in a bundle. */
export interface Sold {
  readonly form: SaleForm;
  readonly confidence: Confidence;
  /** Sats. */
  readonly grossPayout: number;
  readonly price: number;
  /** Number of inscriptions that were sold together. */
  readonly bundle: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
  /** Scripts, latin-1. */
  readonly maker: string;
  readonly taker: string | null;
  readonly isWash: boolean;
}

/** A move with its class: a sale, or the rule that refused it as a sale. */
export type ClassifiedMove = { readonly move: Move; readonly class: MoveClass } & (
  | { readonly sold: Sold; readonly refusedBy: null }
  | { readonly sold: null; readonly refusedBy: Refusal }
);

/**
 * The class of each move of a transaction, in the order of the moves. Every transaction has an answer. Cost: some steps
 * for each input, output and move.
 */
export function classifyMoves(tx: MovingTransaction): ClassifiedMove[] {
  const facts = new TradeFacts(tx);
  const payments = new Map<number, SalePayment | Refusal>();
  for (const { input } of tx.moves) {
    if (!payments.has(input)) payments.set(input, paymentFor(facts, input));
  }
  const shared = new Map<string, Move[]>();
  for (const move of tx.moves) {
    const payment = payments.get(move.input);
    if (payment === undefined || typeof payment === 'string') continue;
    const moves = shared.get(payment.share);
    if (moves === undefined) shared.set(payment.share, [move]);
    else moves.push(move);
  }
  return tx.moves.map((move) => {
    const payment = payments.get(move.input) ?? 'not-signed';
    if (typeof payment === 'string') {
      return { move, class: unsoldClass(facts, move, payment), sold: null, refusedBy: payment };
    }
    const bundle = shared.get(payment.share) ?? [move];
    return { move, class: payment.class, sold: soldShare(tx, move, payment, bundle), refusedBy: null };
  });
}

function soldShare(
  { outputs }: MovingTransaction,
  move: Move,
  payment: SalePayment,
  bundle: readonly Move[],
): Sold {
  const isFirst = bundle[0] === move;
  const shareOf = (amount: number): number => {
    const each = Math.floor(amount / bundle.length);
    return isFirst ? amount - each * (bundle.length - 1) : each;
  };
  const taker = move.landing === null ? null : outputs[move.landing]!.script;
  const { form, confidence, payoutOutput, feeOutput, sighash, maker } = payment;
  return {
    form,
    confidence,
    grossPayout: shareOf(payment.grossPayout),
    price: shareOf(payment.price),
    bundle: bundle.length,
    payoutOutput,
    feeOutput,
    sighash,
    maker,
    taker,
    isWash: payment.isCluster || taker === maker,
  };
}

function unsoldClass(facts: TradeFacts, { input, landing }: Move, refusedBy: Refusal): MoveClass {
  const { tx } = facts;
  if (landing === null) return 'fee';
  const to = tx.outputs[landing]!;
  if (to.script.startsWith(opReturn)) return 'burn';
  const { script: from } = tx.inputs[input]!;
  if (to.script === from) return 'self-transfer';
  const isPaidOtherwise = refusedBy === 'paid-in-runes' || facts.isPaidInRunes(from);
  if (isPaidOtherwise || facts.isExchange([from])) return 'other';
  return tx.moves.length === 1 && to.value <= dustMax ? 'gift' : 'transfer';
}
