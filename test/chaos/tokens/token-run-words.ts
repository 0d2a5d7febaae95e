import { buyingCases, type RuneBuyers } from './rune-buyers.ts';
import { paymentCases, type TokenCustomers } from './token-customers.ts';
import type { TokenRunEnd } from './token-run-verdict.ts';
import { type TokenTakers, takingCases } from './token-takers.ts';
import type { TokenWatch } from './token-watch.ts';

/** Everything that a run says about itself. */
interface SaidRun {
  readonly customers: TokenCustomers;
  readonly takers: TokenTakers;
  readonly buyers: RuneBuyers;
  readonly watch: TokenWatch;
  readonly end: TokenRunEnd;
  readonly seed: string;
  readonly kills: number;
  readonly reorgs: number;
  /** Number of reorganisations by depth. */
  readonly depths: ReadonlyMap<string, number>;
}

const listed = (counts: Iterable<readonly [string, number]>): string =>
  [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
const equal = (counts: object): string =>
  Object.entries(counts)
    .map(([name, times]) => `${name}=${times}`)
    .join(', ');

/**
 * The table before the last line.
 *
 * @param points number of kills by failpoint
 */
export function tableOfRun({
  customers,
  takers,
  buyers,
  watch,
  end: { states, received, withdrawals, messages, sales, differences },
  kills,
  depths,
  points,
}: SaidRun & { readonly points: readonly (readonly [string, number])[] }): string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['orders', `${customers.all.length}: ${listed(Object.entries(states))}`],
    ['payments', listed(paymentCases.map((name) => [name, customers.sent.get(name) ?? 0]))],
    ['withdrawals', `${takers.all.length}: ${listed(Object.entries(withdrawals))}`],
    ['asked for', listed(takingCases.map((name) => [name, takers.done.get(name) ?? 0]))],
    ['sales', `${buyers.all.length}: ${listed(Object.entries(sales))}, refused ${buyers.refused}`],
    ['bought', listed(buyingCases.map((name) => [name, buyers.done.get(name) ?? 0]))],
    ['outputs', `${received} at addresses of charges`],
    ['messages', `${messages}`],
    ['kills', `${kills}: ${listed(points)}`],
    ['reorganisations', listed([...depths].toSorted(([a], [b]) => Number.parseInt(a) - Number.parseInt(b)))],
    [
      'looks',
      `${watch.looks}, ${watch.compared} compared, ${watch.stale} while a credit was about to go, ${watch.reserved} with units reserved, ${watch.behind} while a withdrawal was not yet at its state in blocks`,
    ],
    ['differences', `${differences.length}, ${watch.faults.length} of them in looks`],
  ];
  return rows.map(([name, words]) => `${name.padEnd(16)} ${words}`);
}

/** The last line of the output. */
export function verdictLine({ customers, takers, buyers, watch, end, seed, kills, reorgs }: SaidRun): string {
  const { states, withdrawals, sales, received, messages, differences } = end;
  return `chaos: ${differences.length} differences; orders=${customers.all.length} (${equal(states)}), payments=${customers.sentCount}, withdrawals=${takers.all.length} (${equal(withdrawals)}), sales=${buyers.all.length} (${equal(sales)}), received=${received}, messages=${messages}, kills=${kills}, reorgs=${reorgs}, looks=${watch.looks} (compared=${watch.compared}, stale=${watch.stale}), seed=${seed}`;
}
