// Makes the body of an order for a collection's items from a buyer's form, and describes in words how many items an
// address may buy. Pure.
import { grouped, plural } from './amounts.js';
import { feeProblem } from './order-body.js';
import { networkProblem } from './wallets.js';

/**
 * @typedef {{
 *   readonly count: string,
 *   readonly requestedIds: string,
 *   readonly receiveAddress: string,
 *   readonly refundAddress: string,
 *   readonly fee: string,
 *   readonly uncurse: boolean,
 * }} MintFields texts as they were typed
 *
 * @typedef {{
 *   readonly phaseId: string,
 *   readonly public: 0 | 1,
 *   readonly allocation: number,
 *   readonly paidItemCount: number,
 * }} PhaseAllocation
 */

/** Maximum number of items in an order (docs/collections.md). */
const itemsMax = 1_000;

/** @param {string} text */
const numbersIn = (text) => text.split(/[\s,#]+/u).filter((word) => word !== '');

/** @param {string} text */
const isWhole = (text) => /^[1-9]\d{0,5}$/u.test(text);

/**
 * Finds problems of fields. Only problems that the page can find without the service are included. The keys are the
 * names of the fields.
 *
 * @param {MintFields} fields
 * @param {string} network
 * @returns {ReadonlyMap<string, string>}
 */
export function mintProblems(fields, network) {
  const numbers = numbersIn(fields.requestedIds);
  const count = fields.count.trim();
  const found = /** @type {const} */ ([
    ['receiveAddress', networkProblem(fields.receiveAddress.trim(), network)],
    ['refundAddress', networkProblem(fields.refundAddress.trim(), network)],
    ['fee', feeProblem(fields.fee.trim())],
    ['requestedIds', numbersProblem(numbers)],
    [
      'count',
      numbers.length > 0 || (isWhole(count) && Number(count) <= itemsMax)
        ? null
        : `Enter a number from 1 to ${itemsMax}.`,
    ],
  ]);
  return new Map(found.flatMap(([name, problem]) => (problem === null ? [] : [[name, problem]])));
}

/** @param {readonly string[]} numbers */
function numbersProblem(numbers) {
  const wrong = numbers.find((number) => !isWhole(number));
  if (wrong !== undefined) return `“${wrong.slice(0, 20)}” is not the number of an item.`;
  return new Set(numbers).size < numbers.length ? 'A number is listed twice.' : null;
}

/**
 * Makes the body of the order's request. Empty fields are omitted. The count is also omitted if item numbers are given.
 *
 * @param {string} collection
 * @param {MintFields} fields
 */
export function mintBody(collection, fields) {
  const numbers = numbersIn(fields.requestedIds).map(Number);
  const [receiver, refund, fee] = [fields.receiveAddress, fields.refundAddress, fields.fee].map((text) =>
    text.trim(),
  );
  return {
    collection: {
      id: collection,
      ...(numbers.length > 0 ? { requestedIds: numbers } : { count: Number(fields.count.trim()) }),
    },
    ...(receiver === '' ? {} : { receiveAddress: receiver }),
    ...(refund === '' ? {} : { refundAddress: refund }),
    ...(fee === '' ? {} : { fee }),
    ...(fields.uncurse ? { uncurseIt: true } : {}),
  };
}

/**
 * Describes in a sentence how many items an address may buy in a phase.
 *
 * @param {PhaseAllocation} phase
 */
export function allocationWords({ phaseId, public: isPublic, allocation, paidItemCount }) {
  const paid =
    paidItemCount === 0
      ? ''
      : ` ${grouped(paidItemCount)} of them ${paidItemCount === 1 ? 'is' : 'are'} paid.`;
  if (isPublic === 1) return `${phaseId}: anyone may mint.`;
  if (allocation === 0) return `${phaseId}: this address is not on the list.`;
  return allocation === -1
    ? `${phaseId}: on the list, for all items of the phase.`
    : `${phaseId}: on the list, for ${plural(allocation, 'item')}.${paid}`;
}
