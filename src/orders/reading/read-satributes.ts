import type { NetworkName } from '#kernel/primitives/network.ts';
import { findSatribute, isFindable } from '#kernel/satributes/definitions.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { RequestFault, RequestValues } from './request-values.ts';

const parameter = 'allowedSatributes';
/** More than there are names (docs/satributes.md). */
const namesMax = 100;

/** The satributes that an order allows, as they were sent; none: it takes any sat. */
export function readSatributes(values: RequestValues, given: unknown, network: NetworkName): string[] {
  const items = values.list(given, parameter);
  if (items.length > namesMax) {
    values.fault(parameter, `has more than ${namesMax} names`);
    return [];
  }
  return items.flatMap((item, index): string[] => {
    const path = `${parameter}[${index}]`;
    const name = values.text(item, path);
    // a name that is left out must not allow every sat
    if (name === null) values.required(item, path);
    const problem = name === null ? null : problemOf(name, network);
    if (problem !== null) values.sentence(path, `${path}: ${problem}`);
    return name === null || problem !== null ? [] : [name];
  });
}

function problemOf(name: string, network: NetworkName): string | null {
  const satribute = findSatribute(name);
  if (satribute === null) return `${name.slice(0, 64)} is no satribute: GET /satributes lists them.`;
  if (isFindable(satribute, network)) return null;
  return satribute.rule.kind === 'unknown'
    ? `which sats are ${satribute.id} is not known.`
    : `no sat of ${network} is ${satribute.id}.`;
}

/**
 * Why an order cannot choose its sats: they are those of the payment, so nothing else may come between them and the
 * inscriptions.
 */
export function satributeFaults(
  allowed: readonly string[] | null,
  { burn, parents, files }: OrderTerms,
  { paidTo }: Pick<OrderLayout, 'paidTo'>,
): RequestFault[] {
  if (allowed === null) return [];
  const says = (message: string): RequestFault[] => [{ message, parameter }];
  if (burn) return says('allowedSatributes: with burnAfterInscribe the special sat would be burned.');
  if (parents.length > 0 && files.length > 1)
    return says('allowedSatributes: an order with parents has one file on a special sat.');
  if (paidTo !== 'direct')
    return says(
      'allowedSatributes: the order takes more than one reveal, and the sats of its payment lie in the first one only. Order its files in parts, or without uncurseIt.',
    );
  return [];
}
