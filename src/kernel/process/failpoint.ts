import { writeSync } from 'node:fs';

/**
 * Points at which the chaos test kills the process, each in another phase of a block (docs/chaos.md): while blocks are
 * fetched, while they are parsed, when a batch is applied, within the transaction of a batch, between its commit and
 * the update of memory, within the transaction of an undo, and while consumers read the outbox.
 */
export const failpoints = [
  'fetch',
  'parse',
  'decided',
  'transaction',
  'committed',
  'undo',
  'outbox',
] as const;
/**
 * Points of the write of a batch, in their order, at which it can wait until the next batch is applied
 * (docs/adr/0027-first-sync.md). Its event texts are deflated; its outbox rows are encoded, and nothing is sent; half
 * of the rows of a COPY are sent; its statements are sent, but not its commit; its commit is sent, but not answered; it
 * is committed, but memory is not updated.
 */
export const seams = ['deflated', 'prepared', 'copying', 'transaction', 'commit', 'committed'] as const;
export type Seam = (typeof seams)[number];
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
/**
 * Points of deliveries of webhooks (docs/webhooks.md): a message is taken; it is sent, but its answer is not stored;
 * the answer is committed.
 */
export const webhookFailpoints = ['webhook-taken', 'webhook-sent', 'webhook-marked'] as const;
/**
 * Points of a creation (docs/chaos.md, "Orders"): its key is claimed; its contents are on disk; its rows are written,
 * but not committed; they are committed, but not answered; a request to cancel is stored.
 */
export const deskFailpoints = [
  'order-claimed',
  'order-files',
  'order-making',
  'order-made',
  'order-cancel',
] as const;
/**
 * Points of the advance of orders. A state, reveals, a refund, or entries of the ledger are written, but not committed;
 * an order is committed; the processed changes of payments are committed; a transaction is sent, but not marked; it is
 * marked.
 */
export const orderFailpoints = [
  'order-moved',
  'order-reveals',
  'order-refund',
  'order-posted',
  'order-committed',
  'order-followed',
  'order-sent',
  'order-marked',
] as const;
/** Reveals with deep enough commits may be sent, and their orders do not know it yet: only for etchings. */
export const etchingFailpoints = ['etchings-released'] as const;
/** The return of parents is written, but not committed: only for orders with parents. */
export const parentFailpoints = ['order-return'] as const;
/** An order has a sat of the inventory, or the rest of one is listed again, neither committed: only for such orders. */
export const stockFailpoints = ['order-reserved', 'order-restocked'] as const;
/**
 * Points of orders of a collection (docs/collections.md): items are held for an order that is not stored yet; a paid
 * order is decided, or an order released its items, neither committed.
 */
export const itemFailpoints = ['items-held', 'items-decided', 'items-released'] as const;
/**
 * Points of packages for a miner (docs/miner.md): the miner has answered, but that is not stored; it is stored; a
 * reveal is given up, but not committed. Only for reveals above the standard weight.
 */
export const minerFailpoints = ['package-handed', 'package-answered', 'order-unmined'] as const;
/**
 * Points of a release of indices of the wallet (docs/wallet.md): the mark is raised, but the database lacks the range;
 * it has the range, at a start not committed.
 */
export const indexFailpoints = ['mark-raised', 'indices-released'] as const;
/**
 * Points of payouts (docs/orders-operator.md, "Payouts"): one is requested; its transaction is signed, but not stored;
 * it is stored; it is sent, but not marked; it is marked; the rows from its block are written, but not committed.
 */
export const payoutFailpoints = [
  'payout-asked',
  'payout-signed',
  'payout-stored',
  'payout-sent',
  'payout-marked',
  'payout-mined',
] as const;
/**
 * Points of token payments (docs/tokenpay.md): an order is made, but not committed; the index was asked about payments,
 * and no payment is credited; credits are taken back, or written, and nothing else is; credits, charges and entries of
 * orders are written, but messages to shops are not; they are committed, but the processed payments are not marked.
 */
export const tokenFailpoints = [
  'token-order-making',
  'token-contents-read',
  'token-credits-removed',
  'token-credits-added',
  'token-orders-stored',
  'token-orders-committed',
] as const;
/**
 * Points of withdrawals (docs/tokenpay.md, "Withdrawals"): one is reserved, but not committed; it is committed; a batch
 * is signed, but not stored; it is stored; its withdrawals have another state, not committed.
 */
export const withdrawalFailpoints = [
  'withdrawal-reserving',
  'withdrawal-reserved',
  'withdrawals-signed',
  'withdrawals-stored',
  'withdrawals-settling',
] as const;
export const allFailpoints = [
  ...new Set([
    ...failpoints,
    ...seams,
    ...catchUpFailpoints,
    ...paymentFailpoints,
    ...webhookFailpoints,
    ...deskFailpoints,
    ...orderFailpoints,
    ...etchingFailpoints,
    ...parentFailpoints,
    ...stockFailpoints,
    ...itemFailpoints,
    ...minerFailpoints,
    ...indexFailpoints,
    ...payoutFailpoints,
    ...tokenFailpoints,
    ...withdrawalFailpoints,
  ]),
] as const;
export type Failpoint = (typeof allFailpoints)[number];

/** Batches of the open writer: applied, and committed. */
export interface BatchCounts {
  readonly decided: number;
  readonly committed: number;
}

/** Action at a seam. The batch at the seam waits until it ends. */
type Act = (batches: BatchCounts) => Promise<void> | void;

interface Armed {
  readonly name: Failpoint;
  left: number;
  /** Null: the process kills itself at once. */
  readonly overlapped: Act | null;
}

let armed: Armed | null = null;
let batches: BatchCounts = { decided: 0, committed: 0 };

/** Arms one point, once. The process kills itself when it passes the point for the given number of times (`passes`). */
export function armFailpoint(name: Failpoint, passes: number): void {
  armed = { name, left: passes, overlapped: null };
}

/**
 * Arms one seam, once. A batch waits there until the next batch is applied. Then `act` is called, and the batch waits
 * until it ends.
 */
export function armSeam(name: Seam, passes: number, act: Act): void {
  armed = { name, left: passes, overlapped: act };
}

/** Disarms: no point acts any more. */
export function disarmFailpoint(): void {
  armed = null;
  endWait?.('disarmed');
}

/** Marks a point. Costs a comparison when no point is armed. */
export function failpoint(name: Failpoint): void {
  if (pass(name) !== null) killProcess();
}

/**
 * Marks a seam. Returns null if the batch continues.
 *
 * @param before called first if the seam acts
 */
export function seam(name: Seam, before?: () => void): Promise<void> | null {
  if (name === 'committed') batches = { ...batches, committed: batches.committed + 1 };
  const due = pass(name);
  if (due === null) return null;
  before?.();
  if (due.overlapped !== null) return actOverlapped(name, due.overlapped);
  killProcess();
  return null;
}

/** Call after a writer has read the end of the chain, because batches that another writer applied no longer exist. */
export function batchesBegin(): void {
  batches = { decided: 0, committed: 0 };
}

/** Call after a batch was applied, so that the batch that waits for it continues. */
export function batchDecided(): void {
  batches = { ...batches, decided: batches.decided + 1 };
  failpoint('decided');
  endWait?.('decided');
}

/** Writes a line on stderr immediately, because the process may not live to write it later. */
export function sayFailpoint(name: Failpoint, { decided, committed }: BatchCounts): void {
  writeSync(2, `failpoint ${name}: ${decided} batches decided, ${committed} committed\n`);
}

export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** The armed point, if this is the pass at which it acts. */
function pass(name: Failpoint): Armed | null {
  if (armed === null || armed.name !== name) return null;
  armed.left--;
  if (armed.left > 0) return null;
  const due = armed;
  armed = null;
  return due;
}

async function actOverlapped(name: Seam, act: Act): Promise<void> {
  const end = isOverlapped(name, batches) ? 'decided' : await nextDecided();
  if (end === 'decided') await act(batches);
  if (end === 'late') armSeam(name, 1, act);
}

/** Whether a later batch than the batch at the seam is applied. */
export function isOverlapped(name: Seam, { decided, committed }: BatchCounts): boolean {
  return decided - committed >= (name === 'committed' ? 1 : 2);
}

type WaitEnd = 'decided' | 'late' | 'disarmed';

let endWait: ((end: WaitEnd) => void) | null = null;
/**
 * How long a batch waits for the next batch, in ms. There may be no next batch, or the next batch may wait for this one
 * (to build an index). After that time the batch continues, and its seam acts at the next pass.
 */
const waitMaxMs = 3000;

function nextDecided(): Promise<WaitEnd> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => endWait?.('late'), waitMaxMs);
    endWait = (end) => {
      clearTimeout(timer);
      endWait = null;
      resolve(end);
    };
  });
}
