// Makes the body of an order, or of a request for the order's price, from a customer's form. Pure.
import { networkProblem } from './wallets.js';

/**
 * A content of an order: a file, a text, or another inscription, whose content is then shown.
 *
 * @typedef {{ readonly kind: 'file', readonly name: string, readonly size: number, readonly blob: Blob }
 *   | { readonly kind: 'text', readonly name: string, readonly size: number, readonly blob: Blob }
 *   | { readonly kind: 'delegate', readonly id: string }} Item
 *
 * @typedef {{
 *   readonly type: string,
 *   readonly receiveAddress: string,
 *   readonly fee: string,
 *   readonly refundAddress: string,
 *   readonly postage: string,
 *   readonly parentId: string,
 *   readonly parentValue: string,
 *   readonly parentReturn: string,
 *   readonly allowedSatributes: string,
 *   readonly rareSats: string,
 *   readonly metadata: string,
 *   readonly metaprotocol: string,
 *   readonly inscriptionIdPrefix: string,
 *   readonly timeout: string,
 *   readonly burn: boolean,
 *   readonly uncurse: boolean,
 *   readonly compress: boolean,
 *   readonly shared: boolean,
 * }} Fields texts as they were typed
 */

const inscriptionId = /^[0-9a-f]{64}i(?:0|[1-9][0-9]{0,9})$/u;

/** @param {string} text */
export const isInscriptionId = (text) => inscriptionId.test(text);

/** @param {string} text */
const trimmed = (text) => text.trim();

/** @param {Item} item */
export const bytesOfItem = (item) => (item.kind === 'delegate' ? 0 : item.size);

/**
 * Finds problems of fields. Only problems that the page can find without the service are included. The keys are the
 * names of the fields.
 *
 * @param {Fields} fields
 * @param {string} network
 * @returns {ReadonlyMap<string, string>}
 */
export function fieldProblems(fields, network) {
  const problems = /** @type {Map<string, string>} */ (new Map());
  /** @param {string} name @param {string | null} problem */
  const add = (name, problem) => {
    if (problem !== null) problems.set(name, problem);
  };
  const lines = fields.receiveAddress.split(/\s+/u).filter((line) => line !== '');
  for (const line of lines) add('receiveAddress', networkProblem(line, network));
  add('refundAddress', networkProblem(trimmed(fields.refundAddress), network));
  add('parentReturn', networkProblem(trimmed(fields.parentReturn), network));
  const parent = trimmed(fields.parentId);
  if (parent !== '' && !isInscriptionId(parent))
    add('parentId', 'This is not the id of an inscription, which has 64 hex digits, an i, and a number.');
  add('fee', feeProblem(trimmed(fields.fee)));
  add('metadata', metadataProblem(trimmed(fields.metadata)));
  return problems;
}

/** @param {string} fee */
export const feeProblem = (fee) =>
  fee === '' || /^\d{1,5}(?:\.\d{1,3})?$/u.test(fee)
    ? null
    : 'Enter a number from 0.1 to 10000, with at most three decimals.';

/** @param {string} text */
function metadataProblem(text) {
  if (text === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch {
    return 'This is not valid JSON. Enter metadata such as {"name": "…"}.';
  }
}

/**
 * Makes the body of the order's request. Empty fields are omitted.
 *
 * @param {readonly Item[]} items
 * @param {Fields} fields
 * @param {(item: Exclude<Item, { readonly kind: 'delegate' }>, index: number) => Readonly<Record<string, unknown>>}
 *   content the content of a file, or its size
 */
export function orderBody(items, fields, content) {
  const metadata = trimmed(fields.metadata);
  const extra = {
    ...(metadata === '' ? {} : { metadataDataURL: `data:application/json;base64,${base64OfText(metadata)}` }),
    ...given('metaprotocol', fields.metaprotocol),
  };
  const files = items.flatMap((item, index) =>
    item.kind === 'delegate' ? [] : [{ name: item.name, ...content(item, index), ...extra }],
  );
  const delegates = items.flatMap((item) =>
    item.kind === 'delegate' ? [{ delegateId: item.id, ...extra }] : [],
  );
  const receivers = fields.receiveAddress.split(/\s+/u).filter((line) => line !== '');
  const satributes = fields.allowedSatributes
    .split(',')
    .map(trimmed)
    .filter((name) => name !== '');
  return {
    ...(files.length === 0 ? {} : { files }),
    ...(delegates.length === 0 ? {} : { delegates }),
    ...(fields.burn || receivers.length === 0
      ? {}
      : { receiveAddress: receivers.length === 1 ? receivers[0] : receivers }),
    ...given('fee', fields.fee),
    ...given('refundAddress', fields.refundAddress),
    ...given('postage', fields.postage),
    ...given('inscriptionIdPrefix', fields.inscriptionIdPrefix),
    ...given('timeout', fields.timeout),
    ...given('rareSats', fields.rareSats),
    ...(satributes.length === 0 ? {} : { allowedSatributes: satributes }),
    ...(trimmed(fields.parentId) === '' ? {} : { parents: [parentOf(fields)] }),
    ...(fields.burn ? { burnAfterInscribe: true } : {}),
    ...(fields.uncurse ? { uncurseIt: true } : {}),
    ...(fields.compress ? { compress: true } : {}),
    ...(fields.shared ? { batchMode: 'shared-output' } : {}),
  };
}

/** @param {Fields} fields */
const parentOf = ({ parentId, parentValue, parentReturn }) => ({
  inscriptionId: trimmed(parentId),
  ...given('value', parentValue),
  ...given('returnAddress', parentReturn),
});

/** @param {string} name @param {string} value */
const given = (name, value) => (trimmed(value) === '' ? {} : { [name]: trimmed(value) });

/** Maximum number of bytes that one call converts to characters, because engines limit the number of arguments. */
const charactersAtOnce = 32_768;

/** @param {Uint8Array} bytes */
export function base64Of(bytes) {
  let binary = '';
  for (let first = 0; first < bytes.length; first += charactersAtOnce)
    binary += String.fromCharCode(...bytes.subarray(first, first + charactersAtOnce));
  return btoa(binary);
}

/** @param {string} text */
const base64OfText = (text) => base64Of(new TextEncoder().encode(text));

/**
 * Finds the inscription ids in a text, and all other words of the text.
 *
 * @param {string} text
 */
export function inscriptionIdsIn(text) {
  const words = text
    .split(/[\s,]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase().replace(/^.*\/inscription\//u, ''));
  return { ids: words.filter(isInscriptionId), others: words.filter((word) => !isInscriptionId(word)) };
}
