import { pairSignature } from './fitting-signatures.ts';
import type { Coin, Move, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { dummyMax, dustMax } from './sale-rules.ts';

/** OP_RETURN OP_13. */
const runestone = '\x6a\x5d';

/** The outputs of an owner in which no inscription lands. */
export interface OwnOutputs {
  readonly first: number;
  /** Sats of all of them. */
  readonly total: number;
}

/**
 * What the rules ask of a transaction as a whole, found once. They ask it for each input that holds inscriptions: if
 * each looked at all inputs, outputs and moves, a consolidation of 10,000 would hold up the writer for minutes.
 */
export class TradeFacts {
  readonly tx: MovingTransaction;
  /** Of each input: the signature that binds the output of its index. */
  readonly pairs: readonly (SignedAs | undefined)[];
  /** The inputs with such a signature, ascending. */
  readonly pairInputs: readonly number[];
  /** These inputs follow each other, and only dummies lie before them. */
  readonly isRowOfPairs: boolean;
  /** Scripts of the inputs that are no pairs: who buys, and who pays. */
  readonly funding: ReadonlySet<string>;
  readonly inputScripts: ReadonlySet<string>;
  /** Outputs in which an inscription lands. */
  readonly landings: ReadonlySet<number>;
  readonly #movesOf = new Map<number, Move[]>();
  readonly #spentBy = new Map<string, number>();
  readonly #ownOutputs = new Map<string, { first: number; total: number }>();
  readonly #dustOwners = new Set<string>();
  readonly #firstOutput = new Map<string, number>();
  readonly #hasRunestone: boolean;
  /** By the script where inscriptions land: the scripts that they come from. */
  readonly #sources = new Map<string, Set<string>>();

  constructor(tx: MovingTransaction) {
    const { inputs, outputs, moves } = tx;
    this.tx = tx;
    this.pairs = inputs.map(pairSignature);
    this.pairInputs = [...inputs.keys()].filter((at) => this.pairs[at] !== undefined);
    this.isRowOfPairs = this.#isRow();
    this.funding = new Set(inputs.filter((_, at) => this.pairs[at] === undefined).map(scriptOf));
    this.inputScripts = new Set(inputs.map(scriptOf));
    this.landings = new Set(moves.flatMap(({ landing }) => landing ?? []));
    this.#hasRunestone = outputs.some(({ script }) => script.startsWith(runestone));
    for (const { script, value } of inputs) this.#spentBy.set(script, this.spentBy(script) + value);
    for (const [vout, output] of outputs.entries()) this.#addOutput(vout, output);
    for (const move of moves) this.#addMove(move);
  }

  /** The moves out of an input, by place. */
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

  /** Sats that an owner puts in. */
  spentBy(script: string): number {
    return this.#spentBy.get(script) ?? 0;
  }

  ownOutputs(script: string): OwnOutputs | null {
    return this.#ownOutputs.get(script) ?? null;
  }

  /** The first output of an owner, with or without inscriptions; Infinity: there is none. */
  firstOutput(script: string): number {
    return this.#firstOutput.get(script) ?? Infinity;
  }

  /**
   * Whether somebody else's inscription goes to one of these owners, while one of theirs leaves.
   *
   * @param owners among them who holds what leaves
   */
  isExchange(owners: readonly string[]): boolean {
    // at most as many sources are passed over as there are owners
    return owners.some((owner) => {
      for (const source of this.#sources.get(owner) ?? []) if (!owners.includes(source)) return true;
      return false;
    });
  }

  /** Whether there is a runestone, somebody else's input, and an output for the holder that holds next to no sats. */
  isPaidInRunes(holder: string): boolean {
    return this.#hasRunestone && this.inputScripts.size > 1 && this.#dustOwners.has(holder);
  }

  #isRow(): boolean {
    const { pairInputs, tx } = this;
    const [first = 0] = pairInputs;
    return (
      pairInputs.every((at, nth) => at === first + nth) &&
      tx.inputs.slice(0, first).every(({ value }) => value <= dummyMax)
    );
  }

  #addOutput(vout: number, { script, value }: Coin): void {
    if (!this.#firstOutput.has(script)) this.#firstOutput.set(script, vout);
    if (this.landings.has(vout)) return;
    if (value <= dustMax) this.#dustOwners.add(script);
    const own = this.#ownOutputs.get(script);
    if (own === undefined) this.#ownOutputs.set(script, { first: vout, total: value });
    else own.total += value;
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

const scriptOf = ({ script }: Coin): string => script;
