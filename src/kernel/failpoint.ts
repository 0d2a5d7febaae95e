/**
 * Points at which the chaos test kills the process, each in another phase of a block (docs/chaos.md):
 * while blocks are fetched, while they are parsed, within the transaction of a batch, between its commit and the
 * update of memory, within the transaction of an undo, and while consumers read the outbox.
 */
export const failpoints = ['fetch', 'parse', 'transaction', 'committed', 'undo', 'outbox'] as const;
/**
 * Points of the catch-up pass, which a chaos run does not reach: within and after the transaction of a batch, and
 * within and after the one in which the writer takes the table over.
 */
export const catchUpFailpoints = ['catch-up', 'catch-up-committed', 'hand-over', 'handed-over'] as const;
/**
 * Points of payments seen (docs/payments.md), each after a commit and before the update of memory: of a block, of old
 * blocks, of a reorganisation, of new watches, of the mempool, and of gone payments.
 */
export const paymentFailpoints = [
  'payments-block',
  'payments-scan',
  'payments-undo',
  'payments-watch',
  'payments-mempool',
  'payments-gone',
] as const;
export const allFailpoints = [...failpoints, ...catchUpFailpoints, ...paymentFailpoints] as const;
export type Failpoint = (typeof allFailpoints)[number];

let armed: { readonly name: string; left: number } | null = null;

/** Arms one point: the process kills itself at the given pass (`passes`) through it. */
export function armFailpoint(name: Failpoint, passes: number): void {
  armed = { name, left: passes };
}

/** Marks a point. Costs a comparison when no point is armed. */
export function failpoint(name: Failpoint): void {
  if (armed === null || armed.name !== name) return;
  armed.left--;
  if (armed.left <= 0) process.kill(process.pid, 'SIGKILL');
}
