import type pg from 'pg';
import type { ReceivedRune } from '#chain/outputs/credited-output.queries.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { readPaymentsOf, type WatchedPayment } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { keepCoins, setAside } from '#purse/coins/coins.store.ts';
import { postAllEntries } from '#purse/ledger/ledger.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { Credit } from '#tokenpay/crediting/credit.ts';
import { addCredits, readCredits, removeCredits } from '#tokenpay/crediting/credits.store.ts';
import { readDecisions } from '#tokenpay/crediting/decisions.store.ts';
import { tokenEntries } from '#tokenpay/crediting/token-entries.ts';
import { lockTokenOrders, putStandings, type TokenOrderStanding } from '#tokenpay/order/token-order.store.ts';
import { chargeKinds, type TokenOrder, type TokenRune } from '#tokenpay/order/token-order.ts';
import type { CreditingPolicy } from '#tokenpay/order/token-policy.ts';
import { storedRunes, tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { tokenWatcherOf } from '#tokenpay/order/watchers.ts';
import { shopMessage } from '#tokenpay/telling/tell-shop.ts';
import { assetsOf, tokenOrderAnswer } from '#tokenpay/telling/token-order-answer.ts';
import { putWebhooksOf } from '#webhooks/outbox.ts';
import { chargeOf, judgeOrder, keptCredits, type NewCredit, newCredits, uncredited } from './judge-order.ts';
import { readContents } from './read-contents.ts';

/** An order, and the changes that must be stored for it. */
interface Judged {
  readonly before: TokenOrder;
  readonly standing: TokenOrderStanding;
  readonly payments: readonly WatchedPayment[];
  readonly credits: readonly Credit[];
  readonly added: readonly Credit[];
  readonly removed: readonly Credit[];
}

/** A credited payment that a reorganisation removed from the chain. */
export interface TakenBack {
  readonly account: string;
  readonly outpoint: string;
  /** Height of the removed block that contained the payment. */
  readonly height: number;
  readonly sats: bigint;
}

/**
 * Updates orders from payments, blocks and time, in one transaction: credits, charges, ledger, coins, and notifications
 * of shops. A second call has no effect. The number of statements does not depend on the number of orders.
 *
 * @param told orders whose shops are notified even if nothing changed
 * @returns removed credits; if their units have already left the account, these units are missing now
 */
export async function bringOn(
  tx: pg.ClientBase,
  ids: readonly string[],
  policy: CreditingPolicy,
  now: Date,
  told: ReadonlySet<string> = new Set(),
): Promise<readonly TakenBack[]> {
  const judged = await judge(tx, await lockTokenOrders(tx, ids), policy, now);
  await moveCredits(tx, judged);
  await postAllEntries(
    tx,
    'token-order',
    new Map(
      judged.map(({ standing, credits }) => [standing.order.id, tokenEntries(standing.order, credits)]),
    ),
  );
  await putStandings(
    tx,
    judged.map(({ standing }) => standing),
    new Set(judged.filter(isNews).map(({ before }) => before.id)),
  );
  await keepOrderCoins(tx, judged);
  failpoint('token-orders-stored');
  await tellShops(
    tx,
    judged.filter((each) => isNews(each) || told.has(each.before.id)),
  );
  return judged.flatMap(takenBackOf);
}

/** Credits that were taken back, except those whose payment is already credited in another block. */
function takenBackOf({ before: { account }, removed, credits }: Judged): TakenBack[] {
  const kept = new Set(credits.map(outpointOf));
  return removed
    .map(({ txid, vout, block: { height }, sats }) => ({
      account,
      outpoint: outpointOf({ txid, vout }),
      height,
      sats,
    }))
    .filter(({ outpoint }) => !kept.has(outpoint));
}

/** Deletes credits whose blocks are gone, and stores the new credits. */
async function moveCredits(tx: pg.ClientBase, judged: readonly Judged[]): Promise<void> {
  const removed = judged.flatMap((each) => each.removed);
  const added = judged.flatMap(({ before, added: credits }) =>
    credits.map((credit) => ({ orderId: before.id, credit })),
  );
  if (added.length > 0) failpoint('token-contents-read');
  await removeCredits(tx, removed);
  if (removed.length > 0) failpoint('token-credits-removed');
  await addCredits(tx, added);
  if (added.length > 0) failpoint('token-credits-added');
}

async function judge(
  tx: pg.ClientBase,
  orders: readonly TokenOrder[],
  policy: CreditingPolicy,
  now: Date,
): Promise<Judged[]> {
  const ids = orders.map(({ id }) => id);
  // the offset is read before the payments, so that the payments include all that arrived until `completeAt`
  const offset = await readPaymentsOffset(tx);
  const tip = offset?.height ?? -1;
  const completeAt = offset?.completeAt ?? null;
  const payments = await readPaymentsOf(tx, ids.map(tokenWatcherOf));
  const credits = await readCredits(tx, ids);
  const seen = orders.map((order) => ({
    order,
    payments: payments.get(tokenWatcherOf(order.id)) ?? [],
    credits: credits.get(order.id) ?? [],
  }));
  const known = {
    contents: await readContents(tx, seen.flatMap(uncredited), policy.special()),
    decisions: await readDecisions(tx, ids),
    tip,
    now,
    completeAt,
  };
  const fresh = seen.map((facts) => newCredits(facts.order, { ...facts, ...known }, policy));
  const numbers = await numbered(tx, fresh.flat());
  return seen.map((facts, place): Judged => {
    const { kept, removed } = keptCredits(facts);
    const added = (fresh[place] ?? []).map((credit) => ({ ...credit, runes: numbers(credit.runes) }));
    const all = [...kept, ...added];
    const standing = judgeOrder(facts.order, { payments: facts.payments, now, completeAt }, all);
    return { before: facts.order, standing, payments: facts.payments, credits: all, added, removed };
  });
}

/** Stores the runes of new credits. Returns a function that returns the number of a rune. */
async function numbered(
  tx: pg.ClientBase,
  credits: readonly NewCredit[],
): Promise<(runes: readonly ReceivedRune[]) => Credit['runes']> {
  const byName = new Map(credits.flatMap(({ runes }) => runes.map((rune) => [nameOf(rune), rune] as const)));
  const stored = await storedRunes(tx, [...byName.values()]);
  const assets = new Map([...byName.keys()].map((name, place) => [name, stored[place]?.asset ?? 0]));
  return (runes) => runes.map((rune) => ({ asset: assets.get(nameOf(rune)) ?? 0, amount: rune.amount }));
}

const nameOf = ({ etching, rune }: Pick<ReceivedRune, 'etching' | 'rune'>): string =>
  `${Buffer.from(etching).toString('hex')} ${rune}`;

/** Wallet branches of the keys of charges. */
const branches = { fee: 3, token: 0 } as const;

async function keepOrderCoins(tx: pg.ClientBase, judged: readonly Judged[]): Promise<void> {
  const coins = judged.flatMap(({ standing: { order }, payments, credits }) => {
    const credited = new Set(credits.map(outpointOf));
    return payments.flatMap((payment): (HeldCoin & { subject: string })[] => {
      const kind = chargeOf(order, payment);
      if (payment.goneAt !== null || kind === null) return [];
      const { txid, vout, value } = payment;
      const { keyIndex: index } = order.charges[kind];
      // if the index is null, the sats pay an inscription order, and are coins of that order
      if (index === null) return [];
      const key = { branch: branches[kind], index };
      const holder = credited.has(outpointOf(payment))
        ? ({ held: 'accounts', why: 'credit' } as const)
        : ({ held: 'reserved', why: 'payment' } as const);
      return [{ txid, vout, value, key, subject: order.id, ...holder }];
    });
  });
  await keepCoins(tx, { kind: 'token-order', subjects: judged.map(({ before }) => before.id) }, coins);
  const found = judged
    .flatMap(({ added }) => added)
    .flatMap((coin) => (coin.aside === null ? [] : [{ coin, found: coin.aside }]));
  await setAside(tx, found);
}

/** Whether anything changed that the shop can see. */
const isNews = ({ before, standing: { order }, added, removed }: Judged): boolean =>
  added.length > 0 ||
  removed.length > 0 ||
  order.state !== before.state ||
  chargeKinds.some(
    (kind) =>
      order.charges[kind].state !== before.charges[kind].state ||
      nullable(order.charges[kind].txid) !== nullable(before.charges[kind].txid),
  );

const nullable = (txid: Uint8Array | null): string =>
  txid === null ? '' : Buffer.from(txid).toString('hex');

async function tellShops(tx: pg.ClientBase, changed: readonly Judged[]): Promise<void> {
  const judged = changed.filter(({ before }) => before.webhookUrl !== null);
  if (judged.length === 0) return;
  const assets = judged.flatMap(({ credits }) => assetsOf(credits));
  const runes: ReadonlyMap<number, TokenRune> = await tokenRunesOf(tx, [...new Set(assets)]);
  await putWebhooksOf(
    tx,
    judged.map(({ standing: { order }, credits }) =>
      shopMessage(order, tokenOrderAnswer(order, credits, runes)),
    ),
  );
}
