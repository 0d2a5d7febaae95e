import { type Allowance, type CheaperPhase, choosePhase } from './choose-phase.ts';
import { holdProblem } from './hold-bounds.ts';
import {
  beyondSupply,
  countOf,
  type HoldRequest,
  itemsTaken,
  type RefusedHold,
  saleClosed,
  withoutRunePrice,
} from './hold-request.ts';
import type { NetworkClient, SaleState } from './sale.queries.ts';

/** A request to hold items, with data about its client and its receiving address. */
export interface AskedHold extends Pick<HoldRequest, 'items' | 'bounds' | 'now'>, NetworkClient {
  /** Number of unpaid items of the client. `ofNetwork` is the number of unpaid items of the client's network. */
  readonly ofClient: number;
  readonly ofNetwork: number;
  /** Allowances of the receiving address. */
  readonly allowances: readonly Allowance[];
}

/** The terms on which items are held. */
export interface HoldTerms {
  readonly kind: 'terms';
  readonly phase: string;
  /** Price of an item in sats, which the creator receives. */
  readonly price: bigint;
  readonly cheaper: CheaperPhase | null;
}

/**
 * Decides about requests for items of one collection. It decides one request after another, so that each decision
 * counts the items of earlier requests. Requests for named items come first, because drawn items can be any other
 * items. Pure.
 *
 * @param free the named items that do not belong to an order
 */
export function decideHolds(
  sale: SaleState,
  requests: readonly AskedHold[],
  free: ReadonlySet<number>,
): (HoldTerms | RefusedHold)[] {
  const left = new Set(free);
  const given: { readonly request: AskedHold; readonly count: number; readonly phase: string }[] = [];
  return requests.map((request) => {
    const decision = decideHold(withGiven(sale, given), withUnpaid(request, given), left);
    if (decision.kind !== 'terms') return decision;
    if (request.items.kind === 'named') for (const number of request.items.numbers) left.delete(number);
    given.push({ request, count: countOf(request.items), phase: decision.phase });
    return decision;
  });
}

type Given = readonly { readonly request: AskedHold; readonly count: number; readonly phase: string }[];

const itemsOf = (given: Given, isCounted: (of: Given[number]) => boolean): number =>
  given.reduce((sum, of) => (isCounted(of) ? sum + of.count : sum), 0);

function withGiven(sale: SaleState, given: Given): SaleState {
  const items = itemsOf(given, () => true);
  return {
    ...sale,
    taken: sale.taken + items,
    unpaid: sale.unpaid + items,
    phases: sale.phases.map((phase) => ({
      ...phase,
      taken: phase.taken + itemsOf(given, (of) => of.phase === phase.phase),
    })),
  };
}

const withUnpaid = (request: AskedHold, given: Given): AskedHold => ({
  ...request,
  ofClient: request.ofClient + itemsOf(given, (of) => of.request.client === request.client),
  ofNetwork: request.ofNetwork + itemsOf(given, (of) => of.request.client.startsWith(request.network)),
});

function decideHold(sale: SaleState, request: AskedHold, left: ReadonlySet<number>): HoldTerms | RefusedHold {
  const { items, allowances, now } = request;
  const refusal = refusalOf(sale, request);
  if (refusal !== null) return refusal;
  const { price, phases } = sale;
  const chosen = choosePhase(
    { price, free: sale.totalCount - sale.taken, phases },
    { count: countOf(items), allowances, now },
  );
  if (chosen.kind === 'refused') return { kind: 'closed', reason: chosen.reason };
  if (items.kind === 'named' && !areFree(items.numbers, left)) return { kind: 'taken', reason: itemsTaken };
  return { kind: 'terms', phase: chosen.phase.phase, price: chosen.price, cheaper: chosen.cheaper };
}

/** Whether all numbers are different, and none of these items belongs to an order. */
const areFree = (numbers: readonly number[], left: ReadonlySet<number>): boolean =>
  new Set(numbers).size === numbers.length && numbers.every((number) => left.has(number));

function refusalOf(sale: SaleState, { items, bounds, ...request }: AskedHold): RefusedHold | null {
  if (sale.state === 'closed') return { kind: 'closed', reason: saleClosed };
  if (sale.isInRunes && sale.runePrice === null) return withoutRunePrice;
  const beyond = beyondSupply(items, sale.totalCount);
  if (beyond !== null) return { kind: 'closed', reason: beyond };
  const count = countOf(items);
  // if too few items are left, `choosePhase` reports this; the bounds apply only to the items that are left
  if (sale.totalCount - sale.taken < count) return null;
  const { ofClient, ofNetwork } = request;
  const unsold = sale.totalCount - sale.taken + sale.unpaid;
  const problem = holdProblem(count, { ofClient, ofNetwork, ofCollection: sale.unpaid }, unsold, bounds);
  return problem === null ? null : { kind: 'bounds', reason: problem };
}
