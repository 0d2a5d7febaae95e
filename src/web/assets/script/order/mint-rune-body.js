// Makes the body of an order for mints from a customer's form, and describes the rune's state in words. Pure.
import { grouped } from './amounts.js';
import { isName, nameForm, typedName } from './etch-body.js';
import { feeProblem } from './order-body.js';
import { networkProblem } from './wallets.js';

/**
 * @typedef {{
 *   readonly rune: string,
 *   readonly numberOfMints: string,
 *   readonly receiveAddress: string,
 *   readonly refundAddress: string,
 *   readonly fee: string,
 * }} MintFields texts as they were typed
 *
 * @typedef {{
 *   readonly mintable: boolean,
 *   readonly entry: {
 *     readonly spaced_rune: string,
 *     readonly divisibility: number,
 *     readonly mints: number,
 *     readonly terms: { readonly amount: number | null, readonly cap: number | null } | null,
 *   },
 * }} RuneAnswer of GET /rune/<name>
 */

/** Maximum number of mints in an order (docs/orders-api.md). */
const mintsMax = 1000;

/** @param {string} text */
const trimmed = (text) => text.trim();

/**
 * Finds problems of fields. Only problems that the page can find without the service are included. The keys are the
 * names of the fields.
 *
 * @param {MintFields} fields
 * @param {string} network
 * @returns {ReadonlyMap<string, string>}
 */
export function mintProblems(fields, network) {
  const name = typedName(fields.rune);
  const count = trimmed(fields.numberOfMints);
  const isCount = /^\d{1,4}$/u.test(count) && Number(count) >= 1 && Number(count) <= mintsMax;
  const found = [
    /** @type {const} */ (['rune', name === '' || isName(name) ? null : nameForm]),
    /** @type {const} */ ([
      'numberOfMints',
      count === '' || isCount ? null : `Enter a whole number from 1 to ${grouped(mintsMax)}.`,
    ]),
    /** @type {const} */ (['receiveAddress', networkProblem(trimmed(fields.receiveAddress), network)]),
    /** @type {const} */ (['refundAddress', networkProblem(trimmed(fields.refundAddress), network)]),
    /** @type {const} */ (['fee', feeProblem(trimmed(fields.fee))]),
  ];
  return new Map(found.flatMap(([field, problem]) => (problem === null ? [] : [[field, problem]])));
}

/**
 * Makes the body of the order's request. Empty fields are omitted.
 *
 * @param {MintFields} fields
 */
export function mintBody(fields) {
  const given = (/** @type {string} */ name, /** @type {string} */ value) =>
    trimmed(value) === '' ? {} : { [name]: trimmed(value) };
  return {
    rune: typedName(fields.rune),
    numberOfMints: Number(trimmed(fields.numberOfMints)),
    ...given('receiveAddress', fields.receiveAddress),
    ...given('refundAddress', fields.refundAddress),
    ...given('fee', fields.fee),
  };
}

/**
 * Describes in words whether a rune can be minted, and how many mints are left.
 *
 * @param {RuneAnswer} answer
 */
export function runeWords({ mintable, entry: { spaced_rune: name, mints, terms } }) {
  if (terms === null) return `${name} cannot be minted: all units are from the premine.`;
  const left = Math.max(0, (terms.cap ?? 0) - mints);
  if (mintable)
    return `${name} can be minted: ${grouped(left)} of ${grouped(terms.cap ?? 0)} mints are left.`;
  return left === 0
    ? `All ${grouped(terms.cap ?? 0)} mints of ${name} are used.`
    : `${name} cannot be minted now: the mint has not begun, or has ended.`;
}
