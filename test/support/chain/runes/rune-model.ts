import { type ModelRunestone, modelOf } from './runestone-model.ts';

/*
 * The rules of runes implemented a second time, from ord's specification and only with bigints, to compare with the
 * ledger. It knows transactions as objects, and copies its complete state for each block.
 */

export interface ModelInput {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  /** The readable data pushes of the script in the input's witness, in hex; `null` without such a script. */
  readonly pushes: readonly string[] | null;
}

export interface ModelTransaction {
  readonly txid: string;
  readonly inputs: readonly ModelInput[];
  readonly scripts: readonly Uint8Array[];
}

export interface ModelRune {
  readonly id: string;
  readonly name: bigint;
  readonly etching: Readonly<Record<string, bigint | boolean | null>>;
  readonly premine: bigint;
  mints: bigint;
  burned: bigint;
}

interface ModelState {
  height: number;
  readonly runes: Map<string, ModelRune>;
  /** Amounts by rune, by unspent outpoint. */
  readonly held: Map<string, Map<string, bigint>>;
  /** Height and script, by outpoint. */
  readonly made: Map<string, { readonly height: number; readonly script: Uint8Array }>;
}

const reserved = 6402364363415443603228541259936211926n;
const isReturn = (script: Uint8Array): boolean => script[0] === 0x6a;

export class RuneModel {
  readonly #states: ModelState[] = [{ height: -1, runes: new Map(), held: new Map(), made: new Map() }];
  /** Returns the lowest name that may be etched at a height. */
  readonly #minimum: (height: number) => bigint;

  constructor(minimum: (height: number) => bigint) {
    this.#minimum = minimum;
  }

  get state(): ModelState {
    return this.#states.at(-1)!;
  }

  undo(): void {
    this.#states.pop();
  }

  apply(transactions: readonly ModelTransaction[]): void {
    const before = this.state;
    const state: ModelState = {
      height: before.height + 1,
      runes: new Map([...before.runes].map(([id, rune]) => [id, { ...rune }])),
      held: new Map(before.held),
      made: new Map(before.made),
    };
    this.#states.push(state);
    transactions.forEach((transaction, place) => {
      this.#transaction(state, transaction, place);
    });
  }

  #transaction(state: ModelState, transaction: ModelTransaction, place: number): void {
    const { txid, inputs, scripts } = transaction;
    const purse = new Purse(scripts);
    for (const { outpoint } of inputs) {
      for (const [id, amount] of state.held.get(outpoint) ?? []) purse.add(id, amount);
      state.held.delete(outpoint);
    }
    const script = scripts.find((candidate) => candidate[0] === 0x6a && candidate[1] === 0x5d);
    const stone = script === undefined ? null : modelOf(script, scripts.length);
    if (stone !== null) this.#obey(state, stone, transaction, place, purse);
    const rest = stone?.flaw == null ? (stone?.pointer ?? purse.open[0]) : undefined;
    for (const [id, amount] of purse.loose) {
      if (rest !== undefined) purse.move(id, amount, Number(rest));
      else state.runes.get(id)!.burned += amount;
    }
    purse.given.forEach((amounts, output) => {
      const outpoint = `${txid}:${output}`;
      state.made.set(outpoint, { height: state.height, script: scripts[output]! });
      if (isReturn(scripts[output]!))
        for (const [id, amount] of amounts) state.runes.get(id)!.burned += amount;
      else if (amounts.size > 0) state.held.set(outpoint, amounts);
    });
  }

  #obey(
    state: ModelState,
    stone: ModelRunestone,
    transaction: ModelTransaction,
    place: number,
    purse: Purse,
  ): void {
    const minted = this.#mint(state, stone);
    if (minted !== null) purse.add(stone.mint!, minted);
    const etched = this.#etch(state, stone, transaction, place);
    if (etched !== null) {
      state.runes.set(etched.id, etched);
      purse.add(etched.id, etched.premine);
    }
    for (const { id: named, amount, output } of stone.edicts) {
      const id = named === '0:0' ? etched?.id : named;
      const all = id === undefined ? undefined : purse.loose.get(id);
      if (id === undefined || all === undefined) continue;
      if (output < BigInt(purse.given.length)) purse.move(id, amount === 0n ? all : amount, Number(output));
      else purse.split(id, amount, all);
    }
  }

  #mint(state: ModelState, { mint }: ModelRunestone): bigint | null {
    const rune = mint === null ? undefined : state.runes.get(mint);
    if (rune?.etching['terms'] !== true) return null;
    const term = (name: string): bigint | null => rune.etching[name] as bigint | null;
    const etchedAt = BigInt(rune.id.split(':')[0]!);
    const height = BigInt(state.height);
    const after = (offset: bigint | null): bigint | null => (offset === null ? null : etchedAt + offset);
    const starts = [term('heightStart'), after(term('offsetStart'))];
    const ends = [term('heightEnd'), after(term('offsetEnd'))];
    if (starts.some((start) => start !== null && height < start)) return null;
    if (ends.some((end) => end !== null && height >= end)) return null;
    if (rune.mints >= (term('cap') ?? 0n)) return null;
    rune.mints++;
    return term('amount') ?? 0n;
  }

  #etch(
    state: ModelState,
    stone: ModelRunestone,
    { inputs }: ModelTransaction,
    place: number,
  ): ModelRune | null {
    if (stone.etching === null) return null;
    const id = `${state.height}:${place}`;
    const wanted = stone.etching['rune'] as bigint | null;
    if (wanted === null && stone.flaw !== null) return null;
    const name = wanted ?? reserved + BigInt(state.height) * 2n ** 32n + BigInt(place);
    if (wanted !== null && !this.#mayEtch(state, wanted, inputs)) return null;
    const none = {
      terms: false,
      turbo: false,
      divisibility: null,
      spacers: null,
      symbol: null,
      premine: null,
    };
    const etching = stone.flaw === null ? stone.etching : none;
    return { id, name, etching, premine: BigInt(etching['premine'] ?? 0n), mints: 0n, burned: 0n };
  }

  #mayEtch(state: ModelState, name: bigint, inputs: readonly ModelInput[]): boolean {
    if ([...state.runes.values()].some((rune) => rune.name === name)) return false;
    if (name >= reserved || name < this.#minimum(state.height)) return false;
    const hex = name === 0n ? '' : hexOf(name);
    return inputs.some((input) => isCommitment(state, input, hex));
  }
}

function isCommitment(state: ModelState, { outpoint, pushes }: ModelInput, hex: string): boolean {
  const spent = state.made.get(outpoint);
  if (spent === undefined || pushes?.includes(hex) !== true) return false;
  const isTaproot = spent.script.length === 34 && spent.script[0] === 0x51 && spent.script[1] === 32;
  return isTaproot && state.height - spent.height + 1 >= 6;
}

/** The runes of one transaction. */
export class Purse {
  readonly loose = new Map<string, bigint>();
  /** Amounts by rune, for each output. */
  readonly given: Map<string, bigint>[];
  /** Indices of outputs that can be spent. */
  readonly open: number[];

  constructor(scripts: readonly Uint8Array[]) {
    this.given = scripts.map(() => new Map<string, bigint>());
    this.open = scripts.flatMap((script, output) => (isReturn(script) ? [] : [output]));
  }

  add(id: string, amount: bigint): void {
    this.loose.set(id, (this.loose.get(id) ?? 0n) + amount);
  }

  move(id: string, wanted: bigint, output: number): void {
    const there = this.loose.get(id) ?? 0n;
    const amount = wanted > there ? there : wanted;
    this.loose.set(id, there - amount);
    const given = this.given[output]!;
    if (amount > 0n) given.set(id, (given.get(id) ?? 0n) + amount);
  }

  split(id: string, amount: bigint, all: bigint): void {
    const count = BigInt(this.open.length);
    this.open.forEach((target, turn) => {
      const share = all / count + (BigInt(turn) < all % count ? 1n : 0n);
      this.move(id, amount > 0n ? amount : share, target);
    });
  }
}

/** Little endian. */
function hexOf(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    .reverse()
    .toString('hex');
}
