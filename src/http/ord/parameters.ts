import type { BlockQuestion } from '#chain/blocks/block.queries.ts';
import type { InscriptionQuestion } from '#chain/inscriptions/inscription.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseBlockHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { type Height, parseHeight } from '#kernel/primitives/height.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';

/** The most characters of a parameter that an error quotes: valid ones are not longer. */
const quotedMax = 80;

function invalid(words: string): AppError {
  return new AppError('request_invalid', words);
}

/** Throws `request_invalid`. */
export function inscriptionIdOf(text: string): InscriptionId {
  const id = parseInscriptionId(text);
  if (id === null) throw invalid('this is not an inscription id');
  return id;
}

/** An id or a number. Throws `request_invalid`; `not_found` for the name of a sat, which needs a sat index. */
export function inscriptionQuestionOf(text: string): InscriptionQuestion {
  const id = parseInscriptionId(text);
  if (id !== null) return { kind: 'id', id };
  // as many digits as ord accepts
  const number = /^-?\d{1,63}$/u.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(number) < 2 ** 31) return { kind: 'number', number };
  if (/^[a-z]{1,11}$/u.test(text)) throw new AppError('not_found', 'this server has no sat index');
  throw invalid('an inscription is named by its id or its number');
}

/** A height or a hash. Throws `request_invalid`. */
export function blockQuestionOf(text: string): BlockQuestion {
  const hash = parseBlockHash(text);
  if (hash !== null) return { kind: 'hash', hash };
  const height = parseHeight(text);
  if (height !== null) return { kind: 'height', height };
  throw invalid('a block is named by its height or its hash');
}

export function heightOf(text: string): Height {
  const question = blockQuestionOf(text);
  if (question.kind === 'height') return question.height;
  throw invalid('this is not a height');
}

/** A position that counts from 0: a page, a child, an item. Throws `request_invalid`. */
export function placeOf(text: string | undefined, name: string): number {
  if (text === undefined) return 0;
  const place = /^\d{1,63}$/u.test(text) ? Number(text) : Number.NaN;
  // ord parses 64 bits; pages far beyond the end are empty
  if (place < 2 ** 32) return place;
  throw invalid(`${name} is not a whole number`);
}

/** Parses 64 hex digits into the 32 bytes of a txid. Throws `request_invalid`. */
export function txidOf(text: string): Txid {
  const txid = parseTxid(text);
  if (txid === null) throw invalid('a transaction is named by its id in 64 hex digits');
  return txid;
}

/** `<txid>:<vout>`. Throws `request_invalid`. */
export function outpointOf(text: string): Outpoint {
  const [, hash = '', digits = ''] = /^([0-9a-f]{64}):(\d{1,10})$/iu.exec(text) ?? [];
  const txid = parseTxid(hash);
  const vout = Number(digits);
  if (txid === null || vout >= 2 ** 32) throw invalid('an output is named by <txid>:<vout>');
  return { txid, vout };
}

/** A parameter, shortened for an error message. */
export function quoted(text: string): string {
  return text.length <= quotedMax ? text : `${text.slice(0, quotedMax)}…`;
}
