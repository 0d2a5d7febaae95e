import { writeSync } from 'node:fs';

/**
 * Points at which the chaos test kills the process (docs/chaos.md). Each point is in another phase of a block:
 * - while blocks are fetched
 * - while blocks are parsed
 * - when a batch is applied
 * - within the transaction of a batch
 * - between the commit of a batch and the update of memory
 * - within the transaction of an undo
 * - while consumers read the outbox
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
 * Points in the write of a batch at which the batch can wait until the next batch is applied
 * (docs/adr/0027-first-sync.md). In their order, they mean:
 * - the writer knows where the outbox ends, and nothing is sent
 * - half of the rows of a COPY are sent
 * - its event texts are deflated, and the outbox is not sent (derived tables may still send statements)
 * - its statements are sent, but its commit is not sent
 * - its commit is sent, but not answered
 * - the batch is committed, but memory is not updated
 */
export const seams = ['prepared', 'copying', 'deflated', 'transaction', 'commit', 'committed'] as const;
export type Seam = (typeof seams)[number];
/**
 * Points of the catch-up pass, which a chaos run does not reach. They are within and after the transaction of a batch,
 * and within and after the transaction in which the writer takes over the table.
 */
export const catchUpFailpoints = ['catch-up', 'catch-up-committed', 'hand-over', 'handed-over'] as const;
/**
 * Points of the tracking of payments (docs/payments.md). Each is after a commit and before the update of memory. The
 * commit is that of a block, of old blocks, of a reorganisation, of new watches, of the mempool, or of missing
 * payments.
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
 * Points of the following of watches (docs/adr/0105-watches.md). Each is after the commit of a block, or of changes of
 * the mempool, and before the update of memory.
 */
export const watchFailpoints = ['watches-block', 'watches-pending'] as const;
/**
 * Points of deliveries of webhooks (docs/webhooks.md). In their order, they mean:
 * - a message is taken
 * - the message is sent, but its answer is not stored
 * - the answer is committed
 */
export const webhookFailpoints = ['webhook-taken', 'webhook-sent', 'webhook-marked'] as const;
/**
 * Points of the creation of an order (docs/chaos.md, "Orders"). In their order, they mean:
 * - the key of the request is claimed
 * - the contents of the order are on disk
 * - its rows are written, but not committed
 * - its rows are committed, but the request is not answered
 * - a request to cancel is stored
 */
export const deskFailpoints = [
  'order-claimed',
  'order-files',
  'order-making',
  'order-made',
  'order-cancel',
] as const;
/**
 * Points of the advance of orders. In their order, they mean:
 * - a state is written, but not committed
 * - reveals are written, but not committed
 * - a refund is written, but not committed
 * - entries of the ledger are written, but not committed
 * - an order is committed
 * - the processed changes of payments are committed
 * - a transaction is sent, but not marked
 * - the transaction is marked
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
/**
 * Point after which reveals with deep enough commits may be sent, although their orders do not know it yet. Only for
 * etchings.
 */
export const etchingFailpoints = ['etchings-released'] as const;
/** Point at which the return of parents is written, but not committed. Only for orders with parents. */
export const parentFailpoints = ['order-return'] as const;
/**
 * Points of orders with sats of the inventory. An order has reserved a sat, or the remaining sats of an output are
 * listed again. Neither is committed.
 */
export const stockFailpoints = ['order-reserved', 'order-restocked'] as const;
/**
 * Points of orders of a collection (docs/collections.md). In their order, they mean:
 * - items are held for an order that is not stored yet
 * - a paid order is decided, but not committed
 * - an order has released its items, but not committed
 */
export const itemFailpoints = ['items-held', 'items-decided', 'items-released'] as const;
/**
 * Points of packages for a miner (docs/miner.md), only for reveals above the standard weight. In their order, they
 * mean:
 * - the miner has answered, but the answer is not stored
 * - the answer is stored
 * - a reveal is given up, but not committed
 */
export const minerFailpoints = ['package-handed', 'package-answered', 'order-unmined'] as const;
/**
 * Points of a release of indices of the wallet (docs/wallet.md). In their order, they mean:
 * - the mark is raised, but the database does not have the range
 * - the database has the range, which is not committed yet at a start
 */
export const indexFailpoints = ['mark-raised', 'indices-released'] as const;
/**
 * Points of a restore (docs/runbook.md, "Backups"). In their order, they mean:
 * - the schema `service` is dropped
 * - files and secrets are in place
 * - the mark is raised, but no row is committed
 * - all rows are committed, but not migrated to this version
 */
export const restoreFailpoints = [
  'restore-emptied',
  'restore-files',
  'restore-marked',
  'restore-loaded',
] as const;
/**
 * Points of payouts (docs/orders-operator.md, "Payouts"). In their order, they mean:
 * - a payout is requested
 * - its transaction is signed, but not stored
 * - the transaction is stored
 * - the transaction is sent, but not marked
 * - the transaction is marked
 * - the rows from its block are written, but not committed
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
 * Points of token payments (docs/tokenpay.md). In their order, they mean:
 * - an order is made, but not committed
 * - the index has answered about payments, but no payment is credited
 * - credits are taken back, and nothing else is written
 * - credits are written, and nothing else is written
 * - credits, charges and entries of orders are written, but messages to shops are not written
 * - these rows are committed, but the processed payments are not marked
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
 * Points of withdrawals (docs/tokenpay.md, "Withdrawals"). In their order, they mean:
 * - a withdrawal is reserved, but not committed
 * - the withdrawal is committed
 * - a batch is signed, but not stored
 * - the batch is stored
 * - the withdrawals of the batch have another state, which is not committed
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
    ...watchFailpoints,
    ...deskFailpoints,
    ...orderFailpoints,
    ...etchingFailpoints,
    ...parentFailpoints,
    ...stockFailpoints,
    ...itemFailpoints,
    ...minerFailpoints,
    ...indexFailpoints,
    ...restoreFailpoints,
    ...payoutFailpoints,
    ...tokenFailpoints,
    ...withdrawalFailpoints,
  ]),
] as const;
export type Failpoint = (typeof allFailpoints)[number];

/** Number of batches that the open writer has applied, and number of batches that it has committed. */
export interface BatchCounts {
  readonly decided: number;
  readonly committed: number;
}

/** Action at a seam. The batch at the seam waits until the action ends. */
type Act = (batches: BatchCounts) => Promise<void> | void;

interface Armed {
  readonly name: Failpoint;
  left: number;
  /** Action at a seam. If it is null, the process kills itself at once. */
  readonly overlapped: Act | null;
}

let armed: Armed | null = null;
let batches: BatchCounts = { decided: 0, committed: 0 };

/** Arms one point, once. The process kills itself when it passes the point for the `passes`th time. */
export function armFailpoint(name: Failpoint, passes: number): void {
  armed = { name, left: passes, overlapped: null };
}

/**
 * Arms one seam, once. A batch waits there until the next batch is applied. Then `act` is called, and the batch waits
 * until `act` ends.
 */
export function armSeam(name: Seam, passes: number, act: Act): void {
  armed = { name, left: passes, overlapped: act };
}

/** Disarms all points, so that none of them acts. */
export function disarmFailpoint(): void {
  armed = null;
  endWait?.('disarmed');
}

/** Marks a point. If no point is armed, this costs only a comparison. */
export function failpoint(name: Failpoint): void {
  if (pass(name) !== null) killProcess();
}

/**
 * Marks a seam. Returns null if the batch continues without waiting.
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

/**
 * Resets the counts. Call this after a writer has read the end of the chain, because batches that another writer
 * applied no longer exist.
 */
export function batchesBegin(): void {
  batches = { decided: 0, committed: 0 };
}

/** Call this after a batch was applied, so that the batch that waits for it continues. */
export function batchDecided(): void {
  batches = { ...batches, decided: batches.decided + 1 };
  failpoint('decided');
  endWait?.('decided');
}

/** Writes a line to stderr immediately, because the process may not live long enough to write it later. */
export function sayFailpoint(name: Failpoint, { decided, committed }: BatchCounts): void {
  writeSync(2, `failpoint ${name}: ${decided} batches decided, ${committed} committed\n`);
}

export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** The armed point, if it acts at this pass. */
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

/** Whether a batch after the batch at the seam is already applied. */
export function isOverlapped(name: Seam, { decided, committed }: BatchCounts): boolean {
  return decided - committed >= (name === 'committed' ? 1 : 2);
}

type WaitEnd = 'decided' | 'late' | 'disarmed';

let endWait: ((end: WaitEnd) => void) | null = null;
/**
 * How long a batch waits for the next batch, in ms. There may be no next batch, or the next batch may wait for the
 * batch at the seam (to build an index). After that time the batch continues, and its seam acts at the next pass.
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
