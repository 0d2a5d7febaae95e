import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { nothingHeld } from '#kernel/contracts/holdings.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { destination } from '#orders/making/sign-and-store.ts';
import { type NodeStanding, refundFeeRate } from '#orders/sending/node-standing.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import {
  lockPayout,
  noteMissing,
  noteStuck,
  putOwnIndex,
  putState,
  sharesUnderWay,
} from '#payouts/payout/payout.store.ts';
import {
  isBatch,
  type Payout,
  type PayoutTransaction,
  type Recipient,
  recipientsOf,
  type StoredPayoutPlan,
  satsOf,
} from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { type PayoutCoin, type PlannedPayout, planPayout } from '#payouts/planning/plan-payout.ts';
import { withContents } from '#payouts/planning/whole-contents.ts';
import { satsOfService } from '#purse/coins/coins.store.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { heldByOwners } from '#purse/ledger/ledger.store.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointOf, outpointParts } from '#purse/transactions/outpoint.ts';
import { OutputTaken } from '#purse/transactions/spends.store.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import { leaseIndices } from '#wallet/indices/release.store.ts';
import { payoutCoins } from './payout-coins.ts';
import type { MadeBatch, PayoutParts } from './payout-parts.ts';
import { keepPayoutCoin, type SettledPayout } from './settle-payout.ts';
import { wholeOutput } from './whole-output.ts';

/** Thrown if the remaining coins would not cover the debt to partners or accounts. Nothing is stored then. */
export class NotCovered extends Error {
  readonly missing: bigint;
  constructor(missing: bigint) {
    super(`${missing} sats that are owed would not be covered`);
    this.missing = missing;
  }
}

/**
 * Plans, signs and stores the transaction of a payout, or a replacement of an unconfirmed transaction. If this is not
 * possible, stores the reason. Returns true if a transaction was stored.
 *
 * @param replaced transaction to replace, or null if no transaction of the payout can still be mined
 */
export async function makePayout(
  parts: PayoutParts,
  settled: SettledPayout,
  standing: NodeStanding,
  replaced: PayoutTransaction | null,
): Promise<boolean> {
  const { client, log } = parts;
  const { payout } = settled;
  const making = isBatch(payout.kind)
    ? makeBatch(parts, { ...settled, standing, replaced })
    : tryToMake(parts, settled, standing, replaced);
  const reason = await making.catch((error: unknown) => {
    if (error instanceof NotCovered) return fundReason(error.missing);
    // another plan took one of the coins, so the next round selects other coins
    if (error instanceof OutputTaken)
      return 'Another transaction spent one of the coins of the payout, so the payout is planned again.';
    throw error;
  });
  // the reason is not stored for a payout that was already sent, because its transaction stays valid
  if (replaced === null || reason === null) await noteStuck(client, payout.id, reason);
  if (reason !== null && reason !== payout.stuck) log.warn({ payout: payout.id, reason }, 'a payout waits');
  return reason === null;
}

function makeBatch(parts: PayoutParts, making: MadeBatch): Promise<string | null> {
  assert(parts.withdrawals !== null, 'batches are made where withdrawals are');
  return parts.withdrawals.make(parts, making);
}

const fundReason = (missing: bigint): string =>
  `No coin is free for ${missing} sats of the payout. Add a coin (satscribe wallet fund shows where), or wait for a block with revenue.`;

async function tryToMake(
  parts: PayoutParts,
  { payout, shares, transactions }: SettledPayout,
  standing: NodeStanding,
  replaced: PayoutTransaction | null,
): Promise<string | null> {
  const { client, signer } = parts;
  const recipients = recipientsOf(shares);
  const refusal = await refusalOf(client, recipients);
  if (refusal !== null) return refusal;
  const whole = await wholeOutput(parts, payout);
  if (whole === 'gone')
    return 'The output to send is missing. The transaction is made once a block has this output and it is unspent.';
  const ownIndex = payout.ownIndex ?? (await leaseOwnIndex(client, payout.id));
  const rest = destination(signer, { key: { branch: 1, index: ownIndex }, leafScript: null });
  const tip = (await readPaymentsOffset(client))?.height ?? 0;
  const coins = await payoutCoins(client, parts.proveFree, tip - parts.confirmations + 1);
  if (coins === null) return 'Coins of earlier orders are being listed. The payout is made after that.';
  const kept = replaced === null ? stillThere(transactions, coins) : coinsOf(replaced, payout);
  const planned = await planThere(parts, coins, (there) =>
    planPayout(
      {
        whole,
        recipients,
        kept: kept.filter((coin) => replaced !== null || has(there, coin)),
        replaced,
        feeRate: feeRateOf(payout, standing, replaced),
      },
      there.filter((coin) => !has(kept, coin)),
      rest,
      standing,
    ),
  );
  if (planned.kind === 'none') return reasonOf(planned);
  const storing = { payout, shares, replaced, ownIndex, script: rest.script };
  const given = replaced === null ? transactions : [];
  const waits = await waitsForGivenUp(parts, payout, given, { spent: planned.plan.inputs, tip });
  return waits ?? store(parts, storing, planned);
}

/** The reason why one of these recipients must not be paid, or null if all of them may be paid. */
async function refusalOf(client: pg.ClientBase, recipients: readonly Recipient[]): Promise<string | null> {
  const [refused] = await checkDestinations(
    recipients.map(({ script, sats }) => ({ script, amount: sats })),
    (scripts) => ownScriptsAmong(client, scripts),
  );
  return refused === undefined
    ? null
    : `One of the addresses of the payout ${refused.reason}. Cancel the payout with satscribe payouts cancel.`;
}

interface StoringPayout extends Pick<SettledPayout, 'payout' | 'shares'> {
  readonly replaced: PayoutTransaction | null;
  /** Index of the change output's key. */
  readonly ownIndex: number;
  readonly script: Uint8Array;
}

/** Signs a plan and stores it. Throws `NotCovered`, and `OutputTaken`. */
async function store(
  parts: PayoutParts,
  { payout, shares, replaced, ownIndex, script }: StoringPayout,
  planned: Exclude<PlannedPayout, { kind: 'none' }>,
): Promise<null> {
  const { client, signer } = parts;
  const held = await readHoldings(client, planned.plan.inputs);
  const plan = payout.spends === null ? planned.plan : withContents(planned.plan, held[0] ?? nothingHeld);
  const signed = await signer.signPlan(plan, held);
  failpoint('payout-signed');
  await withTransaction(client, async (tx) => {
    const locked = await lockPayout(tx, payout.id);
    // the payout was cancelled meanwhile
    if (locked === null || locked.state !== payout.state) return;
    await watchScripts(tx, `payout ${payout.id}`, [{ script, sinceHeight: nextBlock }]);
    await insertTransaction(tx, {
      txid: signed.txid,
      kind: 'payout',
      orderId: null,
      payoutId: payout.id,
      index: 0,
      files: 0,
      bytes: signed.bytes,
      plan: storedPlanOf(planned),
      fee: signed.fee,
      replaces: replaced?.family ?? null,
      ownIndex,
    });
    await keepPayoutCoin(tx, { ...payout, ownIndex }, await readPayoutTransactions(tx, payout.id));
    if (replaced === null) await putState(tx, payout.id, 'signed');
    const lacking = (await heldByOwners(tx)) - (await sharesUnderWay(tx)) - (await satsOfService(tx));
    if (lacking > 0n) throw new NotCovered(lacking);
  });
  failpoint('payout-stored');
  parts.log.info(
    {
      payout: payout.id,
      txid: displayHash(signed.txid),
      shares: shares.length,
      sats: Number(satsOf(shares)),
      fee: Number(signed.fee),
    },
    replaced === null ? 'a payout is signed' : 'a payout is replaced by one that pays more',
  );
  return null;
}

/**
 * Leases the key of the payout's change output once, even if the payout is planned several times. Otherwise unused keys
 * would form gaps in the indices, and a restore of the wallet stops searching after a gap.
 */
export async function leaseOwnIndex(client: pg.ClientBase, id: string): Promise<number> {
  const { first } = await leaseIndices(client, 'own', { least: 1, most: 1 });
  await putOwnIndex(client, id, first);
  return first;
}

/**
 * The reason why a new plan must wait, or null if it need not wait. If a new plan shared no coin with a transaction
 * that was given up, both could be mined and pay twice. So the new plan waits until no reorganisation can restore the
 * coins of the old transaction.
 */
export async function waitsForGivenUp(
  { client, confirmations }: Pick<PayoutParts, 'client' | 'confirmations'>,
  { id, missingSince }: SettledPayout['payout'],
  givenUp: readonly PayoutTransaction[],
  { spent, tip }: { readonly spent: readonly Pick<PayoutCoin, 'txid' | 'vout'>[]; readonly tip: number },
): Promise<string | null> {
  const shared = new Set(spent.map(outpointOf));
  const isShared = ({ plan }: PayoutTransaction): boolean =>
    plan.inputs.some(({ outpoint }) => shared.has(outpoint));
  if (givenUp.every(isShared)) return null;
  const since = missingSince ?? tip;
  await noteMissing(client, id, since);
  return tip - since < confirmations
    ? `An output that the transaction of the payout spends is missing. The payout is planned again ${confirmations} blocks after ${since}.`
    : null;
}

/**
 * Makes a plan from coins that the node reports as unspent. The check is needed because another wallet may have the
 * same seed.
 */
async function planThere(
  { node }: PayoutParts,
  coins: readonly PayoutCoin[],
  plan: (there: readonly PayoutCoin[]) => PlannedPayout,
): Promise<PlannedPayout> {
  const asked = new Set<PayoutCoin>();
  let there = coins;
  for (;;) {
    const planned = plan(there);
    if (planned.kind === 'none') return planned;
    const gone: PayoutCoin[] = [];
    for (const coin of planned.spent) {
      const found = there.find((other) => outpointOf(other) === outpointOf(coin));
      if (found === undefined || asked.has(found)) continue;
      asked.add(found);
      if (!(await isUnspent(node, coin, { mempool: true }))) gone.push(found);
    }
    if (gone.length === 0) return planned;
    there = there.filter((coin) => !gone.includes(coin));
  }
}

/** The requested fee rate, or the node's rate if no rate was requested. A replacement pays at least the node's rate. */
function feeRateOf(
  { feeRate }: Pick<Payout, 'feeRate'>,
  standing: NodeStanding,
  replaced: PayoutTransaction | null,
): bigint {
  const usual = refundFeeRate(standing);
  if (feeRate === null) return usual;
  return replaced === null ? feeRate : largest(feeRate, usual);
}

const has = (coins: readonly PayoutCoin[], coin: PayoutCoin): boolean =>
  coins.some((other) => outpointOf(other) === outpointOf(coin));

/**
 * Free coins that were inputs of the payout's given-up transactions. The next transaction spends the same coins, so at
 * most one of the transactions can be mined.
 */
const stillThere = (
  transactions: readonly PayoutTransaction[],
  coins: readonly PayoutCoin[],
): PayoutCoin[] => {
  const before = new Set(transactions.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  return coins.filter((coin) => before.has(outpointOf(coin)));
};

/** Coins of the service that a transaction spends. An output that the payout sends as a whole is not included. */
const coinsOf = ({ plan }: PayoutTransaction, { spends }: Pick<Payout, 'spends'>): PayoutCoin[] =>
  plan.inputs
    .filter(({ outpoint }) => spends === null || outpoint !== outpointOf(spends))
    .map(({ outpoint, value, script, keyIndex }) => ({
      ...outpointParts(outpoint),
      value: BigInt(value),
      script: Buffer.from(script, 'hex'),
      keyIndex,
    }));

function reasonOf({ limit, missing }: Extract<PlannedPayout, { readonly kind: 'none' }>): string {
  if (limit === 'coins') return fundReason(missing);
  if (limit === 'rate') return 'Fees are above 200 sats per virtual byte. The payout waits for lower fees.';
  return 'Free coins are so small that the transaction of the payout would be too large. Add a larger coin (satscribe wallet fund shows where).';
}

const storedPlanOf = ({ plan }: Extract<PlannedPayout, { readonly kind: 'plan' }>): StoredPayoutPlan => ({
  inputs: plan.inputs.map((input) => ({
    outpoint: outpointOf(input),
    value: Number(input.value),
    script: Buffer.from(input.script).toString('hex'),
    keyIndex: input.key.index,
  })),
  outputs: plan.outputs.map(({ kind, value, script }) => ({
    kind: kind === 'change' ? kind : 'payout',
    value: Number(value),
    script: Buffer.from(script).toString('hex'),
  })),
});
