import type { RuneId } from '#kernel/runes/rune-id.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { regtestGenesis } from '#test/builders/block.ts';
import { type Envelope, inscriptionReference } from '#test/builders/envelope.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import type { Output } from '#test/builders/transaction.ts';
import {
  type Coin,
  coinbaseMaturity,
  openScript,
  type SpentCoin,
  ValidBlocks,
} from '#test/builders/valid-blocks.ts';
import { type ChainState, coinKey, type ModelBlock, type SentTransaction } from './chain-state.ts';
import { Commitments } from './commitments.ts';
import { type Named, oddScript, plainEnvelopes, randomEnvelope } from './random-envelope.ts';
import { randomRuneName, randomRunestone } from './random-runestone.ts';

/** Share of outputs that commit to envelopes. The mempool also accepts these envelopes. */
const commitmentShare = 0.4;
const coinsWanted = 60;
const fanOut = 40;
const coinSats = 20_000;
const revealsKept = 200;
const runesKept = 60;
/** Share of transactions with a runestone. `namedShare` is the share of commitments that commit to a rune's name. */
const runestoneShare = 0.4;
const namedShare = 0.3;
const heldMax = 600;
const transactionsMax = 14;
/** Share of moves that are sales. `resaleShare` is the share of sold items that are sold again at once. */
const saleShare = 0.45;
const resaleShare = 0.3;
/** Sats of a buyer's payment that remain for the fee and the change. */
const moneySats = 500;
const opReturn = 0x6a;

/** Cumulative shares of the kinds of transactions in a block, in the order of `Filling.transaction`. */
const ways = { reveal: 0.42, move: 0.72, reinscribe: 0.8, feeSpend: 0.86, burn: 0.89, merge: 0.95 } as const;

const sum = (coins: readonly Output[]): number => coins.reduce((total, { value }) => total + value, 0);

/** The pools of a state while a block is filled from them. */
class Filling {
  readonly coins: Coin[];
  readonly held: Coin[];
  readonly empty: Coin[];
  readonly reveals: Uint8Array[];
  readonly runes: RuneId[];
  readonly #height: number;
  readonly #random: Random;
  readonly #blocks: ValidBlocks;
  readonly #commitments: Commitments;

  constructor(state: ChainState, blocks: ValidBlocks, commitments: Commitments, random: Random) {
    this.coins = [...state.coins];
    this.held = [...state.held];
    this.empty = [...state.empty];
    this.reveals = [...state.reveals];
    this.runes = [...state.runes];
    this.#height = state.height + 1;
    this.#blocks = blocks;
    this.#commitments = commitments;
    this.#random = random;
  }

  /** Adds one transaction of a random kind, if the pools have its inputs. */
  transaction(): void {
    const way = this.#random.unit();
    if (way < ways.reveal || this.held.length === 0) this.#reveal();
    else if (way < ways.move) this.#move();
    else if (way < ways.reinscribe) this.#reinscribe();
    else if (way < ways.feeSpend) this.#feeSpend();
    else if (way < ways.burn) this.#burn();
    else if (way < ways.merge) this.#merge();
    else this.#revealUnbound();
  }

  /** Adds transactions of the mempool to the block, if their coins exist. */
  include(sent: SentTransaction): void {
    const wanted = new Set(sent.inputs.map(({ coin }) => coinKey(coin)));
    const found = this.coins.filter((coin) => wanted.has(coinKey(coin)));
    if (found.length !== wanted.size) return;
    for (const coin of found) this.coins.splice(this.coins.indexOf(coin), 1);
    this.held.push(...this.#blocks.spend(sent.inputs, sent.outputs));
  }

  split(coin: Coin): void {
    const each = Math.min(coinSats, Math.floor(coin.value / (fanOut + 1)));
    const outputs = Array.from({ length: fanOut }, () => ({ value: each, script: this.#owner() }));
    const [rest, ...made] = this.#blocks.spend(
      [this.#plain(coin)],
      [{ value: coin.value - fanOut * each - 400, script: this.#owner() }, ...outputs],
    ) as [Coin, ...Coin[]];
    this.coins.push(rest, ...made);
  }

  #owner(): Uint8Array {
    if (this.#random.unit() < commitmentShare) {
      const name = this.#random.unit() < namedShare ? randomRuneName(this.#random) : null;
      return this.#commitments.make(plainEnvelopes(this.#envelopes(2)), name);
    }
    const program = new Uint8Array(this.#random.unit() < 0.5 ? 20 : 32);
    // there are few owners, so that addresses hold several outputs; a program of zeros would count as false
    program[0] = 1 + this.#random.below(40);
    return openScript(program);
  }

  #plain(coin: Coin): SpentCoin {
    return { coin, witness: this.#commitments.of(coin)?.plain ?? [new Uint8Array(16)] };
  }

  /**
   * Reveals the envelopes of a commitment. If the coin allows everything, reveals up to `most` envelopes with any
   * oddity.
   */
  #revealing(coin: Coin, most: number): SpentCoin {
    const commitment = this.#commitments.of(coin);
    if (commitment !== null) return { coin, witness: commitment.reveal };
    const script = oddScript(this.#random, this.#envelopes(most));
    return { coin, witness: [new Uint8Array(4), script, new Uint8Array(33)] };
  }

  #take(pool: Coin[]): Coin | null {
    if (pool.length === 0) return null;
    // often take one of the newest coins, so that there are chains of spends within a block and within few blocks
    const back = this.#random.unit() < 0.3 ? Math.min(4, pool.length) : pool.length;
    const at = pool.length - 1 - this.#random.below(back);
    return pool.splice(at, 1)[0] ?? null;
  }

  #named(): Named {
    const any = (): Uint8Array =>
      this.reveals.length > 0 && this.#random.unit() < 0.9
        ? (this.reveals[this.#random.below(this.reveals.length)] as Uint8Array)
        : new Uint8Array(32).fill(9);
    const count = this.#random.unit() < 0.3 ? 1 + this.#random.below(2) : 0;
    return {
      parents: Array.from({ length: count }, any),
      delegate: this.#random.unit() < 0.1 ? any() : null,
    };
  }

  #envelopes(most: number): readonly Envelope[] {
    const count = this.#random.unit() < 0.75 ? 1 : 1 + this.#random.below(most);
    return Array.from({ length: count }, () => randomEnvelope(this.#random, this.#named()));
  }

  /** Distributes the value of the inputs over outputs, and leaves a fee. */
  #payOut(inputs: readonly SpentCoin[], feeSats: number): Coin[] {
    let left = inputs.reduce((sum, { coin }) => sum + coin.value, 0) - feeSats;
    const outputs: { value: number; script: Uint8Array }[] = [];
    if (this.#random.unit() < 0.06) outputs.push({ value: 0, script: this.#owner() });
    for (let count = this.#random.below(3); count > 0 && left > 1000; count--) {
      const value = 1 + this.#random.below(Math.min(left - 600, 3000));
      outputs.push({ value, script: this.#owner() });
      left -= value;
    }
    outputs.push({ value: Math.max(0, left), script: this.#owner() });
    if (this.#random.unit() < runestoneShare) this.#addRunestone(inputs, outputs);
    return this.#blocks.spend(inputs, outputs).filter(({ script }) => script[0] !== opReturn);
  }

  #addRunestone(inputs: readonly SpentCoin[], outputs: { value: number; script: Uint8Array }[]): void {
    const names = inputs.flatMap(({ coin }) => this.#commitments.of(coin)?.name ?? []);
    const place = { name: names[0] ?? null, ids: this.runes, outputs: outputs.length };
    const { script, isEtching } = randomRunestone(this.#random, place);
    outputs.splice(this.#random.below(outputs.length + 1), 0, { value: 0, script });
    if (isEtching) this.runes.push({ block: smallU128(this.#height), tx: this.#blocks.nextPlace });
  }

  #sort(made: readonly Coin[], holding: number): void {
    for (const [index, coin] of made.entries()) {
      if (coin.value === 0) this.empty.push(coin);
      else if (index < holding) this.held.push(coin);
      else this.coins.push(coin);
    }
  }

  #remember(txid: Uint8Array): void {
    this.reveals.push(inscriptionReference(txid, this.#random.unit() < 0.8 ? 0 : this.#random.below(3)));
  }

  #reveal(): void {
    const coin = this.#take(this.coins);
    if (coin === null) return;
    const inputs = [this.#revealing(coin, 3)];
    // a parent is valid only if it is spent together with the reveal; an envelope in a later input is another curse
    const beside = this.#random.unit() < 0.35 ? this.#take(this.held) : null;
    if (beside !== null) {
      const other = this.#random.unit() < 0.4 ? this.#revealing(beside, 2) : this.#plain(beside);
      if (this.#random.unit() < 0.5) inputs.push(other);
      else inputs.unshift(other);
    }
    const made = this.#payOut(inputs, this.#random.below(500));
    this.#sort(made, made.length);
    this.#remember((made[0] as Coin).txid);
  }

  #revealUnbound(): void {
    const coin = this.#take(this.empty);
    if (coin === null) return this.#reveal();
    const paying = this.#take(this.coins);
    const inputs = [this.#revealing(coin, 2), ...(paying === null ? [] : [this.#plain(paying)])];
    const made = this.#payOut(inputs, paying === null ? 0 : this.#random.below(300));
    this.#sort(made, 1);
    this.#remember((made[0] as Coin).txid);
  }

  #move(): void {
    if (this.#random.unit() < saleShare && this.#trade()) return;
    const coin = this.#take(this.held);
    if (coin === null) return;
    const paying = this.#random.unit() < 0.5 ? this.#take(this.coins) : null;
    const inputs = [this.#plain(coin), ...(paying === null ? [] : [this.#plain(paying)])];
    if (this.#random.unit() < 0.3) inputs.reverse();
    const made = this.#payOut(inputs, this.#random.below(Math.max(1, Math.min(300, coin.value))));
    this.#sort(made, made.length);
  }

  /** Sells the contents of one or two outputs, and often sells them again at once. Returns false if no one can pay. */
  #trade(): boolean {
    let items = this.#takeItems();
    let money = this.#takeMoney();
    if (items.length === 0 || money === null) {
      this.held.push(...items);
      if (money !== null) this.coins.push(money);
      return false;
    }
    while (money !== null) {
      const isOffer = items.length === 1 && this.#random.unit() < 0.35;
      items = isOffer ? this.#acceptOffer(items[0]!, money) : this.#buyListed(items, money);
      money = this.#random.unit() < resaleShare && items.length > 0 ? this.#takeMoney() : null;
    }
    this.held.push(...items);
    return true;
  }

  /** Takes outputs with a value, because an output of 0 sats cannot be sold. */
  #takeItems(): Coin[] {
    const wanted = this.#random.unit() < 0.3 ? 2 : 1;
    const taken = Array.from({ length: wanted }, () => this.#take(this.held)).filter((coin) => coin !== null);
    this.held.push(...taken.filter(({ value }) => value === 0));
    return taken.filter(({ value }) => value > 0);
  }

  #takeMoney(): Coin | null {
    const coin = this.#take(this.coins);
    if (coin === null || coin.value > moneySats) return coin;
    this.coins.push(coin);
    return null;
  }

  /**
   * Sells listed items. The buyer completes the listings, and puts dummies before them. Each item is signed for the
   * output of its index.
   */
  #buyListed(items: readonly Coin[], money: Coin): Coin[] {
    const count = items.length;
    const dummies = Array.from({ length: count + this.#random.below(2) }, () =>
      this.#take(this.coins),
    ).filter((coin) => coin !== null);
    // there must be as many outputs before the payouts as dummies: each of the last items has its own output, and the
    // first item has the rest
    const own = items.slice(Math.max(0, count - dummies.length + 1)).map(({ value }) => value);
    const shifted = sum([...dummies, ...items]) - own.reduce((total, value) => total + value, 0);
    const taker = this.#taker(money);
    const bought = dummies.length === 0 ? [] : [shifted, ...own].map((value) => ({ value, script: taker }));
    const priceMax = Math.floor((money.value - moneySats) / count);
    const payouts = items.map(({ script }) => ({ value: 1 + this.#random.below(priceMax), script }));
    const sighash = [0x83, 0x83, 0x03, 0x81][this.#random.below(4)]!;
    return this.#settle(
      [
        ...dummies.map((coin) => this.#plain(coin)),
        ...items.map((coin) => this.#signed(coin, sighash)),
        this.#signed(money, 0x01),
      ],
      bought,
      payouts,
    );
  }

  /**
   * Sells an item by an offer in the layout of ord: the item moves from input 0 to output 0, and output 1 has the
   * payment.
   */
  #acceptOffer(item: Coin, money: Coin): Coin[] {
    return this.#settle(
      [this.#signed(item, 0x01), this.#signed(money, 0x00)],
      [{ value: item.value, script: this.#taker(money) }],
      [{ value: 1 + this.#random.below(money.value - moneySats), script: item.script }],
    );
  }

  /** The script of the new owner, who is the payer or someone else. */
  #taker(money: Coin): Uint8Array {
    return this.#random.unit() < 0.5 ? money.script : this.#owner();
  }

  /**
   * Adds the transaction of a sale, whose last output is the change. Returns the outputs of the buyer, without the
   * change.
   */
  #settle(inputs: readonly SpentCoin[], bought: readonly Output[], payouts: readonly Output[]): Coin[] {
    const change =
      sum(inputs.map(({ coin }) => coin)) - sum(bought) - sum(payouts) - this.#random.below(moneySats);
    const made = this.#blocks.spend(inputs, [
      ...bought,
      ...payouts,
      { value: change, script: this.#owner() },
    ]);
    // if there is no dummy, the items are in the payouts
    this.held.push(...made.slice(bought.length, -1));
    this.coins.push(...made.slice(-1));
    return made.slice(0, bought.length);
  }

  /** Spends a coin with bytes that look like a signature of a type. No one checks them. */
  #signed(coin: Coin, sighash: number): SpentCoin {
    const commitment = this.#commitments.of(coin);
    if (commitment !== null) {
      const schnorr = new Uint8Array(sighash === 0 ? 64 : 65);
      this.#random.fill(schnorr, 0, 64);
      if (sighash !== 0) schnorr[64] = sighash;
      return { coin, witness: commitment.with(schnorr) };
    }
    const ecdsa = new Uint8Array(71);
    this.#random.fill(ecdsa, 2, 68);
    ecdsa.set([0x30, 68]);
    ecdsa[70] = sighash === 0 ? 0x01 : sighash;
    return { coin, witness: [ecdsa, new Uint8Array(33)] };
  }

  #merge(): void {
    const inputs = Array.from({ length: 2 + this.#random.below(4) }, () => this.#take(this.held)).flatMap(
      (coin) => (coin === null ? [] : [this.#plain(coin)]),
    );
    if (inputs.length > 0) this.#sort(this.#payOut(inputs, 0), 3);
  }

  #reinscribe(): void {
    const coin = this.#take(this.held);
    if (coin === null) return;
    const made = this.#payOut([this.#revealing(coin, 2)], 0);
    this.#sort(made, made.length);
    this.#remember((made[0] as Coin).txid);
  }

  /** Gives all sats of an output, or its last sats, to the miner. */
  #feeSpend(): void {
    const coin = this.#take(this.held);
    if (coin === null) return;
    const kept = this.#random.unit() < 0.5 ? 0 : this.#random.below(Math.max(1, coin.value));
    const script = this.#random.unit() < 0.3 ? this.#revealing(coin, 1) : this.#plain(coin);
    this.#sort(this.#blocks.spend([script], [{ value: kept, script: this.#owner() }]), 1);
  }

  #burn(): void {
    const coin = this.#take(this.held);
    if (coin === null) return;
    const script = this.#random.unit() < 0.3 ? this.#revealing(coin, 1) : this.#plain(coin);
    this.#blocks.spend(
      [script],
      [{ value: coin.value, script: Buffer.from([0x6a, 0x01, this.#random.below(256)]) }],
    );
  }
}

const start: ChainState = {
  height: 0,
  hash: regtestGenesis.hash,
  coins: [],
  held: [],
  empty: [],
  maturing: [],
  reveals: [],
  runes: [],
};

/** Makes blocks on top of any earlier block. The seed and the order of calls determine every byte. */
export class RandomBlocks {
  readonly random: Random;
  readonly #blocks = new ValidBlocks();
  readonly #commitments = new Commitments();

  constructor(seed: string) {
    this.random = seededRandom(`chaos ${seed}`);
  }

  /** Makes empty blocks until the first coinbase may be spent. */
  base(): ModelBlock[] {
    const made: ModelBlock[] = [];
    for (let count = 0; count < coinbaseMaturity; count++)
      made.push(this.next(made.at(-1)?.after ?? start, []));
    return made;
  }

  /** Makes a block on top of this block. The new block may include transactions of the mempool. */
  next(before: ChainState, sent: readonly SentTransaction[]): ModelBlock {
    const { random } = this;
    const blocks = this.#blocks;
    blocks.continueFrom(before);
    const filling = new Filling(before, blocks, this.#commitments, random);
    const height = before.height + 1;
    const ripe = before.maturing.filter(({ from }) => from <= height);
    const maturing = before.maturing.filter(({ from }) => from > height);
    for (const each of sent) if (random.unit() < 0.5) filling.include(each);
    while (filling.coins.length < coinsWanted && ripe.length > 0) {
      const { coin } = ripe.shift() as (typeof ripe)[number];
      // a coinbase holds the remaining fees
      if (random.unit() < 0.2 && filling.coins.length > 0) filling.held.push(coin);
      else filling.split(coin);
    }
    if (filling.coins.length > 0) {
      for (let count = random.below(transactionsMax + 1); count > 0; count--) filling.transaction();
    }
    const unclaimed = random.unit() < 0.1 ? random.below(blocks.collectedFees + 1) : 0;
    const program = new Uint8Array(20);
    random.fill(program, 0, 20);
    const block = blocks.mine({ coinbaseScript: openScript(program), unclaimed });
    const made = block.coinbase.value > 0 ? [{ from: height + coinbaseMaturity, coin: block.coinbase }] : [];
    return {
      block,
      after: {
        height,
        hash: block.hash,
        coins: filling.coins,
        held: filling.held.slice(-heldMax),
        empty: filling.empty,
        maturing: [...ripe, ...maturing, ...made],
        reveals: filling.reveals.slice(-revealsKept),
        runes: filling.runes.slice(-runesKept),
      },
    };
  }

  /** A reveal for the mempool. Its coin stays in the state until a block spends the coin. */
  unconfirmed(state: ChainState): SentTransaction | null {
    const coins = state.coins.filter(({ value }) => value > 5000);
    const reveals = coins.flatMap((coin) => {
      const witness = this.#commitments.of(coin)?.reveal;
      return witness === undefined ? [] : [{ coin, witness }];
    });
    if (reveals.length === 0) return null;
    const reveal = reveals[this.random.below(reveals.length)]!;
    const fee = 1000 + this.random.below(2000);
    const envelope = randomEnvelope(this.random, { parents: [], delegate: null });
    const script = this.#commitments.make(plainEnvelopes([envelope]));
    return { inputs: [reveal], outputs: [{ value: reveal.coin.value - fee, script }] };
  }
}
