import type { RawInput, RawOutput, RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';

/*
 * Transactions in ord's responses, in the form of rust-bitcoin. They are written as text, piece by piece, because a
 * block of 4 MB becomes 9 MB of text. That is too much for one turn of the event loop, and too much to keep as objects.
 */

const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

/** Maximum number of bytes of a script or witness that are converted to text in one piece. */
const hexPieceBytes = 64 * 1024;

/** Converts bytes to hex, in pieces. */
export function* hexPieces(bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; at += hexPieceBytes) yield hex(bytes.subarray(at, at + hexPieceBytes));
}

export function* inputJson({
  previousTxid,
  previousVout,
  scriptSig,
  sequence,
  witness,
}: RawInput): Generator<string> {
  yield `{"previous_output":"${displayHash(previousTxid)}:${previousVout}",`;
  yield `"script_sig":"${hex(scriptSig)}","sequence":${sequence},"witness":[`;
  for (const [place, item] of witness.entries()) {
    yield place === 0 ? '"' : ',"';
    yield* hexPieces(item);
    yield '"';
  }
  yield ']}';
}

function* outputJson({ value, script }: RawOutput): Generator<string> {
  yield `{"value":${value},"script_pubkey":"`;
  yield* hexPieces(script);
  yield '"}';
}

export function* transactionJson({ version, lockTime, inputs, outputs }: RawTransaction): Generator<string> {
  yield `{"version":${version},"lock_time":${lockTime},"input":[`;
  for (const [place, input] of inputs.entries()) {
    if (place > 0) yield ',';
    yield* inputJson(input);
  }
  yield '],"output":[';
  for (const [place, output] of outputs.entries()) {
    if (place > 0) yield ',';
    yield* outputJson(output);
  }
  yield ']}';
}

/**
 * Joins pieces into larger pieces, because each piece of a stream costs a turn of the event loop. An empty piece also
 * ends the turn. It means that reading took time but produced no text.
 */
export function* joined(pieces: Iterable<string>): Generator<string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (piece !== '' && text.length < 2 * hexPieceBytes) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
