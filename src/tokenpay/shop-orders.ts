import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { BatchedReads } from '#kernel/concurrency/batched-reads.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { KnownKey } from '#kernel/contracts/asking-key.ts';
import { discountedFee } from '#kernel/discounted-fee.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { readTokenBalances } from '#purse/ledger/token-balances.queries.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { type Checkout, readCheckout } from './checkout.ts';
import { type ChargeKeys, createTokenOrder } from './creating/create-token-order.ts';
import { readCredits } from './crediting/credits.store.ts';
import { type OpenTokenOrder, readOpenTokenOrder } from './open-token-order.ts';
import { readTokenOrder } from './order/token-order.store.ts';
import type { TokenOrder } from './order/token-order.ts';
import type { TokenPolicy } from './order/token-policy.ts';
import { tokenRunesOf } from './order/token-runes.store.ts';
import type { SentTokenOrder } from './reading/read-token-order.ts';
import { tokenSecretName } from './telling/tell-shop.ts';
import { assetsOf, balanceAnswer, tokenOrderAnswer } from './telling/token-order-answer.ts';
import { amountOf, beyondSupply, type FoundRune, readRunes } from './token-amount.ts';

export interface ShopOrdersParts {
  /** Connections of the role that handles requests. */
  readonly pool: pg.Pool;
  /** Keys of the wallet, or null if there is no wallet yet. */
  readonly keys: () => Promise<ChargeKeys | null>;
  /** Whether a process with the seed is running, which releases addresses. */
  readonly isSignerThere: () => Promise<boolean>;
  /** Keys of the service's secret. Throws `service_secret_missing` and `service_secret_invalid`. */
  readonly secrets: () => Promise<WebhookKeys>;
  /** Base fee of an order, in sats. */
  readonly baseFee: number;
  readonly timeoutMinutes: number;
  /** The number of confirmations that payments need before they are credited. */
  readonly policy: TokenPolicy;
  /** Returns the number of confirmations that an inscription order of this amount in sats needs. */
  readonly orderConfirmations: (sats: bigint) => number;
  /** Returns the reason why a URL must not be used, or null if the URL is allowed. */
  readonly urlProblem: (url: string) => string | null;
}

/** State of the parts that are needed to create orders. */
interface Standing {
  readonly isSignerThere: boolean;
  readonly hasTip: boolean;
}

/**
 * Bounds of reads of runes that orders share. At most two of the four connections for shops are used for reads, so that
 * the other two can write.
 */
const readsTogether = { batches: 1, questions: 100 };

/** Stores more data in the transaction that creates an order. */
export type OnMade = (tx: pg.ClientBase, answer: object) => Promise<void>;

/** Orders that shops create, and the balances of the shops' accounts. This class signs nothing, and needs no seed. */
export class ShopOrders {
  readonly #parts: ShopOrdersParts;
  readonly urlProblem: ShopOrdersParts['urlProblem'];
  readonly #standing: SharedMaking<Standing>;
  readonly #runes: BatchedReads<Rune, FoundRune>;

  constructor(parts: ShopOrdersParts) {
    this.#parts = parts;
    this.urlProblem = parts.urlProblem;
    // orders that are created at the same time share these reads, which saves half of their round trips
    this.#standing = new SharedMaking((signal) => this.#readStanding(signal));
    this.#runes = new BatchedReads((runes, signal) => readRunes(parts.pool, runes, signal), readsTogether);
  }

  /**
   * Creates an order for the account of a key. Throws `orders_off`, `runes_not_indexed`, `derived_table_behind` and
   * `wallet_indices_unreleased`.
   *
   * @returns the response, with a placeholder for the secret (`secretOf` returns the secret), or the fault of the rune
   *   or the amount
   */
  async create(
    key: KnownKey,
    sent: SentTokenOrder,
    onMade: OnMade,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'made'; readonly order: TokenOrder; readonly answer: object } | Faulty> {
    const keys = await this.#requireOpen(signal);
    const found = amountOf(sent, await this.#runes.ask(sent.rune, signal));
    if (found.kind === 'faulty') return found;
    const unpayable = beyondSupply(found);
    if (unpayable !== null) return unpayable;
    const secretKey = sent.webhookUrl === null ? null : await this.#secretKey();
    signal.throwIfAborted();
    const { baseFee, timeoutMinutes, pool } = this.#parts;
    const wanted = {
      ...sent,
      account: key.account,
      rune: indexedRune(found.rune),
      amount: found.amount,
      baseFee: discountedFee(BigInt(key.terms.baseFee ?? baseFee), 'baseFee', key.terms.discounts),
      timeoutMinutes,
      secretKey,
    };
    const answerOf = (order: TokenOrder): object => tokenOrderAnswer(order, [], new Map());
    const order = await createTokenOrder(pool, keys, wanted, new Date(), (tx, made) =>
      onMade(tx, answerOf(made)),
    );
    return { kind: 'made', order, answer: answerOf(order) };
  }

  /**
   * Reads an order in the form of responses, with its credits at the same moment. Returns null if no order has this id.
   */
  read(id: string): Promise<object | null> {
    return this.#atOnce(async (tx) => {
      const order = await readTokenOrder(tx, id);
      if (order === null) return null;
      const credits = (await readCredits(tx, [id])).get(id) ?? [];
      return tokenOrderAnswer(order, credits, await tokenRunesOf(tx, assetsOf(credits)));
    });
  }

  /** Reads an order with the missing parts of its charges. Returns null if no order has this id. */
  open(id: string): Promise<OpenTokenOrder | null> {
    return this.#atOnce((tx) => readOpenTokenOrder(tx, id));
  }

  /** Reads in one snapshot. Otherwise the process that credits payments could commit between two statements. */
  #atOnce<Result>(read: (tx: pg.ClientBase) => Promise<Result>): Promise<Result> {
    return withTransaction(this.#parts.pool, read, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  /** Reads an order with the facts that its payer needs. Returns null if no order has this id. */
  checkout(id: string): Promise<Checkout | null> {
    return readCheckout(this.#parts.pool, this.#parts, id);
  }

  /** The balances of an account, by protocol and token. */
  async balances(account: string): Promise<object> {
    const { pool } = this.#parts;
    const held = await readTokenBalances(pool, account);
    const runes = await tokenRunesOf(
      pool,
      held.map(({ asset }) => asset).filter((asset) => asset !== satsAsset),
    );
    return balanceAnswer(held, runes);
  }

  /**
   * The webhook secret of an order, in hex. Returns null if the order has no webhook, or if the service's secret at the
   * time of the order is unknown here.
   */
  async secretOf(id: string): Promise<string | null> {
    const { pool, secrets } = this.#parts;
    const secretKey = (await readTokenOrder(pool, id))?.secretKey ?? null;
    if (secretKey === null) return null;
    const secret = (await secrets()).lastingSecret(tokenSecretName(id, secretKey));
    return secret === null ? null : secret.toString('hex');
  }

  async #requireOpen(signal: AbortSignal): Promise<ChargeKeys> {
    const keys = await this.#parts.keys();
    if (keys === null)
      throw new AppError('orders_off', 'this service accepts no token payments, because it has no wallet');
    const { isSignerThere, hasTip } = await this.#standing.get(signal);
    if (!isSignerThere)
      throw new AppError(
        'orders_off',
        'this service accepts no token payments now, because no process with the seed of the wallet (WALLET_SEED_FILE) follows orders',
      );
    if (!hasTip)
      throw new AppError(
        'orders_off',
        'this service accepts no token payments yet, because no block is indexed',
      );
    return keys;
  }

  async #readStanding(signal: AbortSignal): Promise<Standing> {
    const { pool, isSignerThere } = this.#parts;
    const tip = await withCutConnection(pool, signal, indexedTip);
    return { isSignerThere: await isSignerThere(), hasTip: tip !== null };
  }

  /** The public key of the service's secret. */
  async #secretKey(): Promise<Uint8Array | null> {
    try {
      return (await this.#parts.secrets()).publicKeys[0] ?? null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError(
        'orders_off',
        `this service accepts no orders with webhookUrl now. ${error.message} Leave webhookUrl out, or ask the operator.`,
      );
    }
  }
}

const indexedRune = ({ etching, rune, spacers, divisibility }: RuneDetail) => ({
  etching,
  rune,
  name: formatSpacedRune({ rune, spacers }),
  divisibility,
});
