/** The terms of a rune, as in its etching. */
export interface ModelTerms {
  readonly premine: bigint;
  /** Maximum number of valid mints; 0 if the rune cannot be minted. */
  readonly cap: number;
  /** Units of a mint. */
  readonly amount: bigint;
}

export interface ModelEdict {
  /** The txid of the etching. */
  readonly rune: string;
  /** 0 means all units that are left. */
  readonly amount: bigint;
  /** Index of an output. The number of outputs means all outputs except OP_RETURN. */
  readonly output: number;
}

/** The runestone of a transaction, as the run wrote it. The model does not read scripts. */
export interface RuneMessage {
  readonly etching: ModelTerms | null;
  /** The txid of the etching. */
  readonly mint: string | null;
  readonly edicts: readonly ModelEdict[];
  readonly pointer: number | null;
  /** Whether the transaction burns all incoming runes. */
  readonly isCenotaph: boolean;
}

export const plainMessage: RuneMessage = {
  etching: null,
  mint: null,
  edicts: [],
  pointer: null,
  isCenotaph: false,
};

/**
 * A transaction of a block. Hashes are in display order, outpoints have the form `<txid>:<vout>`, and scripts are in
 * hex.
 */
export interface ModelTransaction {
  readonly txid: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly { readonly script: string; readonly sats: bigint }[];
}

/** Units of runes, by the txid of the rune's etching. */
export type Units = ReadonlyMap<string, bigint>;

/** All runes after a block. Immutable. */
export interface RuneState {
  readonly terms: ReadonlyMap<string, ModelTerms>;
  /** Unspent outputs with runes. */
  readonly unspent: ReadonlyMap<string, { readonly script: string; readonly runes: Units }>;
  /** Runes that outputs got. Includes spent outputs. */
  readonly made: ReadonlyMap<string, Units>;
  readonly burned: Units;
  /** Number of valid mints, by the txid of the etching. */
  readonly mints: ReadonlyMap<string, number>;
}

export const noRunes: RuneState = {
  terms: new Map(),
  unspent: new Map(),
  made: new Map(),
  burned: new Map(),
  mints: new Map(),
};

/** Adds units to a sum, in place. */
export function addUnits(sums: Map<string, bigint>, key: string, amount: bigint): void {
  if (amount !== 0n) sums.set(key, (sums.get(key) ?? 0n) + amount);
}

/**
 * Computes the runes after a block by the rules of the protocol. It shares no code with the service, so that a run can
 * compare both. Pure.
 *
 * @param messages the runestones of all transactions that have one, by txid
 */
export function afterBlock(
  before: RuneState,
  transactions: readonly ModelTransaction[],
  messages: ReadonlyMap<string, RuneMessage>,
): RuneState {
  const after = {
    terms: new Map(before.terms),
    unspent: new Map(before.unspent),
    made: new Map(before.made),
    burned: new Map(before.burned),
    mints: new Map(before.mints),
  };
  for (const made of transactions) applyTransaction(after, made, messages.get(made.txid) ?? plainMessage);
  return after;
}

interface ChangingState {
  readonly terms: Map<string, ModelTerms>;
  readonly unspent: Map<string, { readonly script: string; readonly runes: Units }>;
  readonly made: Map<string, Units>;
  readonly burned: Map<string, bigint>;
  readonly mints: Map<string, number>;
}

function applyTransaction(state: ChangingState, made: ModelTransaction, message: RuneMessage): void {
  const left = unitsIn(state, made, message);
  if (left.size === 0) return;
  const placed = message.isCenotaph ? [] : place(left, made, message);
  if (!message.isCenotaph) placeRest(left, placed, made, message.pointer);
  for (const [rune, amount] of left) addUnits(state.burned, rune, amount);
  for (const [vout, runes] of placed.entries()) {
    if (runes === undefined || runes.size === 0) continue;
    const { script } = made.outputs[vout]!;
    if (isData(script)) for (const [rune, amount] of runes) addUnits(state.burned, rune, amount);
    else {
      state.unspent.set(`${made.txid}:${vout}`, { script, runes });
      state.made.set(`${made.txid}:${vout}`, runes);
    }
  }
}

/** Units of the inputs, of the mint, and of the premine. No output has these units yet. */
function unitsIn(state: ChangingState, made: ModelTransaction, message: RuneMessage): Map<string, bigint> {
  const left = new Map<string, bigint>();
  for (const spent of made.inputs) {
    for (const [rune, amount] of state.unspent.get(spent)?.runes ?? []) addUnits(left, rune, amount);
    state.unspent.delete(spent);
  }
  const { mint, etching } = message;
  const terms = mint === null ? undefined : state.terms.get(mint);
  if (mint !== null && terms !== undefined && (state.mints.get(mint) ?? 0) < terms.cap) {
    state.mints.set(mint, (state.mints.get(mint) ?? 0) + 1);
    addUnits(left, mint, terms.amount);
  }
  if (etching !== null) {
    state.terms.set(made.txid, etching);
    addUnits(left, made.txid, etching.premine);
  }
  return left;
}

const isData = (script: string): boolean => script.startsWith('6a');

type Placed = (Map<string, bigint> | undefined)[];

function put(placed: Placed, vout: number, rune: string, amount: bigint): void {
  const runes = placed[vout] ?? new Map<string, bigint>();
  placed[vout] = runes;
  addUnits(runes, rune, amount);
}

/** Follows the edicts in their order, while units are left. */
function place(left: Map<string, bigint>, { outputs }: ModelTransaction, { edicts }: RuneMessage): Placed {
  const placed: Placed = [];
  const move = (vout: number, rune: string, wanted: bigint): void => {
    const rest = left.get(rune) ?? 0n;
    const amount = wanted < rest ? wanted : rest;
    if (amount === 0n) return;
    left.set(rune, rest - amount);
    put(placed, vout, rune, amount);
  };
  for (const { rune, amount, output } of edicts) {
    const rest = left.get(rune) ?? 0n;
    if (output < outputs.length) {
      move(output, rune, amount === 0n ? rest : amount);
      continue;
    }
    const receivers = [...outputs.keys()].filter((vout) => !isData(outputs[vout]!.script));
    const count = BigInt(receivers.length);
    for (const [place, vout] of receivers.entries()) {
      const share = amount > 0n ? amount : rest / count + (BigInt(place) < rest % count ? 1n : 0n);
      move(vout, rune, share);
    }
  }
  return placed;
}

/**
 * Gives the remaining units to the pointer's output, or to the first output that is not an OP_RETURN. If there is no
 * such output, the units are burned.
 */
function placeRest(
  left: Map<string, bigint>,
  placed: Placed,
  { outputs }: ModelTransaction,
  pointer: number | null,
): void {
  const vout = pointer ?? outputs.findIndex(({ script }) => !isData(script));
  if (vout < 0) return;
  for (const [rune, amount] of left) {
    if (amount > 0n) put(placed, vout, rune, amount);
    left.delete(rune);
  }
}
