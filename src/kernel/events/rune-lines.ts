import type { Txid } from '#kernel/primitives/hash.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { EventTextWriter } from './event-text-writer.ts';

/*
 * The lines of a block's text of runes (docs/events.md). The ledger writes them while a block is applied. The code of
 * the tables writes them while a text is rebuilt.
 */

/** The id of a rune, which is the height and the index of its etching's transaction. */
export interface LineRuneId {
  readonly block: number;
  readonly tx: number;
}

/** The fields of a new rune in a line. */
export interface EtchedLine extends LineRuneId {
  readonly rune: Rune;
  readonly spacers: number;
  readonly divisibility: number;
  readonly symbol: number | null;
  readonly premine: U128;
  readonly terms: Terms | null;
  readonly turbo: boolean;
}

const words = {
  etched: Buffer.from('etched '),
  minted: Buffer.from('minted '),
  transferred: Buffer.from('transferred '),
  burned: Buffer.from('burned '),
  turbo: Buffer.from('turbo'),
  separator: Buffer.from(','),
};

export function writeEtched(out: EventTextWriter, txid: Txid, etched: EtchedLine): void {
  out.word(words.etched);
  out.transaction(txid, 0);
  out.next();
  out.runeId(etched.block, etched.tx);
  out.next();
  // texts are ASCII
  out.word(Buffer.from(formatSpacedRune(etched).replaceAll('•', '.'), 'latin1'));
  out.next();
  out.amount(etched.divisibility);
  out.next();
  valueOrNone(out, etched.symbol);
  out.next();
  out.amount(etched.premine);
  out.next();
  if (etched.terms === null) out.none();
  else writeTerms(out, etched.terms);
  out.next();
  if (etched.turbo) out.word(words.turbo);
  else out.none();
  out.endLine();
}

function writeTerms(out: EventTextWriter, terms: Terms): void {
  const { amount, cap, heightStart, heightEnd, offsetStart, offsetEnd } = terms;
  for (const [at, value] of [amount, cap, heightStart, heightEnd, offsetStart, offsetEnd].entries()) {
    if (at > 0) out.word(words.separator);
    valueOrNone(out, value);
  }
}

function valueOrNone(out: EventTextWriter, value: number | bigint | null): void {
  if (value === null) out.none();
  else out.amount(value);
}

/** @param txids contains the txid at `txidAt` */
export function writeMinted(
  out: EventTextWriter,
  txids: Uint8Array,
  txidAt: number,
  id: LineRuneId,
  amount: U128,
): void {
  out.word(words.minted);
  out.transaction(txids, txidAt);
  writeAmount(out, id, amount);
}

/** An output whose txid is at an offset in some bytes. */
export interface LineOutput {
  readonly txids: Uint8Array;
  readonly txidAt: number;
  readonly vout: number;
}

export function writeTransferred(
  out: EventTextWriter,
  { txids, txidAt, vout }: LineOutput,
  id: LineRuneId,
  amount: U128,
): void {
  out.word(words.transferred);
  out.output(txids, txidAt, vout);
  writeAmount(out, id, amount);
}

export function writeBurned(out: EventTextWriter, txid: Txid, id: LineRuneId, amount: U128): void {
  out.word(words.burned);
  out.transaction(txid, 0);
  writeAmount(out, id, amount);
}

function writeAmount(out: EventTextWriter, { block, tx }: LineRuneId, amount: U128): void {
  out.next();
  out.runeId(block, tx);
  out.next();
  out.amount(amount);
  out.endLine();
}
