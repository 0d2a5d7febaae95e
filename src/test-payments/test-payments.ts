import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune, parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintable } from '#kernel/runes/terms.ts';
import { asU128, trustedU128 } from '#kernel/runes/u128.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { broadcast } from '#orders/sending/broadcast.ts';
import { type NodeStanding, refundFeeRate } from '#orders/sending/node-standing.ts';
import { hurryPayments } from '#payments/store/watches.store.ts';
import { nodeFeesOf } from '#psbts/coins/node-fees.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type OpenTokenOrder, readOpenTokenOrder } from '#tokenpay/open-token-order.ts';
import { etchedAgain } from '#tokenpay/order/token-order.ts';
import { TestKey } from '#wallet/test-key.ts';
import { planReplacement } from './plan-replacement.ts';
import { type PlannedTest, planTestPayment, type TestCoin, type TestShort } from './plan-test-payment.ts';
import { paymentsOf, type TestCase, type TestPayment } from './test-cases.ts';
import { isSpendable, type TestCoinParts, testCoins } from './test-coins.ts';
import { addTestPayment, lockTestPayments, recentCoins, satsTaken } from './test-payments.store.ts';

export interface TestPaymentsParts {
  /** Connections of the role that handles requests. Only one payment is made at a time. */
  readonly pool: pg.Pool;
  /** Derives 32 bytes from the service's secret. Throws `service_secret_missing` and `service_secret_invalid`. */
  readonly secret: () => Promise<Uint8Array>;
  readonly network: NetworkParameters;
  /** Maximum sum that payments of one account may cost within a day, in sats. */
  readonly dayMaxSats: number;
  /** Satributes of sats that are more than money. Outputs with such sats are not spent. */
  readonly special: () => readonly Satribute[];
}

/** The result of a request. Refused with the next step if the order cannot be paid now. */
export type TestPaid =
  | {
      readonly kind: 'paid';
      /** Txids in display order, in the sequence of the transactions. */
      readonly txids: readonly string[];
      /** Sats that left the wallet. */
      readonly sats: bigint;
      /** Sats that are left in the budget of the day. */
      readonly left: bigint;
      readonly address: string;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly parameter: string };

/** The node accepted only some of the transactions, or none. */
interface Failed {
  readonly kind: 'failed';
  readonly failure: unknown;
}

/** A payment to send, with the coins that return to the wallet. */
interface Made {
  readonly planned: PlannedTest;
  readonly signed: ReturnType<TestKey['sign']>;
  readonly returned: readonly TestCoin[];
}

const dayMs = 86_400_000;
/**
 * Maximum fee rate in sats per 1,000 virtual bytes. Estimates of test networks fluctuate, and the budget must be enough
 * for many payments.
 */
const feeRateMost = 20_000n;

function testFeeRate(standing: NodeStanding): bigint {
  const usual = refundFeeRate(standing);
  return largest(standing.mempoolMinFeeRate, usual < feeRateMost ? usual : feeRateMost);
}

/** Maximum number of coins that may turn out to be spent before a payment is given up. */
const goneMax = 100;

/** Pays orders from a test wallet, on test networks (docs/tokenpay.md, "Test payments"). */
export class TestPayments {
  readonly #parts: TestPaymentsParts;

  constructor(parts: TestPaymentsParts) {
    this.#parts = parts;
  }

  /** The address to which the operator sends coins for test payments. Throws the codes of the secret. */
  async address(): Promise<string> {
    return (await this.#wallet()).key.address;
  }

  /**
   * Pays an account's order in the way of a test case. Returns null if the account has no such order. Throws
   * `test_payments_spent`, and the codes of UtxoReader and NodeRpc.
   */
  async pay(
    chain: TestCoinParts,
    {
      account,
      orderId,
      name,
    }: { readonly account: string; readonly orderId: string; readonly name: TestCase },
    asker: Asker,
  ): Promise<TestPaid | null> {
    const open = await readOpenTokenOrder(this.#parts.pool, orderId);
    if (open === null || open.order.account !== account) return null;
    const wallet = await this.#wallet();
    const rune = await this.#rune(chain, open, asker.signal);
    if (rune === null) return refused("The etching of the order's rune is no longer in a block.", 'orderId');
    if (Buffer.compare(rune.detail.etching, open.order.rune.etching) !== 0)
      return refused(etchedAgain, 'orderId');
    const paid = await withTransaction(this.#parts.pool, async (tx): Promise<TestPaid | Failed> => {
      await lockTestPayments(tx);
      const taken = await satsTaken(tx, account, new Date(Date.now() - dayMs));
      const owned = { ...wallet.signer, recent: await recentCoins(tx), special: this.#parts.special() };
      const coins = await testCoins(tx, chain, owned, asker);
      const made = await new Making(chain, wallet, coins).all(tx, name, { open, rune });
      if ('kind' in made) return made;
      const sats = made.reduce((sum, each) => sum + leaving(each), 0n);
      const left = BigInt(this.#parts.dayMaxSats) - taken - sats;
      if (left < 0n) throw this.#spent(taken, sats);
      const { address } = wallet.key;
      const failure = await sendAll(tx, chain, { made, account, orderId, address });
      if (failure !== null) return { kind: 'failed', failure };
      return { kind: 'paid', txids: made.map(({ signed }) => displayHash(signed.txid)), sats, left, address };
    });
    if (paid.kind === 'refused') return paid;
    await hurryPayments(this.#parts.pool);
    if (paid.kind === 'failed') throw paid.failure;
    return paid;
  }

  async #wallet(): Promise<Wallet> {
    const key = new TestKey(await this.#parts.secret(), this.#parts.network);
    const { address, script, internalKey } = key;
    const kind = { role: 'payment', type: 'p2tr', publicKey: null, redeemScript: null } as const;
    return { key, signer: { ...kind, address, script, internalKey } };
  }

  async #rune({ pool }: TestCoinParts, { order }: OpenTokenOrder, signal: AbortSignal): Promise<Rune | null> {
    const parsed = parseSpacedRune(order.rune.name);
    if (parsed === null) throw new Error('a stored rune has a valid name');
    return withSnapshot(
      pool,
      async ({ client }) => {
        const detail = await runeDetail(client, { kind: 'rune', rune: parsed.rune });
        const tip = await indexedTip(client);
        return detail === null || tip === null ? null : { detail, nextHeight: tip + 1 };
      },
      signal,
    );
  }

  #spent(taken: bigint, sats: bigint): AppError {
    const { dayMaxSats } = this.#parts;
    return new AppError(
      'test_payments_spent',
      `test payments of this account used ${taken} sats within a day, and this one needs ${sats}, but the maximum is ${dayMaxSats} (TOKENPAY_TEST_PAY). Try again tomorrow, or with a smaller order.`,
    );
  }
}

interface Rune {
  readonly detail: RuneDetail;
  readonly nextHeight: number;
}

interface Wallet {
  readonly key: TestKey;
  readonly signer: Signer;
}

const refused = (reason: string, parameter: string) => ({ kind: 'refused', reason, parameter }) as const;
type Refused = ReturnType<typeof refused>;

/** Sats of a transaction that do not return to the wallet. */
const leaving = ({ planned: { plan, returned } }: Made): bigint =>
  plan.inputs.reduce((sum, { value }) => sum + value, 0n) -
  returned.reduce((sum, { value }) => sum + value, 0n);

/** Makes the transactions of one case. Each transaction may spend coins that earlier ones return. */
class Making {
  readonly #chain: TestCoinParts;
  readonly #wallet: Wallet;
  #coins: readonly TestCoin[];

  constructor(chain: TestCoinParts, wallet: Wallet, coins: readonly TestCoin[]) {
    this.#chain = chain;
    this.#wallet = wallet;
    this.#coins = coins;
  }

  async all(
    tx: pg.ClientBase,
    name: TestCase,
    { open, rune }: { readonly open: OpenTokenOrder; readonly rune: Rune },
  ): Promise<readonly Made[] | Refused> {
    if (name === 'replaced') {
      const planned = await planReplacement(tx, this.#chain.node, this.#wallet.signer, open.order.id);
      return 'reason' in planned ? refused(planned.reason, 'case') : [this.#sign(planned)];
    }
    const { detail, nextHeight } = rune;
    const id = { block: asU128(detail.height), tx: detail.txIndex };
    const payments = paymentsOf(name, {
      open,
      rune: id,
      other: otherRune(this.#coins, id),
      isMintable: (mintable(detail.terms, id.block, nextHeight, detail.mints) ?? 0) !== 0,
      own: this.#wallet.signer.script,
    });
    if ('reason' in payments) return refused(payments.reason, 'case');
    const feeRate = testFeeRate(await nodeFeesOf(this.#chain.node).standing());
    const made: Made[] = [];
    const own = new Set<string>();
    for (const payment of payments) {
      const planned = await this.#plan(payment, feeRate, own);
      if (planned.kind === 'short') return refused(this.#shortage(planned, detail), 'case');
      const one = this.#sign(planned);
      made.push(one);
      for (const coin of one.returned) own.add(outpointOf(coin));
      const spent = new Set(planned.spent);
      this.#coins = [...this.#coins.filter((coin) => !spent.has(coin)), ...one.returned];
    }
    return made;
  }

  /**
   * Makes a plan with unspent coins. The check is needed because the index may be behind the node, and payments may be
   * replaced.
   */
  async #plan(
    payment: TestPayment,
    feeRate: bigint,
    own: ReadonlySet<string>,
  ): Promise<PlannedTest | TestShort> {
    for (let tries = 0; ; tries++) {
      const planned = planTestPayment(this.#wallet.signer, this.#coins, payment, feeRate);
      if (planned.kind === 'short') return planned;
      const gone = new Set<TestCoin>();
      for (const coin of planned.spent)
        if (!own.has(outpointOf(coin)) && !(await isSpendable(this.#chain.node, coin))) gone.add(coin);
      if (gone.size === 0) return planned;
      if (tries === goneMax)
        throw new AppError('too_many_at_once', 'the coins of the wallet for tests are changing; try again');
      this.#coins = this.#coins.filter((coin) => !gone.has(coin));
    }
  }

  #sign(planned: PlannedTest): Made {
    const signed = this.#wallet.key.sign(planned.plan);
    const returned = planned.returned.map((coin) => ({ ...coin, txid: signed.txid, blockHash: null }));
    return { planned, signed, returned };
  }

  #shortage({ rune, there, needed }: TestShort, detail: RuneDetail): string {
    const { address } = this.#wallet.key;
    if (rune === null)
      return `The wallet for tests has ${there} sats without runes, but needs ${needed}. Send sats to ${address}. Outputs with inscriptions or special sats are not spent.`;
    const shown = (amount: bigint): string => shownAmount(trustedU128(amount), detail.divisibility);
    return `The wallet for tests has ${shown(there)} ${formatSpacedRune(detail)}, but needs ${shown(needed)}. Send runes to ${address}, and wait for a block.`;
  }
}

/** Finds a rune of the wallet other than the order's rune. Returns null if the wallet has no other rune. */
function otherRune(coins: readonly TestCoin[], id: RuneId): RuneId | null {
  const held = coins.flatMap(({ runes }) => runes);
  return held.find((rune) => formatRuneId(rune.id) !== formatRuneId(id))?.id ?? null;
}

interface Sending {
  readonly made: readonly Made[];
  readonly account: string;
  readonly orderId: string;
  readonly address: string;
}

/**
 * Sends transactions until the node refuses one, and stores each accepted transaction. Returns the error of the refused
 * transaction, or null if the node accepted all.
 */
async function sendAll(
  tx: pg.ClientBase,
  { node }: TestCoinParts,
  { made, account, orderId, address }: Sending,
): Promise<unknown> {
  for (const each of made) {
    const { planned, signed, returned } = each;
    try {
      const { refusal } = await broadcast(node, { bytes: signed.bytes, burned: 0 });
      if (refusal !== null)
        return new AppError(
          'test_payment_refused',
          `the node refuses the payment (${refusal.reason}); wait for a block, or send more coins to ${address}`,
        );
    } catch (error) {
      return error;
    }
    const { spent, plan } = planned;
    const sent = { txid: signed.txid, sats: leaving(each), fee: plan.fee, spent, returned };
    await addTestPayment(tx, { ...sent, orderId, account, madeAt: new Date() });
  }
  return null;
}
