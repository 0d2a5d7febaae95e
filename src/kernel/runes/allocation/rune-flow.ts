import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { etchedHere, formatRuneId, type RuneId } from '../rune-id.ts';
import type { Artifact, Runestone } from '../runestone/artifact.ts';
import { decipher } from '../runestone/decipher.ts';
import { routeRunestone } from '../runestone/encipher.ts';
import { isRunestoneScript } from '../runestone/runestone-script.ts';
import type { U128 } from '../u128.ts';
import { Allocation, type Destinations } from './allocation.ts';
import { RuneAmounts } from './rune-amounts.ts';

/** The movement of runes through one transaction. */
export interface RuneFlow {
  /** The parsed runestone. `null` if the transaction has no runestone. */
  readonly artifact: Artifact | null;
  readonly given: readonly (RuneAmount & { readonly output: number })[];
  readonly burned: readonly RuneAmount[];
  /** Index of the output that gets all runes that no edict moves. `null` if these runes are burned. */
  readonly rest: number | null;
}

const opReturn = 0x6a;

/**
 * Computes where runes go by the rules of blocks, in a transaction with these outputs whose inputs contain these
 * amounts. Mints are not included, because only a ledger knows their amount. The premine has the id 0:0. Pure.
 */
export function runeFlow(
  outputs: readonly { readonly script: Uint8Array }[],
  held: readonly RuneAmount[],
): RuneFlow {
  const artifact = artifactOf(outputs);
  const runes = new KeyedRunes(held);
  if (artifact?.kind === 'cenotaph') return { artifact, given: [], burned: runes.all(), rest: null };
  return { artifact, ...flowBy(artifact ?? routeRunestone(unled), outputs, runes) };
}

/** Values for a transaction without a runestone. */
const unled = { edicts: [], pointer: null };

function artifactOf(outputs: readonly { readonly script: Uint8Array }[]): Artifact | null {
  const stone = outputs.find(({ script }) => isRunestoneScript(script));
  return stone === undefined ? null : decipher(stone.script, 0, stone.script.length, outputs.length);
}

function flowBy(
  { edicts, etching, pointer }: Runestone,
  outputs: readonly { readonly script: Uint8Array }[],
  runes: KeyedRunes,
): Omit<RuneFlow, 'artifact'> {
  const spendable = outputs.flatMap(({ script }, output) => (script[0] === opReturn ? [] : [output]));
  const premine = etching?.premine ?? null;
  if (premine !== null) runes.add(etchedHere, premine);
  const allocation = allocated({ count: outputs.length, spendable: () => spendable }, runes, edicts);
  const named = pointer ?? spendable[0] ?? null;
  if (named !== null) allocation.allocateRemaining(named);
  allocation.end();
  const rest = named !== null && spendable.includes(named) ? named : null;
  return { ...parted(allocation, runes, new Set(spendable)), rest };
}

function allocated(
  destinations: Destinations,
  runes: KeyedRunes,
  edicts: readonly (RuneAmount & { readonly output: number })[],
): Allocation {
  const allocation = new Allocation(destinations);
  allocation.begin(runes.amounts);
  for (const edict of edicts) {
    const key = runes.keyOf(edict.id);
    if (key !== undefined) allocation.edict(key, edict);
  }
  return allocation;
}

/**
 * Amounts that outputs get, and burned amounts. Amounts are burned in unspendable outputs, or if no output gets them.
 */
function parted(
  allocation: Allocation,
  runes: KeyedRunes,
  spendable: ReadonlySet<number>,
): Pick<RuneFlow, 'given' | 'burned'> {
  const given: (RuneAmount & { readonly output: number })[] = [];
  const burned = new RuneAmounts();
  for (let place = 0; place < allocation.size; place++) {
    const output = allocation.outputAt(place);
    const [key, amount] = [allocation.keyAt(place), allocation.amountAt(place)];
    if (spendable.has(output)) given.push({ id: runes.idOf(key), amount, output });
    else burned.add(key, amount);
  }
  const { unallocated } = allocation;
  for (let place = 0; place < unallocated.size; place++)
    burned.add(unallocated.keyAt(place), unallocated.amountAt(place));
  return { given, burned: runes.named(burned) };
}

/** Runes with keys that are valid only here, in the order in which the runes appear. */
class KeyedRunes {
  readonly amounts = new RuneAmounts();
  readonly #ids: RuneId[] = [];
  readonly #keys = new Map<string, number>();

  constructor(held: readonly RuneAmount[]) {
    for (const { id, amount } of held) this.add(id, amount);
  }

  add(id: RuneId, amount: U128): void {
    const name = formatRuneId(id);
    const key = this.#keys.get(name) ?? this.#ids.push(id) - 1;
    this.#keys.set(name, key);
    this.amounts.add(key, amount);
  }

  keyOf(id: RuneId): number | undefined {
    return this.#keys.get(formatRuneId(id));
  }

  idOf(key: number): RuneId {
    return this.#ids[key]!;
  }

  all(): RuneAmount[] {
    return this.named(this.amounts);
  }

  /** Amounts by rune id. Amounts of 0 are left out. */
  named(amounts: RuneAmounts): RuneAmount[] {
    const all = Array.from({ length: amounts.size }, (_, place) => ({
      id: this.idOf(amounts.keyAt(place)),
      amount: amounts.amountAt(place),
    }));
    return all.filter(({ amount }) => amount !== 0);
  }
}
