import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { Purse } from '#test/chaos/orders/purse.ts';
import type { RuneChain } from './rune-chain.ts';
import { addUnits, plainMessage, type RuneMessage } from './rune-model.ts';
import { type RuneCoin, type RunePurse, type RunRune, scriptOf } from './rune-purse.ts';

/** An output of a payment, with units of runes. */
export interface PayingOutput {
  readonly value: number;
  readonly outputScript: Uint8Array;
  readonly units?: readonly (readonly [RunRune, bigint])[];
}

/** The way in which a payment uses the protocol. */
export interface PaymentKind {
  /** Whether the payment burns its runes. One of its edicts then names an output that does not exist. */
  readonly isCenotaph?: boolean;
  /** The rune that the payment mints to its first output. */
  readonly mint?: RunRune;
}

/** A payment of a customer with any outcome. */
export interface SentPayment {
  readonly coin: Coin;
  readonly runeCoins: readonly RuneCoin[];
  readonly outputs: readonly PayingOutput[];
  readonly kind: PaymentKind;
  readonly made: RegtestTransaction;
}

const paymentFee = 2_000;
/** Fee of a replacement in sats. It is more than the fees of a payment. No transaction spends a payment. */
const replacementFee = 40_000;
/** Index of an output that does not exist. It is above the number of outputs of any payment. */
const nowhere = 99;
/** Number of outputs before the outputs of the payment: the rest of its runes, and the rest of its sats. */
const ownOutputs = 2;
const runeRestSats = 10_000;

interface TokenPaymentsParts {
  readonly rpc: NodeRpc;
  readonly chain: RegtestChain;
  readonly purse: Purse;
  readonly runes: RunePurse;
  readonly model: RuneChain;
}

/** Makes and sends payments from coins that no reorganisation takes back. No payment spends another payment. */
export class TokenPayments {
  readonly #parts: TokenPaymentsParts;
  /** Transactions that a node may have forgotten. Each of them comes after the transactions that it spends. */
  readonly #sent: RegtestTransaction[] = [];
  /** Outpoints with an inscription. */
  readonly inscribed = new Set<string>();

  constructor(parts: TokenPaymentsParts) {
    this.#parts = parts;
  }

  get runes(): readonly RunRune[] {
    return this.#parts.runes.runes;
  }

  /** Sends a payment. `null` if there are too few coins now, or if the node refuses the payment. */
  async send(outputs: readonly PayingOutput[], kind: PaymentKind = {}): Promise<SentPayment | null> {
    const { purse, runes } = this.#parts;
    const sats = outputs.reduce((sum, { value }) => sum + value, 0);
    const coin = await purse.take(sats + replacementFee + runeRestSats + 1_000);
    if (coin === null) return null;
    const runeCoins: RuneCoin[] = [];
    for (const [rune, least] of unitsOf(outputs)) {
      const taken = await runes.take(rune, least);
      if (taken === null) {
        purse.keep(coin);
        return null;
      }
      runeCoins.push(taken);
    }
    return this.#sendFrom(coin, runeCoins, outputs, kind, paymentFee);
  }

  /**
   * Replaces a payment by another payment with the same coins. If there are no outputs, everything returns. `null` if
   * the node refuses the other payment.
   */
  replace({ coin, runeCoins }: SentPayment, outputs: readonly PayingOutput[]): Promise<SentPayment | null> {
    return this.#sendFrom(coin, runeCoins, outputs, {}, replacementFee);
  }

  /** Pays with an output that holds an inscription. */
  async inscribe(text: string, { value, outputScript }: PayingOutput): Promise<boolean> {
    const { chain, purse } = this.#parts;
    const from = await purse.take(value + 60_000);
    if (from === null) return false;
    const content = { contentType: 'text/plain', body: text };
    const { commit, reveal } = await chain.inscribe(content, { payments: [{ value, outputScript }], from });
    for (const made of [commit, reveal]) {
      if (!(await this.#broadcast(made))) return false;
      this.#sent.push(made);
    }
    this.inscribed.add(`${reveal.txid}:0`);
    purse.keep(commit.coin(1));
    return true;
  }

  /** Sends unconfirmed transactions again, like wallets do. Some are never sent again. */
  async sendAgain(isSent: () => boolean, last = this.#sent.length): Promise<void> {
    for (const made of this.#sent.slice(-last)) if (isSent()) await this.#broadcast(made);
  }

  async #sendFrom(
    coin: Coin,
    runeCoins: readonly RuneCoin[],
    outputs: readonly PayingOutput[],
    kind: PaymentKind,
    fee: number,
  ): Promise<SentPayment | null> {
    const { purse, runes, model } = this.#parts;
    const message = messageOf(outputs, kind);
    const paid = outputs.reduce((sum, { value }) => sum + value, runeRestSats + fee);
    const held = runeCoins.reduce((sum, each) => sum + each.coin.value, coin.value);
    const made = transaction(
      [...runeCoins.map((each) => each.coin), coin],
      [
        { value: runeRestSats, to: coin.owner },
        { value: held - paid, to: coin.owner },
        ...outputs.map(({ value, outputScript }): NewOutput => ({ value, outputScript })),
        { value: 0, outputScript: scriptOf(message, this.runes) },
      ],
    );
    model.messages.set(made.txid, message);
    if (!(await this.#broadcast(made))) return null;
    this.#sent.push(made);
    purse.keep(made.coin(1));
    const rest = restOf(runeCoins, message);
    if (rest.size > 0) runes.keep({ coin: made.coin(0), runes: rest });
    return { coin, runeCoins, outputs, kind, made };
  }

  /** Sends a transaction to the node. False if the node refuses the transaction. */
  async #broadcast({ hex }: RegtestTransaction): Promise<boolean> {
    try {
      await this.#parts.rpc.call('sendrawtransaction', [hex, 0]);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'node_call_failed') return false;
      throw error;
    }
  }
}

/** Units of each rune that outputs need. */
function unitsOf(outputs: readonly PayingOutput[]): Map<RunRune, bigint> {
  const sums = new Map<RunRune, bigint>();
  for (const [rune, amount] of outputs.flatMap(({ units = [] }) => units))
    sums.set(rune, (sums.get(rune) ?? 0n) + amount);
  return sums;
}

function messageOf(outputs: readonly PayingOutput[], { isCenotaph = false, mint }: PaymentKind): RuneMessage {
  const edicts = outputs.flatMap(({ units = [] }, place) =>
    units.map(([rune, amount]) => ({
      rune: rune.etching,
      amount,
      output: isCenotaph ? nowhere : place + ownOutputs,
    })),
  );
  // minted units need no edict
  return {
    ...plainMessage,
    edicts,
    mint: mint?.etching ?? null,
    pointer: mint === undefined ? 0 : ownOutputs,
    isCenotaph,
  };
}

/** Units that the first output keeps. */
function restOf(
  coins: readonly RuneCoin[],
  { edicts, pointer, isCenotaph }: RuneMessage,
): Map<string, bigint> {
  const left = new Map<string, bigint>();
  if (pointer !== 0 || isCenotaph) return left;
  for (const { runes } of coins) for (const [rune, amount] of runes) addUnits(left, rune, amount);
  for (const { rune, amount } of edicts) addUnits(left, rune, -amount);
  return left;
}
