// Makes the body of an order to etch a rune from a customer's form, and describes the rune's terms in words. Pure.
import { grouped } from './amounts.js';
import { feeProblem } from './order-body.js';
import { networkProblem } from './wallets.js';

/**
 * @typedef {{
 *   readonly rune: string,
 *   readonly symbol: string,
 *   readonly divisibility: string,
 *   readonly premine: string,
 *   readonly amount: string,
 *   readonly cap: string,
 *   readonly heightStart: string,
 *   readonly heightEnd: string,
 *   readonly offsetStart: string,
 *   readonly offsetEnd: string,
 *   readonly receiveAddress: string,
 *   readonly refundAddress: string,
 *   readonly fee: string,
 *   readonly turbo: boolean,
 * }} EtchFields texts as they were typed
 *
 * @typedef {{ readonly state: string, readonly unlock: { readonly height: number, readonly blocksLeft: number } | null,
 *   readonly pending: readonly unknown[] | null }} NameAnswer of GET /rune/<name>/name
 */

/** The rule for a rune's name, in words for people. */
export const nameForm = 'Letters from A to Z, with • or . between two of them.';
/** Maximum number of decimals of a rune (docs/orders-api.md). */
const divisibilityMax = 38;
/** Number of letters in the longest name that a rune can have. */
const lettersMax = 28;

/** @param {string} text */
const trimmed = (text) => text.trim();

/**
 * Converts a typed name to the form of requests, because people type dots and lower case.
 *
 * @param {string} text
 */
export const typedName = (text) => trimmed(text).toUpperCase().replace(/[.\s]/gu, '•');

/** @param {string} name as `typedName` gives it */
export const isName = (name) => /^[A-Z](?:•?[A-Z])*$/u.test(name);

/**
 * Finds problems of fields. Only problems that the page can find without the service are included. The keys are the
 * names of the fields.
 *
 * @param {EtchFields} fields
 * @param {string} network
 * @returns {ReadonlyMap<string, string>}
 */
export function etchProblems(fields, network) {
  const name = typedName(fields.rune);
  const amounts = /** @type {const} */ (['premine', 'amount']).map(
    (field) =>
      /** @type {const} */ ([
        field,
        numberProblem(fields[field], /^\d+(?:\.\d+)?$/u, 'Enter a number of units.'),
      ]),
  );
  const counts = /** @type {const} */ (['cap', 'heightStart', 'heightEnd', 'offsetStart', 'offsetEnd']).map(
    (field) =>
      /** @type {const} */ ([field, numberProblem(fields[field], /^\d+$/u, 'Enter a whole number.')]),
  );
  const isMinted = trimmed(fields.amount) !== '' || trimmed(fields.cap) !== '';
  const found = [
    /** @type {const} */ (['rune', name === '' || isName(name) ? null : nameForm]),
    /** @type {const} */ ([
      'symbol',
      [...trimmed(fields.symbol)].length > 1 ? 'Enter only one character.' : null,
    ]),
    /** @type {const} */ (['divisibility', divisibilityProblem(trimmed(fields.divisibility))]),
    ...amounts,
    ...counts,
    ...(isMinted && trimmed(fields.amount) === ''
      ? [/** @type {const} */ (['amount', 'Enter how many units a mint gives.'])]
      : []),
    ...(isMinted && trimmed(fields.cap) === ''
      ? [/** @type {const} */ (['cap', 'Enter the maximum number of mints.'])]
      : []),
    /** @type {const} */ (['heightEnd', endProblem(fields.heightStart, fields.heightEnd)]),
    /** @type {const} */ (['offsetEnd', endProblem(fields.offsetStart, fields.offsetEnd)]),
    /** @type {const} */ (['receiveAddress', networkProblem(trimmed(fields.receiveAddress), network)]),
    /** @type {const} */ (['refundAddress', networkProblem(trimmed(fields.refundAddress), network)]),
    /** @type {const} */ (['fee', feeProblem(trimmed(fields.fee))]),
  ];
  return new Map(found.flatMap(([field, problem]) => (problem === null ? [] : [[field, problem]])));
}

/** @param {string} text @param {RegExp} form @param {string} problem */
const numberProblem = (text, form, problem) =>
  trimmed(text) === '' || form.test(trimmed(text)) ? null : problem;

/** @param {string} start @param {string} end */
function endProblem(start, end) {
  const [first, last] = [trimmed(start), trimmed(end)];
  if (!/^\d+$/u.test(first) || !/^\d+$/u.test(last) || BigInt(last) > BigInt(first)) return null;
  return `Enter a number above ${first}: otherwise no block could mint.`;
}

/** @param {string} text */
function divisibilityProblem(text) {
  const isRight = text === '' || (/^\d{1,2}$/u.test(text) && Number(text) <= divisibilityMax);
  return isRight ? null : `Enter a whole number from 0 to ${divisibilityMax}.`;
}

/**
 * Whether the rune would have at least one unit.
 *
 * @param {EtchFields} fields
 */
export const hasUnits = ({ premine, amount, cap }) =>
  [premine, amount, cap].some((text) => /[1-9]/u.test(text));

/**
 * Makes the body of the order's request. Empty fields are omitted. Numbers stay texts, because texts are exact.
 *
 * @param {EtchFields} fields
 */
export function etchBody(fields) {
  const name = typedName(fields.rune);
  const terms = {
    ...given('amount', fields.amount),
    ...given('cap', fields.cap),
    ...windowOf('height', fields.heightStart, fields.heightEnd),
    ...windowOf('offset', fields.offsetStart, fields.offsetEnd),
  };
  return {
    ...given('rune', name),
    ...given('symbol', fields.symbol),
    ...given('divisibility', fields.divisibility),
    ...given('premine', fields.premine),
    ...(Object.keys(terms).length === 0 ? {} : { terms }),
    ...(fields.turbo ? { turbo: true } : {}),
    ...given('receiveAddress', fields.receiveAddress),
    ...given('refundAddress', fields.refundAddress),
    ...given('fee', fields.fee),
  };
}

/** @param {string} name @param {string} value */
const given = (name, value) => (trimmed(value) === '' ? {} : { [name]: trimmed(value) });

/** @param {string} name @param {string} start @param {string} end */
function windowOf(name, start, end) {
  const window = { ...given('start', start), ...given('end', end) };
  return Object.keys(window).length === 0 ? {} : { [name]: window };
}

/**
 * Describes the terms of the rune in words: who gets units, and the maximum number of units.
 *
 * @param {EtchFields} fields without problems
 * @returns {readonly string[]}
 */
export function termsInWords(fields) {
  const { premine, amount, cap } = fields;
  const words = /** @type {string[]} */ ([]);
  if (/[1-9]/u.test(premine)) words.push(`The receiver gets ${shown(premine)} at once.`);
  if (trimmed(amount) === '' || trimmed(cap) === '') return [...words, 'No one else can ever mint it.'];
  words.push(`Anyone can mint ${shown(amount)} at a time, ${shown(cap)} times in total.`);
  words.push(...whenWords(fields));
  return words;
}

/** @param {EtchFields} fields */
function whenWords({ heightStart, heightEnd, offsetStart, offsetEnd }) {
  const between = (/** @type {string} */ start, /** @type {string} */ end, /** @type {string} */ what) =>
    [
      trimmed(start) === '' ? '' : ` from ${what} ${shown(start)}`,
      trimmed(end) === '' ? '' : ` before ${what} ${shown(end)}`,
    ].join('');
  const heights = between(heightStart, heightEnd, 'block');
  const offsets = between(offsetStart, offsetEnd, 'block number');
  return [
    ...(heights === '' ? [] : [`It can be minted${heights}.`]),
    ...(offsets === '' ? [] : [`Counted from the block of the etching, it can be minted${offsets}.`]),
  ];
}

/** @param {string} text a decimal */
function shown(text) {
  const [whole = '', part] = trimmed(text).split('.');
  const digits = whole.length > 15 ? whole : grouped(Number(whole));
  return part === undefined ? digits : `${digits}.${part}`;
}

/**
 * Describes the state of a rune's name in words.
 *
 * @param {string} name
 * @param {NameAnswer} answer
 */
export function nameWords(name, { state, unlock, pending }) {
  if (state === 'taken')
    return `${name} is taken: a rune has this name. Different spacers do not make a different name.`;
  if (state === 'reserved') return `${name} is reserved: no one can choose it.`;
  if (state === 'locked' && unlock !== null)
    return `${name} is locked until block ${grouped(unlock.height)}, ${grouped(unlock.blocksLeft)} blocks from now. Longer names are free.`;
  if (pending !== null && pending.length > 0)
    return `${name} is free, but a pending transaction already claims it.`;
  return `${name} is free.`;
}

/** @param {string} name as `typedName` gives it */
export const canBeAsked = (name) => isName(name) && name.replaceAll('•', '').length <= lettersMax;
