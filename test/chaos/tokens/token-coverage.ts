import type { ItemWatch } from '#test/chaos/orders/item-watch.ts';
import { hitsOf } from '#test/chaos/processes/kill-at-points.ts';
import type { Supervisor } from '#test/chaos/processes/supervisor.ts';
import type { RuneBuyers } from './rune-buyers.ts';
import { makerAims, shopAims } from './token-aims.ts';
import { paymentCases, type TokenCustomers } from './token-customers.ts';
import type { TokenRunEnd } from './token-run-verdict.ts';
import type { TokenTakers } from './token-takers.ts';
import type { TokenWatch } from './token-watch.ts';

/** Depths of the reorganisations that take a completed order back. */
export const depthsAfterCompletion = [1, 12] as const;

/** Everything that a run did. */
interface TriedRun {
  readonly customers: TokenCustomers;
  readonly takers: TokenTakers;
  readonly buyers: RuneBuyers;
  readonly watch: TokenWatch;
  readonly items: ItemWatch;
  readonly end: Pick<TokenRunEnd, 'sales'>;
  /** Number of reorganisations by depth. */
  readonly depths: ReadonlyMap<string, number>;
  readonly supervisors: readonly Supervisor[];
}

/** Things that a run should have done, but has not done. Without them, the verdict proves nothing. */
export function missingOf({
  customers,
  takers,
  buyers,
  watch,
  items,
  end: { sales },
  depths,
  supervisors,
}: TriedRun): string[] {
  const points = [...shopAims, ...makerAims].filter((name) => hitsOf(supervisors, name) === 0);
  const cases = paymentCases.filter((name) => !customers.sent.has(name));
  const never = depthsAfterCompletion.filter((depth) => !depths.has(`${depth} after completion`));
  return [
    ...points.map((name) => `the failpoint ${name} was never hit`),
    ...cases.map((name) => `no payment of the case "${name}" was made`),
    ...takers.missing.map((name) => `no withdrawal of the case "${name}" was made`),
    ...buyers.missing.map((name) => `no sale of the case "${name}" was made`),
    ...never.map((depth) => `no reorganisation of ${depth} took a completed order back`),
    ...(watch.compared === 0 ? ['holdings of addresses were never compared'] : []),
    ...(watch.reserved === 0 ? ['no look saw a withdrawal'] : []),
    ...(items.looks === 0 ? ['the sales of collections were never looked at'] : []),
    ...(sales.delivered === 0 ? ['no sale was delivered'] : []),
    ...(sales.refunded === 0 ? ['no sale whose time was over was refunded'] : []),
    ...(sales.runesAlone === 0 ? ['the rune of a sale never came alone'] : []),
    ...supervisors.flatMap(({ exits }) => exits.map((words) => `process: ${words}`)),
  ];
}
