import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import type { KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { AccountAddresses } from './account-addresses.ts';
import { accountDestination } from './account-destination.ts';
import { type NamedUnits, unitsOf } from './asked-units.ts';
import { lackingWords, noBalance, notCancelled, owingFault, rateFault } from './asking-faults.ts';
import { debtOf, leftOf, type PricedUnits, priceAsked } from './price-asked.ts';
import type { SentWithdrawal } from './read-withdrawal.ts';
import type { NewWithdrawal, Withdrawal } from './withdrawal.ts';
import { dryRunAnswer, shownRuneOf, withdrawalAnswer, withdrawalSecretName } from './withdrawal-answer.ts';
import type { FeeRates, WithdrawalPolicy } from './withdrawal-policy.ts';
import {
  type AvailableUnits,
  askToCancelWithdrawal,
  pendingWithdrawals,
  readAvailable,
  readWithdrawal,
  reserveWithdrawal,
} from './withdrawals.store.ts';

export interface AccountWithdrawalsParts {
  /** Connections of the role that handles requests. */
  readonly pool: pg.Pool;
  /** The wallet, or null if there is no wallet yet. */
  readonly wallet: () => Promise<WalletIdentity | null>;
  /** Whether a process with the seed is running, which signs. */
  readonly isSignerThere: () => Promise<boolean>;
  readonly secrets: () => Promise<WebhookKeys>;
  /** The node's minimum fee rate and its estimate, in sats per 1,000 virtual bytes. */
  readonly feeRates: (client: pg.Pool | pg.ClientBase) => Promise<FeeRates>;
  /** Wakes the process that signs, as soon as the transaction commits. */
  readonly wake: (tx: pg.ClientBase) => Promise<void>;
  readonly policy: WithdrawalPolicy;
  /** Returns the reason why a URL must not be used, or null if the URL is allowed. */
  readonly urlProblem: (url: string) => string | null;
}

/**
 * Maximum number of checks whether a withdrawal that the account cancels has ended. The process that signs is woken,
 * and needs less than a second.
 */
const cancelTries = 30;
const cancelLookMs = 100;

/** Thrown to roll the transaction back, because the balance is too low to reserve the units. */
class NotReserved extends Error {}

/**
 * Thrown to roll the transaction back, because another withdrawal of the account was reserved after this one was
 * priced.
 */
class PricedTooEarly extends Error {}

/** The response about a withdrawal, or about its dry run. */
interface AskedAnswer {
  readonly kind: 'asked';
  readonly answer: object;
}

/** A requested withdrawal that is not yet priced and reserved. */
interface AskedUnits extends PricedUnits {
  readonly feeRate: bigint | null;
  readonly secretKey: Uint8Array | null;
  readonly onReserved: OnReserved;
}

/** Stores more data in the transaction that stores a withdrawal. */
export type OnReserved = (tx: pg.ClientBase, answer: object) => Promise<void>;

/**
 * Withdrawals that accounts request. This class signs nothing. It reserves units, and a process with the seed sends the
 * withdrawals.
 */
export class AccountWithdrawals {
  readonly #parts: AccountWithdrawalsParts;
  readonly urlProblem: AccountWithdrawalsParts['urlProblem'];
  readonly addresses: AccountAddresses;

  constructor(parts: AccountWithdrawalsParts) {
    this.#parts = parts;
    this.addresses = new AccountAddresses(parts);
    this.urlProblem = parts.urlProblem;
  }

  /**
   * Prices a withdrawal, and reserves its units unless it is a dry run. If this throws or returns a fault, nothing is
   * reserved. Throws `orders_off`, `token_balance_missing`, `runes_not_indexed` and `derived_table_behind`.
   *
   * @param feeRate requested rate in sats per 1,000 virtual bytes, or null for the node's rate
   */
  async ask(
    key: KnownKey,
    sent: SentWithdrawal,
    feeRate: bigint | null,
    onReserved: OnReserved,
    signal: AbortSignal,
  ): Promise<AskedAnswer | Faulty> {
    const { pool } = this.#parts;
    const network = await this.#requireOpen();
    const rates = await this.#parts.feeRates(pool);
    const rate = feeRate ?? rates.usual;
    const wrongRate = rateFault(feeRate, rate, rates, this.#parts.policy);
    if (wrongRate !== null) return wrongRate;
    const units = await unitsOf(pool, sent, signal);
    if ('kind' in units) return units;
    const script = await accountDestination(pool, key.account, sent.address, network);
    if (!(script instanceof Uint8Array)) return script;
    const secretKey = sent.webhookUrl === null ? null : await this.#secretKey();
    const asked = {
      ...units,
      script,
      rate,
      isSlow: rate < rates.usual,
      sent,
      feeRate,
      secretKey,
      onReserved,
    };
    // a try fails only if another withdrawal of the account was stored meanwhile, so the balance limits the number of
    // tries
    for (;;) {
      signal.throwIfAborted();
      const tried = await this.#askOnce(key.account, asked);
      if (tried !== null) return tried;
    }
  }

  /**
   * Tries once to price and reserve. Returns null if another withdrawal of the account was stored after this one was
   * priced.
   */
  async #askOnce(account: string, asked: AskedUnits): Promise<AskedAnswer | Faulty | null> {
    const { pool } = this.#parts;
    const { sent, asset, amount, script, shown, feeRate, secretKey } = asked;
    const available = await readAvailable(pool, account);
    requireUnits(available, asked);
    const owing = owingFault(available, this.#parts.policy);
    if (owing !== null) return owing;
    const before = await pendingWithdrawals(pool, account);
    const priced = await priceAsked(this.#parts, account, asked, { available, before });
    if ('kind' in priced) return priced;
    const wanted: NewWithdrawal = {
      id: randomUUID(),
      account,
      asset,
      amount,
      script,
      address: sent.address,
      ...priced,
      feeRate,
      webhookUrl: sent.webhookUrl,
      secretKey,
    };
    if (sent.isDryRun)
      return { kind: 'asked', answer: dryRunAnswer(wanted, shown, debtOf(wanted, available)) };
    const answer = await this.#reserve(wanted, before, asked);
    return answer === null ? null : { kind: 'asked', answer };
  }

  /**
   * Cancels a withdrawal that has no signed transaction. The process that signs carries out the request within a
   * second, while it is running. After the request, no transaction with the withdrawal is signed. Returns null if the
   * account has no withdrawal with this id. Throws `tokenpay_withdrawal_refuses`.
   */
  async cancel(account: string, id: string): Promise<object | null> {
    const { pool, wake } = this.#parts;
    await withTransaction(pool, async (tx) => {
      if (await askToCancelWithdrawal(tx, account, id)) await wake(tx);
    });
    for (let tries = 0; ; tries++) {
      const found = await readWithdrawal(pool, account, id);
      if (found === null) return null;
      if (found.state === 'error' || (found.state === 'pending' && tries === cancelTries))
        return this.#answer(found);
      if (found.state !== 'pending') throw notCancelled(found);
      await sleep(cancelLookMs);
    }
  }

  /**
   * Reads a withdrawal of an account in the form of responses. Returns null if the account has no withdrawal with this
   * id.
   */
  async read(account: string, id: string): Promise<object | null> {
    const { pool } = this.#parts;
    const withdrawal = await readWithdrawal(pool, account, id);
    return withdrawal === null ? null : this.#answer(withdrawal);
  }

  async #answer(withdrawal: Withdrawal): Promise<object> {
    const { pool } = this.#parts;
    const assets = withdrawal.asset === satsAsset ? [] : [withdrawal.asset];
    return withdrawalAnswer(withdrawal, shownRuneOf(withdrawal, await tokenRunesOf(pool, assets)));
  }

  /**
   * The webhook secret of a withdrawal, in hex. Returns null if the withdrawal has no webhook, or if the service's
   * secret at the time of the withdrawal is unknown here.
   */
  async secretOf(id: string): Promise<string | null> {
    const { pool, secrets } = this.#parts;
    const secretKey = (await readWithdrawal(pool, null, id))?.secretKey ?? null;
    if (secretKey === null) return null;
    const secret = (await secrets()).lastingSecret(withdrawalSecretName(id, secretKey));
    return secret === null ? null : secret.toString('hex');
  }

  async #reserve(
    wanted: NewWithdrawal,
    before: readonly Withdrawal[],
    { shown, onReserved }: Pick<AskedUnits, 'shown' | 'onReserved'>,
  ): Promise<object | null> {
    const { pool, policy, wake } = this.#parts;
    const reserved = await withTransaction(pool, async (tx) => {
      const made = await reserveWithdrawal(tx, wanted, policy.debtMax);
      if (made === null) throw new NotReserved();
      // this withdrawal waited for the lock on the balance; meanwhile, another withdrawal may have taken the coins that
      // the price assumes
      const known = new Set([made.id, ...before.map(({ id }) => id)]);
      const pending = await pendingWithdrawals(tx, wanted.account);
      if (pending.some(({ id }) => !known.has(id))) throw new PricedTooEarly();
      const answer = withdrawalAnswer(made, shown);
      await onReserved(tx, answer);
      await wake(tx);
      failpoint('withdrawal-reserving');
      return answer;
    }).catch((error: unknown) => {
      if (error instanceof PricedTooEarly) return null;
      // another withdrawal reserved the units after this one had read the balance
      if (error instanceof NotReserved)
        throw noBalance(
          'meanwhile another withdrawal of the account was reserved; try again with the amount that is left',
        );
      throw error;
    });
    if (reserved !== null) failpoint('withdrawal-reserved');
    return reserved;
  }

  async #requireOpen(): Promise<NetworkParameters> {
    const { pool, wallet, isSignerThere } = this.#parts;
    const found = await wallet();
    if (found === null)
      throw new AppError('orders_off', 'this service makes no withdrawals, because it has no wallet');
    if (!(await isSignerThere()))
      throw new AppError(
        'orders_off',
        'this service makes no withdrawals now, because no process with the seed of the wallet (WALLET_SEED_FILE) sends them',
      );
    if ((await indexedTip(pool)) === null)
      throw new AppError('orders_off', 'this service makes no withdrawals yet, because no block is indexed');
    return networks[found.network];
  }

  async #secretKey(): Promise<Uint8Array | null> {
    try {
      return (await this.#parts.secrets()).publicKeys[0] ?? null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError(
        'orders_off',
        `this service accepts no withdrawals with webhookUrl now. ${error.message} Leave webhookUrl out, or ask the operator.`,
      );
    }
  }
}

/** Throws `token_balance_missing` if the account has too little of the asset. */
function requireUnits(available: ReadonlyMap<number, AvailableUnits>, named: NamedUnits): void {
  const left = leftOf(available, named.asset);
  if (left < named.amount) throw noBalance(lackingWords(named, left));
}
