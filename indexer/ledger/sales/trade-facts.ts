import { pairSignature } from './fitting-signatures.ts';
import type { Coin, Move, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { dummyMax, dustMax, opReturn, priceOfPair } from './sale-rules.ts';

/** OP_RETURN OP_13. */
const runestone = '\x6a\x5d';

/** The outputs of an owner in which no inscription lands. */
export interface OwnOutputs {
  readonly first: number;
  /** Sum of their values in sats. */
  readonly total: number;
}

/** Some inputs of a transaction, ascending. */
export interface InputRow {
  readonly inputs: readonly number[];
  /** True if the inputs are consecutive and only dummies are before them. */
  readonly isRow: boolean;
}

/**
 * Facts of a whole transaction that the rules need for each input with inscriptions. Each fact is found once. If each
 * input read all inputs, outputs and moves, a consolidation of 10,000 would block the writer for minutes.
 */
export class TradeFacts {
  readonly tx: MovingTransaction;
  /** For each input: its signature that binds the output of the same index. */
  readonly pairs: readonly (SignedAs | undefined)[];
  /** The inputs with such a signature. */
  readonly pairRow: InputRow;
  /** Scripts of the inputs that are not pairs: buyers and payers. */
  readonly funding: ReadonlySet<string>;
  readonly inputScripts: ReadonlySet<string>;
  /** Outputs in which an inscription lands. */
  readonly landings: ReadonlySet<number>;
  readonly #movesOf = new Map<number, Move[]>();
  /** Scripts that inscriptions come from, by the script where the inscriptions land. */
  readonly #sources = new Map<string, Set<string>>();
  /** Made on first use, like the fields below, because most sales are pairs and need few of them. */
  #paidAgain: ReadonlySet<string> | null = null;
  #spentBy: ReadonlyMap<string, number> | null = null;
  #paid: PaidOwners | null = null;
  #payers: ReadonlySet<string> | null = null;
  #itemRow: InputRow | null = null;
  #pairPrices: number | null = null;
  #lastChange: number | null = null;

  constructor(tx: MovingTransaction) {
    const { inputs, moves } = tx;
    this.tx = tx;
    const pairs: (SignedAs | undefined)[] = [];
    const pairInputs: number[] = [];
    const funding = new Set<string>();
    const inputScripts = new Set<string>();
    for (let at = 0; at < inputs.length; at++) {
      const input = inputs[at]!;
      const pair = pairSignature(input);
      pairs.push(pair);
      inputScripts.add(input.script);
      if (pair === undefined) funding.add(input.script);
      else pairInputs.push(at);
    }
    this.pairs = pairs;
    this.funding = funding;
    this.inputScripts = inputScripts;
    this.pairRow = { inputs: pairInputs, isRow: this.#isRow(pairInputs) };
    const landings = new Set<number>();
    for (const { landing } of moves) if (landing !== null) landings.add(landing);
    this.landings = landings;
    for (const move of moves) this.#addMove(move);
  }

  /** The moves out of an input, by position. */
  movesOf(input: number): readonly Move[] {
    return this.#movesOf.get(input) ?? [];
  }

  /** Scripts of the outputs in which the inscriptions of an input land. */
  takersOf(input: number): ReadonlySet<string> {
    const { outputs } = this.tx;
    return new Set(
      this.movesOf(input).flatMap(({ landing }) => (landing === null ? [] : [outputs[landing]!.script])),
    );
  }

  /** Scripts of the inputs that hold no inscriptions and are not pairs. */
  get payers(): ReadonlySet<string> {
    this.#payers ??= new Set(
      this.tx.inputs.flatMap(({ script }, at) =>
        this.pairs[at] === undefined && !this.#movesOf.has(at) ? [script] : [],
      ),
    );
    return this.#payers;
  }

  /** The inputs that hold inscriptions. */
  get itemRow(): InputRow {
    if (this.#itemRow === null) {
      // moves ascend by input
      const inputs = [...this.#movesOf.keys()];
      this.#itemRow = { inputs, isRow: this.#isRow(inputs) };
    }
    return this.#itemRow;
  }

  /** Sum of the list prices of all pairs, if the payouts return the sats of items. */
  get pairPrices(): number {
    this.#pairPrices ??= this.pairRow.inputs.reduce((sum, at) => {
      const payout = this.tx.outputs[at];
      return payout === undefined ? sum : sum + priceOfPair(this.tx.inputs[at]!, payout, true);
    }, 0);
    return this.#pairPrices;
  }

  /**
   * The last output that may be change: it has more sats than a dummy and no inscription. -1: there is no such output.
   */
  get lastChange(): number {
    this.#lastChange ??= this.tx.outputs.findLastIndex(
      ({ script, value }, at) => value > dummyMax && !script.startsWith(opReturn) && !this.landings.has(at),
    );
    return this.#lastChange;
  }

  /** Sats that an owner puts in. */
  spentBy(script: string): number {
    this.#spentBy ??= sumsByScript(this.tx.inputs);
    return this.#spentBy.get(script) ?? 0;
  }

  ownOutputs(script: string): OwnOutputs | null {
    return this.#paidOwners().own.get(script) ?? null;
  }

  /** Scripts that occur in several outputs, with or without inscriptions. */
  get paidAgain(): ReadonlySet<string> {
    this.#paidAgain ??= repeated(this.tx.outputs);
    return this.#paidAgain;
  }

  /**
   * Whether an inscription of someone else goes to one of these owners while an inscription of theirs leaves.
   *
   * @param owners include the holder of the inscription that leaves
   */
  isExchange(owners: readonly string[]): boolean {
    // visits at most one source more than there are owners
    return owners.some((owner) => {
      for (const source of this.#sources.get(owner) ?? []) if (!owners.includes(source)) return true;
      return false;
    });
  }

  /** Whether there is a runestone, an input of someone else, and an output for the holder with almost no sats. */
  isPaidInRunes(holder: string): boolean {
    if (this.inputScripts.size < 2) return false;
    const { hasRunestone, dust } = this.#paidOwners();
    return hasRunestone && dust.has(holder);
  }

  #isRow(inputs: readonly number[]): boolean {
    const [first = 0] = inputs;
    return (
      inputs.every((at, nth) => at === first + nth) &&
      this.tx.inputs.slice(0, first).every(({ value }) => value <= dummyMax)
    );
  }

  #paidOwners(): PaidOwners {
    this.#paid ??= paidOwners(this.tx.outputs, this.landings);
    return this.#paid;
  }

  #addMove(move: Move): void {
    const { input, landing } = move;
    const moves = this.#movesOf.get(input);
    if (moves === undefined) this.#movesOf.set(input, [move]);
    else moves.push(move);
    if (landing === null) return;
    const { inputs, outputs } = this.tx;
    const to = outputs[landing]!.script;
    const sources = this.#sources.get(to) ?? new Set();
    this.#sources.set(to, sources.add(inputs[input]!.script));
  }
}

interface PaidOwners {
  readonly own: ReadonlyMap<string, OwnOutputs>;
  /** Owners of outputs that have almost no sats and no inscription. */
  readonly dust: ReadonlySet<string>;
  readonly hasRunestone: boolean;
}

function paidOwners(outputs: readonly Coin[], landings: ReadonlySet<number>): PaidOwners {
  const own = new Map<string, { first: number; total: number }>();
  const dust = new Set<string>();
  let hasRunestone = false;
  for (const [vout, { script, value }] of outputs.entries()) {
    if (script.startsWith(runestone)) hasRunestone = true;
    if (landings.has(vout)) continue;
    if (value <= dustMax) dust.add(script);
    const before = own.get(script);
    if (before === undefined) own.set(script, { first: vout, total: value });
    else before.total += value;
  }
  return { own, dust, hasRunestone };
}

function repeated(outputs: readonly Coin[]): Set<string> {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const { script } of outputs) (seen.has(script) ? again : seen).add(script);
  return again;
}

function sumsByScript(coins: readonly Coin[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { script, value } of coins) sums.set(script, (sums.get(script) ?? 0) + value);
  return sums;
}
