import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { type Random, shuffled } from '#test/builders/random.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { allowAddress } from '#tokenpay/withdrawing/addresses.store.ts';
import { readWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { cancelWithdrawal } from '#withdrawals/cancel-withdrawal.ts';
import { bitcoin } from './order-model.ts';
import type { RunRune } from './rune-purse.ts';
import type { RunAccount } from './token-customers.ts';
import type { ModelWithdrawal } from './withdrawal-model.ts';

/** Kinds of actions of accounts with their earnings. */
export const takingCases = [
  'bitcoin',
  'rune',
  'whole',
  'half',
  'some',
  'whole at once twice',
  'own rate',
  'fee from the balance',
  'listed',
  'unlisted',
  'refused',
  'cancelled',
] as const;
const acts = [
  'whole',
  'half',
  'some',
  'whole at once twice',
  'cancelled',
  'refused',
] as const satisfies readonly TakingCase[];
export type TakingCase = (typeof takingCases)[number];

/** A withdrawal that the service has accepted. */
export interface TakenWithdrawal extends ModelWithdrawal {
  /** The script of the withdrawal's address, in hex. */
  readonly script: string;
}

export interface TokenTakersParts {
  readonly random: Random;
  readonly accounts: readonly RunAccount[];
  /** The account that withdraws only to listed addresses. */
  readonly listing: string;
  readonly runes: readonly RunRune[];
  /** Opens a pool of the database. The pool is ended after each use, because the database may be restarted. */
  readonly open: () => pg.Pool;
}

interface Wish {
  readonly account: RunAccount;
  /** Null: BTC. */
  readonly rune: RunRune | null;
  readonly units: bigint;
}

interface Balance {
  readonly amountBase: {
    readonly bitcoin: Readonly<Record<string, string>>;
    readonly rune: Readonly<Record<string, string>>;
  };
}

/** First owner of addresses of withdrawals. No other part of the run has these keys. */
const firstOwner = 50_000;
const askAgainMs = 200;
/** Fee rates in sats per virtual byte, below and above the node's estimate. */
const ownRates = [1, 2, 30] as const;
const coinDecimals = 8;
const allSats = 21_000_000n * 100_000_000n;
/** Number of units that is above the supply of every rune of a run. */
const moreUnits = 2n ** 127n;

/**
 * Accounts of shops that withdraw their earnings: all, half, some, or twice at the same moment. They also send requests
 * that are refused.
 */
export class TokenTakers {
  readonly all: TakenWithdrawal[] = [];
  readonly done = new Map<TakingCase, number>();
  /** Scripts of requests that created no withdrawal. Nothing may ever be sent to them. */
  readonly refused: string[] = [];
  readonly #parts: TokenTakersParts;
  #acts: (typeof acts)[number][] = [];
  readonly #asked = new Set<string>();
  #owners = firstOwner;

  constructor(parts: TokenTakersParts) {
    this.#parts = parts;
  }

  get accounts(): readonly RunAccount[] {
    return this.#parts.accounts;
  }

  /** Scripts of all requested addresses, in hex. */
  get receivers(): ReadonlySet<string> {
    return this.#asked;
  }

  /** Lists an address for the account that has a list of addresses. Called at the start. */
  async start(): Promise<void> {
    await this.#list(this.#owners++);
  }

  /** Cases that the run has not had yet. */
  get missing(): readonly TakingCase[] {
    return takingCases.filter((name) => !this.done.has(name));
  }

  /** Performs the next action of an account. Each kind occurs once, and then again in another order. */
  async act(): Promise<void> {
    const wish = await this.#wish();
    if (wish === null) return;
    if (this.#acts.length === 0) this.#acts = shuffled(this.#parts.random, acts);
    const act = this.#acts.pop()!;
    if (act === 'whole at once twice') await this.#twice(wish);
    else if (act === 'cancelled') await this.#cancelled(wish);
    else if (act === 'refused') await this.#beyond(wish);
    else {
      const units = act === 'whole' ? wish.units : act === 'half' ? (wish.units + 1n) / 2n : someOf(wish);
      if ((await this.#ask({ ...wish, units })) !== null) this.#count(act);
    }
  }

  /** Makes a small withdrawal, which most balances cover. */
  async some(): Promise<void> {
    const wish = await this.#wish();
    if (wish !== null) await this.#ask({ ...wish, units: someOf(wish) });
  }

  /**
   * Requests two withdrawals of the complete balance at the same moment. At most one of them is made, even if there are
   * other requests.
   */
  async #twice(wish: Wish): Promise<void> {
    this.#count('whole at once twice');
    await Promise.all([this.#ask(wish), this.#ask(wish)]);
  }

  /** Requests a withdrawal of more than the account can have, or to an address that the account has not listed. */
  async #beyond(wish: Wish): Promise<void> {
    // this is more than payments can add in the meantime
    const units = wish.rune === null ? allSats : moreUnits;
    if ((await this.#ask({ ...wish, units })) !== null)
      throw new Error('more was withdrawn than the account has');
  }

  /** Requests a withdrawal, and lets the operator cancel it at once, while a process may be signing it. */
  async #cancelled(wish: Wish): Promise<void> {
    const made = await this.#ask({ ...wish, units: someOf(wish) });
    if (made === null) return;
    const isEnded = await this.#withPool((pool) =>
      withTransaction(pool, async (tx) => {
        const found = await readWithdrawal(tx, null, made.id);
        if (found === null) throw new Error(`the withdrawal ${made.id} was answered, and is not stored`);
        return (await cancelWithdrawal(tx, found, 'The run cancels it.')) !== null;
      }),
    );
    if (isEnded) this.#count('cancelled');
  }

  /**
   * Sends a request until it is answered, with another key if a killed process had claimed the first key. `null` if the
   * request is refused.
   */
  async #ask(wish: Wish): Promise<TakenWithdrawal | null> {
    const { random, listing } = this.#parts;
    const { account, rune } = wish;
    const owner = this.#owners++;
    this.#asked.add(hexOf(owner));
    const isUnlisted = account.name === listing && random.unit() < 0.25;
    const isListed = account.name === listing && !isUnlisted;
    if (isListed) await this.#list(owner);
    const hasRate = random.unit() < 0.25;
    const isBeside = rune === null && random.unit() < 0.3;
    const shown = await answerOf(wish, owner, {
      ...(hasRate ? { feeRate: ownRates[random.below(ownRates.length)] } : {}),
      ...(isBeside ? { feeFrom: 'balance' } : {}),
    });
    if (shown === null) {
      this.refused.push(hexOf(owner));
      this.#count(isUnlisted ? 'unlisted' : 'refused');
      return null;
    }
    if (isUnlisted) throw new Error('a withdrawal to an unlisted address was made');
    this.#count(rune === null ? 'bitcoin' : 'rune');
    this.#countWhere({ 'own rate': hasRate, 'fee from the balance': isBeside, listed: isListed });
    const made = takenOf(wish, owner, shown);
    this.all.push(made);
    return made;
  }

  /** A token of a random account, with the account's complete balance. `null` if the account has nothing. */
  async #wish(): Promise<Wish | null> {
    const { random, accounts, runes } = this.#parts;
    const account = accounts[random.below(accounts.length)]!;
    const { bitcoin: coins, rune: held } = (
      await account.shop.ask<Balance>('/tokenpay/user/account/balance', null)
    ).body.amountBase;
    const wishes: Wish[] = [
      { account, rune: null, units: BigInt(coins[bitcoin] ?? 0) },
      ...runes.map((rune) => ({ account, rune, units: BigInt(held[rune.name] ?? 0) })),
    ].filter(({ units }) => units > 0n);
    return wishes[random.below(wishes.length)] ?? null;
  }

  #list(owner: number): Promise<void> {
    const listed = { account: this.#parts.listing, address: addressOf(owner), script: scriptOf(owner) };
    return this.#withPool((pool) => withTransaction(pool, (tx) => allowAddress(tx, listed)));
  }

  /** Repeats work until the database, which may be down, has done it. Both kinds of work may be done twice. */
  async #withPool<Result>(work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
    let last: unknown = null;
    for (let tries = 0; tries < 600; tries++) {
      const pool = this.#parts.open();
      try {
        return await work(pool);
      } catch (error) {
        last = error;
        await delay(askAgainMs);
      } finally {
        await pool.end();
      }
    }
    throw new Error(`the database does not answer: ${String(last)}`);
  }

  #countWhere(cases: Partial<Record<TakingCase, boolean>>): void {
    for (const name of takingCases) if (cases[name] === true) this.#count(name);
  }

  #count(name: TakingCase): void {
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }
}

const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

/** A tenth of the units. For sats, the amount is at least more than all dust and the withdrawal's fee. */
const someOf = ({ rune, units }: Wish): bigint => {
  const part = units / 10n + 1n;
  return rune === null && part < 5_000n && units > 5_000n ? 5_000n : part;
};

/** The response to a withdrawal to an owner's address; `null` if the withdrawal is refused. */
async function answerOf(
  { account, rune, units }: Wish,
  owner: number,
  extras: object,
): Promise<ShownWithdrawal | null> {
  const body = {
    protocol: rune === null ? 'bitcoin' : 'rune',
    token: rune?.name ?? bitcoin,
    amount: shownAmount(trustedU128(units), rune?.divisibility ?? coinDecimals),
    address: addressOf(owner),
    ...extras,
  };
  for (;;) {
    const path = '/tokenpay/user/account/withdraw';
    const { status, body: shown } = await account.shop.ask<ShownWithdrawal>(path, body, randomUUID());
    if (status === 409) continue;
    if (status === 400) return null;
    if (status !== 200) throw new Error(`a withdrawal: ${status} ${JSON.stringify(shown)}`);
    if (BigInt(shown.amountBase) === units) return shown;
    throw new Error(`${units} units are withdrawn, and the answer has ${shown.amountBase}`);
  }
}

const takenOf = (
  { account, rune, units }: Wish,
  owner: number,
  { id, price: { chainFee, postage, payer } }: ShownWithdrawal,
): TakenWithdrawal => ({
  id,
  account: account.name,
  token: rune?.etching ?? bitcoin,
  amount: units,
  fee: BigInt(chainFee),
  postage: BigInt(postage),
  payer,
  script: hexOf(owner),
});
