import { writeSync } from 'node:fs';

/**
 * Points at which the chaos test kills the process, each in another phase of a block (docs/chaos.md):
 * while blocks are fetched, while they are parsed, when a batch of them is decided, within the transaction of a batch,
 * between its commit and the update of memory, within the transaction of an undo, and while consumers read the outbox.
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
 * Points of the write of a batch, in their order, at which it can wait until the next batch is decided
 * (docs/adr/0027-first-sync.md): its event texts are deflated; its rows of the outbox are encoded, and nothing is sent;
 * half of the rows of a COPY are sent; its statements are sent, its commit is not; its commit is sent, and not
 * answered; it is committed, and memory has not learnt it.
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
 * Points of deliveries of webhooks (docs/webhooks.md): a message is taken, it is sent and its answer is not noted, and
 * that is committed.
 */
export const webhookFailpoints = ['webhook-taken', 'webhook-sent', 'webhook-marked'] as const;
/**
 * Points of a creation (docs/chaos.md, "Orders"): its key is claimed, its contents are on disk, its rows are written
 * and not committed, they are committed and not answered; a wish to cancel is noted.
 */
export const deskFailpoints = [
  'order-claimed',
  'order-files',
  'order-making',
  'order-made',
  'order-cancel',
] as const;
/**
 * Points of what brings orders on: a state, reveals, a refund, entries of the ledger are written and not committed; an
 * order is committed; the changes of payments that were looked at are; a transaction is sent and not marked; it is
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
/** Reveals whose commits are deep enough are to be sent, and their orders do not know: of etchings alone. */
export const etchingFailpoints = ['etchings-released'] as const;
/** What sends parents home is written and not committed: of orders with parents alone. */
export const parentFailpoints = ['order-return'] as const;
/**
 * An order has a sat of the inventory, and what it left of one is listed again, neither committed: of such orders
 * alone.
 */
export const stockFailpoints = ['order-reserved', 'order-restocked'] as const;
/**
 * Points of orders of a collection (docs/collections.md): items are held for an order that is not stored yet; a paid
 * order is decided about, or an order gave its items back, neither committed.
 */
export const itemFailpoints = ['items-held', 'items-decided', 'items-released'] as const;
/**
 * Points of what a miner takes (docs/miner.md): it has answered, and that is not stored; it is; a reveal is given up, and that
 * is not committed. Of reveals above the standard weight alone.
 */
export const minerFailpoints = ['package-handed', 'package-answered', 'order-unmined'] as const;
/**
 * Points of a release of indices of the wallet (docs/wallet.md): the mark is raised, and the database does not have the
 * range yet; it does, at a start not committed.
 */
export const indexFailpoints = ['mark-raised', 'indices-released'] as const;
/**
 * Points of payouts (docs/orders.md, "Payouts"): one is asked for; its transaction is signed and not stored, and it is
 * stored; it is sent and not marked, and it is marked; what a block has of it is written and not committed.
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
 * Points of token payments (docs/tokenpay.md): an order is made, not committed; the index was asked about payments, and
 * nothing is credited; credits are taken back, or written, and nothing else is; credits, charges and entries of orders
 * are written, messages to shops are not; they are committed, and the payments that were looked at are not noted.
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
 * Points of withdrawals (docs/tokenpay.md, "Withdrawals"): one is reserved, not committed, and it is committed; a batch is
 * signed and not stored, and it is stored; its withdrawals have another state, not committed.
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

/** Batches of the writer that is open: decided, and committed. */
export interface BatchCounts {
  readonly decided: number;
  readonly committed: number;
}

/** Acts at a seam; the batch there waits for it. */
type Act = (batches: BatchCounts) => Promise<void> | void;

interface Armed {
  readonly name: Failpoint;
  left: number;
  /** Null: the process kills itself at once. */
  readonly overlapped: Act | null;
}

let armed: Armed | null = null;
let batches: BatchCounts = { decided: 0, committed: 0 };

/** Arms one point, once: the process kills itself at the given pass (`passes`) through it. */
export function armFailpoint(name: Failpoint, passes: number): void {
  armed = { name, left: passes, overlapped: null };
}

/**
 * Arms one seam, once: a batch waits there until the next one is decided; then `act` is called, and the batch waits
 * for it.
 */
export function armSeam(name: Seam, passes: number, act: Act): void {
  armed = { name, left: passes, overlapped: act };
}

/** No point acts any more. */
export function disarmFailpoint(): void {
  armed = null;
  endWait?.('disarmed');
}

/** Marks a point. Costs a comparison when no point is armed. */
export function failpoint(name: Failpoint): void {
  if (pass(name) !== null) killProcess();
}

/**
 * Marks a seam; null: the batch goes on.
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

/** A writer has read where the chain ends: batches that another one decided are gone. */
export function batchesBegin(): void {
  batches = { decided: 0, committed: 0 };
}

/** A batch is decided: the one that waits for it goes on. */
export function batchDecided(): void {
  batches = { ...batches, decided: batches.decided + 1 };
  failpoint('decided');
  endWait?.('decided');
}

/** A line on stderr, written at once: the process may not live to write it later. */
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

/** Whether a later batch than the one at the seam is decided. */
export function isOverlapped(name: Seam, { decided, committed }: BatchCounts): boolean {
  return decided - committed >= (name === 'committed' ? 1 : 2);
}

type WaitEnd = 'decided' | 'late' | 'disarmed';

let endWait: ((end: WaitEnd) => void) | null = null;
/**
 * How long a batch waits for the next one: none may follow, or the next one may wait for this one (to build an index).
 * Then it goes on, and its seam acts at the next pass.
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
