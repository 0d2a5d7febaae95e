import type { RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';

const parameter = 'allowedSatributes';
/** Maximum number of names that an order may allow. Fewer satributes exist (docs/satributes.md). */
const namesMax = 100;

/** The satributes that the order allows, unchanged. Empty if any sat is allowed. */
export function readSatributes(values: RequestValues, given: unknown, book: () => SatributeBook): string[] {
  const items = values.list(given, parameter);
  if (items.length > namesMax) {
    values.fault(parameter, `has more than ${namesMax} names`);
    return [];
  }
  return items.flatMap((item, index): string[] => {
    const path = `${parameter}[${index}]`;
    const name = values.text(item, path);
    // a missing name must not allow every sat
    if (name === null) values.required(item, path);
    const problem = name === null ? null : problemOf(name, book());
    if (problem !== null) values.sentence(path, `${path}: ${problem}`);
    return name === null || problem !== null ? [] : [name];
  });
}

function problemOf(name: string, book: SatributeBook): string | null {
  const satribute = book.find(name);
  if (satribute === null)
    return `${name.slice(0, 64)} is not a satribute. GET /satributes lists all satributes.`;
  if (book.isFindable(satribute)) return null;
  // a rule may be named even if no sat of this network meets it
  return satribute.rule.kind === 'unknown' || book.isMeant(satribute)
    ? `it is unknown which sats are ${satribute.id}.`
    : `no sat of ${book.network} is ${satribute.id}.`;
}

/** Faults of an order that would burn its special sats. Such an order is a mistake. */
export function satributeFaults(
  allowed: readonly string[] | null,
  { burn }: Pick<OrderTerms, 'burn'>,
): RequestFault[] {
  if (allowed === null || !burn) return [];
  return [
    {
      message:
        'allowedSatributes is not possible with burnAfterInscribe, because the special sat would be burned.',
      parameter,
    },
  ];
}
