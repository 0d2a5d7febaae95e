import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { readAmount } from '#kernel/runes/read-amount.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { storedRunes, tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { coinDecimals } from '#tokenpay/telling/token-order-answer.ts';
import { tokenAmount } from '#tokenpay/token-amount.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { readAllowed } from './addresses.store.ts';
import { nameWithdrawals } from './name-withdrawals.ts';
import { quoteWithdrawal } from './planning/quote-withdrawal.ts';
import type { WithdrawalRefusal } from './planning/withdrawal-plan.ts';
import type { SentWithdrawal } from './read-withdrawal.ts';
import { type NewWithdrawal, reservedOf, type Withdrawal } from './withdrawal.ts';
import {
  dryRunAnswer,
  type ShownRune,
  shownRuneOf,
  withdrawalAnswer,
  withdrawalSecretName,
} from './withdrawal-answer.ts';
import { readWithdrawalCoins } from './withdrawal-coins.ts';
import {
  type AvailableUnits,
  pendingWithdrawals,
  readAvailable,
  readWithdrawal,
  reserveWithdrawal,
} from './withdrawals.store.ts';

/** The rules of prices, by settings. */
export interface WithdrawalPolicy {
  /** WITHDRAW_FEE_PAYER */
  readonly feePayer: 'account' | 'operator';
  /** WITHDRAW_DEBT_MAX_SATS */
  readonly debtMax: bigint;
  /** WITHDRAW_INPUTS_MAX */
  readonly inputsMax: number;
}

export interface AccountWithdrawalsParts {
  /** Connections of the role that answers requests. */
  readonly pool: pg.Pool;
  /** Null: there is no wallet yet. */
  readonly wallet: () => Promise<WalletIdentity | null>;
  /** Whether a process with the seed signs. */
  readonly isSignerThere: () => Promise<boolean>;
  readonly secrets: () => Promise<WebhookKeys>;
  /** Sats for 1,000 virtual bytes that the node takes at least and says that transactions cost. */
  readonly feeRates: (client: pg.Pool | pg.ClientBase) => Promise<FeeRates>;
  /** Wakes the process that signs, once the transaction commits. */
  readonly wake: (tx: pg.ClientBase) => Promise<void>;
  readonly policy: WithdrawalPolicy;
  /** Why nothing may be sent to a URL; null: it may be. */
  readonly urlProblem: (url: string) => string | null;
}

export interface FeeRates {
  readonly least: bigint;
  readonly usual: bigint;
}

/** Sats for 1,000 virtual bytes: above, nothing is sent (ADR 79). The database has the same bound. */
const feeRateMax = 200_000n;

/** An asset with its name, and an amount of it in base units. */
interface NamedUnits {
  readonly asset: number;
  /** Null: sats. */
  readonly rune: RuneId | null;
  readonly shown: ShownRune;
  readonly amount: bigint;
}

/** Reserving found too little. Thrown so that its transaction is rolled back. */
class NotReserved extends Error {}

/** Another withdrawal of the account was reserved since this one was priced. Thrown as above. */
class PricedTooEarly extends Error {}

/** The answer of a withdrawal, or of its dry run. */
interface AskedAnswer {
  readonly kind: 'asked';
  readonly answer: object;
}

/** A withdrawal whose rune and address were looked up. */
interface AskedUnits extends NamedUnits {
  readonly script: Uint8Array;
  /** Sats for 1,000 virtual bytes by which it is priced. */
  readonly rate: bigint;
  /** Below what the node says that transactions cost. */
  readonly isSlow: boolean;
  readonly sent: SentWithdrawal;
  readonly feeRate: bigint | null;
  readonly secretKey: Uint8Array | null;
  readonly onReserved: OnReserved;
}

/** Facts of an account beside which a withdrawal is priced. */
interface PricedBeside {
  readonly available: ReadonlyMap<number, AvailableUnits>;
  /** Withdrawals whose coins are taken first. */
  readonly before: readonly Withdrawal[];
}

/** Stores more in the transaction of a withdrawal. */
export type OnReserved = (tx: pg.ClientBase, answer: object) => Promise<void>;

/** Withdrawals that accounts ask for. It signs nothing: it reserves units, and a process with the seed sends them. */
export class AccountWithdrawals {
  readonly #parts: AccountWithdrawalsParts;
  readonly urlProblem: AccountWithdrawalsParts['urlProblem'];

  constructor(parts: AccountWithdrawalsParts) {
    this.#parts = parts;
    this.urlProblem = parts.urlProblem;
  }

  /**
   * Prices a withdrawal, and reserves it unless it is a dry run. Nothing is reserved where it throws or is faulty. Throws
   * `orders_off`, `token_balance_missing`, `runes_not_indexed` and `derived_table_behind`.
   *
   * @param feeRate sats for 1,000 virtual bytes; null: what the node says
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
    const units = await this.#unitsOf(sent, signal);
    if ('kind' in units) return units;
    const script = await this.#destination(key.account, sent.address, network);
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
    // a try fails where another withdrawal of the account came meanwhile: the balance bounds how often
    for (;;) {
      signal.throwIfAborted();
      const tried = await this.#askOnce(key.account, asked);
      if (tried !== null) return tried;
    }
  }

  /** Null: another withdrawal of the account came since this one was priced. */
  async #askOnce(account: string, asked: AskedUnits): Promise<AskedAnswer | Faulty | null> {
    const { pool } = this.#parts;
    const { sent, asset, amount, script, shown, feeRate, secretKey } = asked;
    const available = await readAvailable(pool, account);
    requireUnits(available, asked);
    const owing = this.#owingFault(available);
    if (owing !== null) return owing;
    const before = await pendingWithdrawals(pool, account);
    const priced = await this.#price(account, asked, { available, before });
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

  /** A withdrawal of an account as it is answered; null: it has none with this id. */
  async read(account: string, id: string): Promise<object | null> {
    const { pool } = this.#parts;
    const withdrawal = await readWithdrawal(pool, account, id);
    if (withdrawal === null) return null;
    const assets = withdrawal.asset === satsAsset ? [] : [withdrawal.asset];
    return withdrawalAnswer(withdrawal, shownRuneOf(withdrawal, await tokenRunesOf(pool, assets)));
  }

  /** The webhook secret of a withdrawal, in hex; null: it has no webhook, or comes from a secret that is not known here. */
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
      // while this one waited for the row of the balance, another may have taken the coins that it was priced by
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
      // another withdrawal took it since it was looked for
      if (error instanceof NotReserved) throw noBalance();
      throw error;
    });
    if (reserved !== null) failpoint('withdrawal-reserved');
    return reserved;
  }

  async #requireOpen(): Promise<NetworkParameters> {
    const { pool, wallet, isSignerThere } = this.#parts;
    const found = await wallet();
    if (found === null)
      throw new AppError('orders_off', 'this service makes no withdrawals: it has no wallet');
    if (!(await isSignerThere()))
      throw new AppError(
        'orders_off',
        'this service makes no withdrawals now: no process with the seed of the wallet (WALLET_SEED_FILE) sends them',
      );
    if ((await indexedTip(pool)) === null)
      throw new AppError('orders_off', 'this service makes no withdrawals yet: no block is indexed');
    return networks[found.network];
  }

  /** The asset and the base units of what was sent. */
  async #unitsOf({ rune, token, amount }: SentWithdrawal, signal: AbortSignal): Promise<NamedUnits | Faulty> {
    if (rune === null) {
      const read = readAmount(amount, coinDecimals);
      if (read.kind === 'refused') return faulty('amount', `amount ${read.reason}.`);
      return { asset: satsAsset, rune: null, shown: null, amount: read.amount };
    }
    const { pool } = this.#parts;
    const found = await tokenAmount(pool, { rune, token, amount }, signal);
    if (found.kind === 'faulty') return found;
    const { etching, divisibility, spacers } = found.rune;
    const name = formatSpacedRune({ rune: found.rune.rune, spacers });
    const [stored] = await storedRunes(pool, [{ etching, rune: found.rune.rune, name, divisibility }]);
    assert(stored !== undefined, 'a rune that is stored has a number');
    const id = { block: asU128(found.rune.height), tx: found.rune.txIndex };
    return { asset: stored.asset, rune: id, shown: { name, divisibility }, amount: found.amount };
  }

  /** The script of an address that this account may withdraw to, or why it may not. */
  async #destination(
    account: string,
    address: string,
    network: NetworkParameters,
  ): Promise<Uint8Array | Faulty> {
    const { pool } = this.#parts;
    const read = checkDestination({ address, network, amount: null }, 'later');
    if (read.kind === 'refused') return faulty('address', `the address ${read.reason}.`);
    const { script } = read;
    const own = await ownScriptsAmong(pool, [script]);
    const checked = checkDestination({ script, amount: null }, () => own.length > 0);
    if (checked.kind === 'refused') return faulty('address', `the address ${checked.reason}.`);
    const allowed = await readAllowed(pool, account);
    const isListed = allowed.some((each) => Buffer.compare(each.script, script) === 0);
    return allowed.length === 0 || isListed
      ? script
      : faulty(
          'address',
          'the address is not one of those that this account withdraws to: ask the operator.',
        );
  }

  async #price(
    account: string,
    wanted: AskedUnits,
    { available, before }: PricedBeside,
  ): Promise<Pick<NewWithdrawal, 'fee' | 'postage' | 'payer'> | Faulty> {
    const { pool, policy } = this.#parts;
    const { asset, amount, rune, script, rate: feeRate } = wanted;
    const { feeFrom } = wanted.sent;
    const { inputsMax, feePayer, debtMax } = policy;
    const coins = await readWithdrawalCoins(pool, {
      accounts: [account],
      limit: (inputsMax + 1) * (1 + before.length),
      assets: new Set([
        null,
        ...[asset, ...before.map((each) => each.asset)].filter((each) => each !== satsAsset),
      ]),
    });
    const quote = quoteWithdrawal({
      asked: { id: account, account, rune, units: amount, script },
      before: await nameWithdrawals(pool, before),
      coins,
      isOwnOnly: wanted.isSlow,
      feePayer,
      // the fee is a part of sats that are withdrawn, unless the account wants to pay it beside
      balance: rune === null && feeFrom === 'withdrawal' ? amount : leftOf(available, satsAsset),
      debtMax,
      feeRate,
      change: changeForm,
      limits: { dataCarrierBytes: leastCarrierBytes, inputsMax, weightMax: standardWeightMax },
    });
    if (quote.kind === 'refused') return faulty(...wordsOf(quote, policy));
    const { fee, postage, payer } = quote;
    if (rune === null && feeFrom === 'balance' && payer === 'withdrawal')
      return faulty('feeFrom', `feeFrom: the balance lacks sats for a fee of ${fee} beside the amount.`);
    return { fee, postage, payer };
  }

  /** An account that owes more than it may: a reorganisation took back what had left it. */
  #owingFault(available: ReadonlyMap<number, AvailableUnits>): Faulty | null {
    const { debtMax } = this.#parts.policy;
    const owes = [...available].some(([asset, { amount }]) => amount < (asset === satsAsset ? -debtMax : 0n));
    return owes
      ? faulty(
          'token',
          'the account owes more than it may: a reorganisation took back payments that had left it. GET /tokenpay/user/account/balance shows what is below 0; it withdraws again once that is paid.',
        )
      : null;
  }

  async #secretKey(): Promise<Uint8Array | null> {
    try {
      return (await this.#parts.secrets()).publicKeys[0] ?? null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError(
        'orders_off',
        `this service takes no withdrawals with webhookUrl now: ${error.message} Leave webhookUrl out, or ask the operator.`,
      );
    }
  }
}

const leftOf = (available: ReadonlyMap<number, AvailableUnits>, asset: number): bigint => {
  const found = available.get(asset);
  return found === undefined ? 0n : found.amount - found.reserved;
};

/** Sats that the account owes once a withdrawal is reserved; 0n: none. */
function debtOf(wanted: NewWithdrawal, available: ReadonlyMap<number, AvailableUnits>): bigint {
  const taken = reservedOf(wanted).find(({ asset }) => asset === satsAsset)?.units ?? 0n;
  const left = leftOf(available, satsAsset) - taken;
  return taken > 0n && left < 0n ? -left : 0n;
}

/** Throws `token_balance_missing` where the account has too little of what it withdraws. */
function requireUnits(available: ReadonlyMap<number, AvailableUnits>, { asset, amount }: NamedUnits): void {
  if (leftOf(available, asset) < amount) throw noBalance();
}

/** The words are those of the public interface (client-compat 2.3). */
const noBalance = (): AppError =>
  new AppError('token_balance_missing', 'user does not have a balance for this token');

/** A script of the form that changes have: P2TR. */
const changeForm = Uint8Array.from([0x51, 0x20, ...Buffer.alloc(32)]);
/** OP_RETURN bytes that every node relays (MAX_OP_RETURN_RELAY before Bitcoin Core 30): one edict needs half of them. */
const leastCarrierBytes = 83;

/** The field at fault where a withdrawal can never be sent as it is, and what is wrong with it. */
function wordsOf(
  refusal: WithdrawalRefusal,
  { debtMax }: WithdrawalPolicy,
): [parameter: string, words: string] {
  switch (refusal.code) {
    case 'amount':
      return ['amount', 'amount cannot be withdrawn.'];
    case 'destination':
      return ['address', `the address ${refusal.reason}.`];
    case 'dust':
      return [
        'amount',
        `amount leaves ${refusal.sats} sats for the address: nodes relay no less than ${refusal.least} to it.`,
      ];
    case 'inputs':
      return [
        'amount',
        refusal.most === null
          ? `amount needs more than ${refusal.inputsMax} outputs that were paid to the account: their sats do not pay the fee. Withdraw less.`
          : `amount needs more than ${refusal.inputsMax} outputs that were paid to the account: those have ${refusal.most} base units. Withdraw that or less first.`,
      ];
    case 'runestone':
      return ['token', `token needs a runestone of ${refusal.bytes} bytes: nodes relay ${refusal.bytesMax}.`];
    case 'weight':
      return [
        'amount',
        `amount needs a transaction of ${refusal.weight} weight units: nodes relay ${refusal.weightMax}.`,
      ];
    case 'own':
      return [
        'feeRate',
        'feeRate is below what the node says that transactions cost: such a withdrawal spends outputs that were paid to the account itself, and those that are free do not suffice. Ask for more, or leave feeRate out.',
      ];
    case 'sats':
      return [
        'amount',
        `amount needs sats for the miner and beneath the runes, of which the account lacks ${refusal.missing} beyond a debt of at most ${debtMax}.`,
      ];
  }
}

function rateFault(
  asked: bigint | null,
  rate: bigint,
  { least, usual }: FeeRates,
  { feePayer }: Pick<WithdrawalPolicy, 'feePayer'>,
): Faulty | null {
  if (rate > feeRateMax) {
    const words = `must be at most ${feeRateMax / 1000n} sats per virtual byte: above, nothing is withdrawn`;
    return faulty(
      'feeRate',
      asked === null ? `feeRate ${words}, and the node asks for more now.` : `feeRate ${words}.`,
    );
  }
  if (feePayer === 'operator' && rate > usual)
    return faulty(
      'feeRate',
      `feeRate must be at most ${Number(usual) / 1000} sats per virtual byte: the service pays what the node says that transactions cost, and no more.`,
    );
  return rate < least
    ? faulty(
        'feeRate',
        `feeRate must be at least ${Number(least) / 1000} sats per virtual byte: the node takes no less now.`,
      )
    : null;
}

const faulty = (parameter: string, message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message, parameter }],
});
