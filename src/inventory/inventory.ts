import { randomInt } from 'node:crypto';
import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { type Asker, ownAsker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { HeldSats } from '#utxos/held-by-outputs.ts';
import { type Owner, outpointText, type Utxo } from '#utxos/utxo.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';
import { whyNotSpendable } from '#utxos/why-not-spendable.ts';
import { HeldMemory } from './held-memory.ts';
import {
  type InventoryOutput,
  inventoryOutputs,
  putInventoryOutputs,
  removeInventoryOutput,
  removeInventoryOutputs,
  reservedOutpoints,
} from './inventory.store.ts';
import {
  type HeldTypes,
  heldTypesOf,
  type InventoryStanding,
  type OrderablePlace,
  postageMost,
  sellablePlace,
  standingOf,
} from './inventory-standing.ts';
import type { BaseFees, InventoryType } from './inventory-types.ts';
import { type OwnScripts, ownScriptsOf, scriptsOf } from './own-scripts.ts';
import { TypeRules } from './type-rules.ts';

/** Maximum outputs added to the inventory: each is requested from the node whenever the standing is made. */
const outputsMax = 2_000;
/**
 * Maximum outputs that are read: an order leaves two in place of one, and rests of a full inventory are not dropped.
 */
const readMax = 2 * outputsMax;
/**
 * Maximum ranges of one output. An output with more is dust of thousands of coins, from which no order can be served.
 */
const rangesMax = 1_000;
/** Maximum age of facts from node and index. The outputs of orders are read each time. */
const freshMs = 10_000;

export interface InventoryParts {
  /** Pool; in commands that change the inventory, that of the owner of the tables. */
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  /** The definitions in force now. */
  readonly satributes: () => SatributeBook;
  readonly utxos: UtxoReader;
  readonly node: NodeRpc | null;
  /** Descriptor of the operator's own outputs beside the wallet's; undefined: no others. Orders use none of them. */
  readonly descriptor: string | undefined;
  /**
   * Addresses of the wallet's branch for the inventory, by their indices; empty: there is no wallet. They never change.
   */
  readonly addresses: () => Promise<readonly Owner[]>;
  readonly fees: BaseFees;
  /** How long facts from node and index are kept; absent: ten seconds. */
  readonly freshMs?: number;
}

/** A sat that can be sold, and its output. */
interface SoldSat extends OrderablePlace {
  readonly output: InventoryOutput;
}

/** A sat that an order can have now. */
export interface OfferedSat extends SoldSat {
  /** Key of the wallet's branch for the inventory. */
  readonly keyIndex: number;
}

export interface Offer {
  /** Sats of different outputs. */
  readonly sats: readonly OfferedSat[];
  /** Outputs that count and can be sold from with the usual postage, whether orders have them or not. */
  readonly ofType: readonly Outpoint[];
}

/** An output of the inventory, with its orderable sats. */
export interface ListedInventory {
  readonly output: InventoryOutput;
  /** Why it does not count now; null: it does. */
  readonly problem: string | null;
  /** Sats of each type that it holds some of. */
  readonly sats: Readonly<Partial<Record<InventoryType, number>>>;
  readonly held: HeldTypes;
}

/** Result of a scan for an output of the operator's. */
export interface ScannedOutput {
  readonly outpoint: string;
  readonly result: 'added' | 'kept' | 'removed' | 'passed over';
  /** Reason why it was removed or skipped; otherwise null. */
  readonly reason: string | null;
}

/**
 * The operator's outputs with special sats that orders may use (docs/inventory.md). It counts only proven ones: the
 * wallet's, unspent in the stored block, old enough, and free of inscriptions and runes.
 */
export class Inventory {
  readonly #parts: InventoryParts;
  readonly #memory: HeldMemory;
  #book: SatributeBook;
  #rulesOfBook: TypeRules;
  #own: Promise<OwnScripts> | null = null;
  #addresses: Promise<readonly Owner[]> | null = null;
  #listed: Promise<readonly ListedInventory[]> | null = null;
  #isListing = false;
  #madeAt = 0;

  constructor(parts: InventoryParts) {
    this.#parts = parts;
    this.#memory = new HeldMemory(parts.fees);
    this.#book = parts.satributes();
    this.#rulesOfBook = new TypeRules(this.#book);
  }

  /**
   * The orderable sats of each type: proven at most ten seconds ago, without those of orders. Throws the codes of
   * NodeRpc.
   */
  async standing(): Promise<InventoryStanding> {
    return standingOf(
      (await this.#stock()).map(({ held }) => held),
      this.#parts.fees,
    );
  }

  /** Price of an inscription on a sat of a type, in sats. */
  baseFee(type: InventoryType): number {
    return this.#parts.fees[type];
  }

  /**
   * Sats of a type that an order can have with this postage, proven now: as many as it asks for, or all there are.
   * Others may be offered the same: the first to reserve them gets them. Throws the codes of NodeRpc.
   */
  async offer(
    type: InventoryType,
    { postage, count }: { readonly postage: number; readonly count: number },
    asker: Asker,
  ): Promise<Offer> {
    const { fees } = this.#parts;
    const rules = this.#rules();
    const counted = (await this.#recentlyListed()).filter(
      ({ problem, held }) => problem === null && held.has(type),
    );
    const sellable = counted.filter(({ held }) => (held.get(type)?.place ?? null) !== null);
    const ofType = sellable.map(({ output }) => output);
    const reserved = await reservedOutpoints(this.#parts.pool);
    const stock = counted.filter(({ output }) => !reserved.has(nameOf(output)));
    // concurrent requests each begin elsewhere, or all but one would lose theirs
    const first = stock.length === 0 ? 0 : randomInt(stock.length);
    const places: SoldSat[] = [];
    for (const { output, held } of [...stock.slice(first), ...stock.slice(0, first)]) {
      // another postage takes milliseconds for each output
      if (postage !== postageMost) await nextTurn();
      const place =
        postage === postageMost
          ? (held.get(type)?.place ?? null)
          : sellablePlace(output.ranges, type, { postage, fees, rules });
      if (place !== null) places.push({ ...place, output });
    }
    // a price and its order get sats of equal costs, as long as the stock is the same
    const left = places.toSorted((a, b) => costRank(a, postage) - costRank(b, postage));
    const sats: OfferedSat[] = [];
    while (sats.length < count && left.length > 0)
      sats.push(...(await this.#proven(left.splice(0, count - sats.length), asker)));
    return { sats, ofType };
  }

  /** The sats among these whose outputs count now, with their keys. */
  async #proven(places: readonly SoldSat[], asker: Asker): Promise<OfferedSat[]> {
    const problems = await this.#problems(
      places.map(({ output }) => output),
      asker,
    );
    const addresses = await this.#ownAddresses();
    return places.flatMap((sat, at): OfferedSat[] => {
      const keyIndex = addresses.findIndex(({ script }) => Buffer.compare(script, sat.output.script) === 0);
      return problems[at] === null && keyIndex !== -1 ? [{ ...sat, keyIndex }] : [];
    });
  }

  /** Rules by the definitions in force now. */
  #rules(): TypeRules {
    const book = this.#parts.satributes();
    if (book !== this.#book) {
      this.#book = book;
      this.#rulesOfBook = new TypeRules(book);
    }
    return this.#rulesOfBook;
  }

  /** Whether there are addresses whose outputs orders can have. */
  async hasAddresses(): Promise<boolean> {
    return (await this.#ownAddresses()).length > 0;
  }

  /** Outputs that count now and that no order has. */
  async #stock(): Promise<readonly ListedInventory[]> {
    const listed = await this.#recentlyListed();
    const reserved = await reservedOutpoints(this.#parts.pool);
    return listed.filter(({ output, problem }) => problem === null && !reserved.has(nameOf(output)));
  }

  /** All outputs, as they were at most ten seconds ago, or when the running read began. */
  #recentlyListed(): Promise<readonly ListedInventory[]> {
    const now = performance.now();
    const isFresh = this.#isListing || now - this.#madeAt < (this.#parts.freshMs ?? freshMs);
    if (this.#listed !== null && isFresh) return this.#listed;
    this.#madeAt = now;
    this.#isListing = true;
    // shared by all requests meanwhile
    const listed = this.#all(ownAsker('inventory')).finally(() => {
      this.#isListing = false;
    });
    this.#listed = listed;
    listed.catch(() => {
      // the next one asks again
      if (this.#listed === listed) this.#listed = null;
    });
    return listed;
  }

  /** All outputs, and which of them count now. */
  async list(asker: Asker): Promise<ListedInventory[]> {
    const [listed, reserved] = [await this.#all(asker), await reservedOutpoints(this.#parts.pool)];
    return listed.map((each) =>
      each.problem === null && reserved.has(nameOf(each.output))
        ? { ...each, problem: 'is reserved by an order' }
        : each,
    );
  }

  async #all(asker: Asker): Promise<ListedInventory[]> {
    const outputs = await inventoryOutputs(this.#parts.pool, readMax);
    if (outputs.length === 0) return [];
    const problems = await this.#problems(outputs, asker);
    const held = await this.#memory.of(outputs, this.#rules());
    return outputs.map((output, place) =>
      listedOf(output, problems[place] ?? null, held[place] ?? new Map<never, never>()),
    );
  }

  /** Why each of these does not count now; null: it does. */
  async #problems(outputs: readonly InventoryOutput[], asker: Asker): Promise<(string | null)[]> {
    const { node, utxos } = this.#parts;
    const isOwned = await this.#ownsAny();
    if (node === null || !isOwned) {
      const problem = isOwned ? 'there is no node to ask' : `${nothingOwn}: nothing is the operator’s own`;
      return outputs.map(() => problem);
    }
    const own = await this.#ownScripts(node);
    const addresses = await this.#ownAddresses();
    const found = await utxos.outputs(outputs);
    const there = found.filter((utxo) => utxo !== null);
    const holdings = await utxos.holdings(there, asker);
    const holdingsOf = new Map(there.map((utxo, place) => [utxo, holdings[place]]));
    return outputs.map((output, place) => {
      const utxo = found[place] ?? null;
      if (utxo === null) return 'is not an unspent output of the chain';
      const isMoved = utxo.blockHash !== output.blockHash;
      return (
        whyNotOwn(own, addresses, utxo) ??
        (isMoved
          ? 'is in another block since a reorganisation: `satscribe inventory scan` looks at it again'
          : whyNotSpendable(utxo, holdingsOf.get(utxo)))
      );
    });
  }

  /** Adds an output. Throws `inventory_output_refused` with the reason, and `inventory_descriptor_missing`. */
  async add(outpoint: Outpoint, asker: Asker): Promise<ListedInventory> {
    const { node, utxos, fees } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const name = nameOf(outpoint);
    const [utxo = null] = await utxos.outputs([outpoint]);
    if (utxo === null)
      throw refused(name, 'is not an unspent output of the chain: it is spent, unconfirmed, or unknown');
    if (!own.has(utxo.script)) throw refused(name, notOwn);
    const [found] = await this.#judge([utxo], asker);
    if (found === undefined || 'reason' in found) throw refused(name, found?.reason ?? 'is not known');
    await this.#put([found.output]);
    const problem = whyNotOwn(own, await this.#ownAddresses(), utxo);
    return listedOf(found.output, problem, heldTypesOf(found.output.ranges, fees, this.#rules()));
  }

  /** Examines all outputs of the operator's: adds those that can be ordered from, and removes missing ones. */
  async scan(asker: Asker): Promise<ScannedOutput[]> {
    const { pool, node, utxos } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const { utxos: unspent } = await utxos.unspent(own.owners, asker);
    const judged = await this.#judge(unspent, asker);
    const added = await this.#put(judged.flatMap((found) => ('reason' in found ? [] : [found.output])));
    const scanned = judged.map((found): ScannedOutput => {
      const outpoint = nameOf(found.output);
      if ('reason' in found) return { outpoint, result: 'passed over', reason: found.reason };
      // an output is listed twice if the descriptor has an address of the wallet
      return { outpoint, result: added.delete(outpoint) ? 'added' : 'kept', reason: null };
    });
    const unspentNames = new Set(scanned.map(({ outpoint }) => outpoint));
    const listed = await inventoryOutputs(pool, readMax);
    const gone = listed.filter((output) => !unspentNames.has(nameOf(output)));
    await removeInventoryOutputs(pool, gone);
    const reason = 'it is spent, or not the operator’s any more';
    const removed = gone.map((output): ScannedOutput => {
      return { outpoint: nameOf(output), result: 'removed', reason };
    });
    return [...scanned, ...removed];
  }

  /** Throws `inventory_output_unknown`. The output itself stays where it is. */
  async remove(outpoint: Outpoint): Promise<void> {
    if (await removeInventoryOutput(this.#parts.pool, outpoint)) return;
    throw new AppError('inventory_output_unknown', `${nameOf(outpoint)} is not in the inventory.`);
  }

  /** The outputs in the form of the inventory, or why it refuses them. */
  async #judge(
    utxos: readonly Utxo[],
    asker: Asker,
  ): Promise<({ output: InventoryOutput } | { output: Utxo; reason: string })[]> {
    const { utxos: reader } = this.#parts;
    const holdings = await reader.holdings(utxos, asker);
    const faults = utxos.map((utxo, place) => whyNotSpendable(utxo, holdings[place]));
    const good = utxos.filter((_, place) => faults[place] === null);
    // only types of the inventory: early blocks have tens of thousands of palindromes
    const sats = await reader.sats(good, asker, this.#rules().satributes);
    const satsOfGood = new Map(good.map((utxo, place) => [utxo, sats[place]]));
    return utxos.map((output, place) => {
      const reason = faults[place] ?? whyNoStock(satsOfGood.get(output));
      if (reason !== null) return { output, reason };
      const held = satsOfGood.get(output);
      const ranges = held?.state === 'known' ? held.ranges : [];
      return { output: { ...output, ranges, addedAt: new Date() } };
    });
  }

  /** Adds outputs, or updates them, in their order up to one that does not fit. Returns the names of the new ones. */
  async #put(outputs: readonly InventoryOutput[]): Promise<Set<string>> {
    const { pool } = this.#parts;
    const there = new Set((await inventoryOutputs(pool, readMax)).map(nameOf));
    const fitting = new Map<string, InventoryOutput>();
    for (const output of outputs) {
      const name = nameOf(output);
      if (!there.has(name) && there.size >= outputsMax) {
        await putInventoryOutputs(pool, [...fitting.values()]);
        throw refused(name, `does not fit: the inventory has ${outputsMax} outputs already`);
      }
      there.add(name);
      fitting.set(name, output);
    }
    return putInventoryOutputs(pool, [...fitting.values()]);
  }

  /** Throws `inventory_descriptor_missing`. */
  async #ownOrThrow(node: NodeRpc | null): Promise<OwnScripts> {
    requireOwn(await this.#ownsAny());
    if (node === null) throw new AppError('no_node', 'The inventory needs a node.');
    return this.#ownScripts(node);
  }

  async #ownsAny(): Promise<boolean> {
    return this.#parts.descriptor !== undefined || (await this.#ownAddresses()).length > 0;
  }

  /** Read until there is a wallet: its addresses take half a second of work, shared by all callers. */
  async #ownAddresses(): Promise<readonly Owner[]> {
    const asked = this.#addresses ?? this.#parts.addresses();
    this.#addresses = asked;
    const forget = (): void => {
      if (this.#addresses === asked) this.#addresses = null;
    };
    const found = await asked.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (found.length === 0) forget();
    return found;
  }

  async #ownScripts(node: NodeRpc): Promise<OwnScripts> {
    const { descriptor, network } = this.#parts;
    const addresses = await this.#ownAddresses();
    if (descriptor === undefined) return scriptsOf(addresses);
    const own = this.#own ?? ownScriptsOf(node, descriptor, network);
    this.#own = own;
    own.catch(() => {
      this.#own = null;
    });
    return scriptsOf([...addresses, ...(await own).owners]);
  }
}

/**
 * Ranks sats by the cost of a reveal beyond its file: the outputs that return to the inventory, then the bytes of the
 * pointer to the sat. Sats of one rank cost the same.
 */
function costRank({ output, place }: SoldSat, postage: number): number {
  const outputs = [place, output.value - place - postage].filter((sats) => sats > 0).length;
  return outputs * pointerBytesMax + Math.ceil(Math.log2(place + 1) / 8);
}

/** More than a number of 64 bits takes. */
const pointerBytesMax = 9;

const nothingOwn = 'There is no wallet, and INVENTORY_DESCRIPTOR is not set';

/** Throws `inventory_descriptor_missing`. */
export function requireOwn(isOwned: boolean): void {
  if (!isOwned) throw new AppError('inventory_descriptor_missing', `${nothingOwn}.`);
}

/** Why an output is not the operator's, or not one that orders can use; null: it is. */
function whyNotOwn(
  own: OwnScripts,
  addresses: readonly Owner[],
  { script }: Pick<Utxo, 'script'>,
): string | null {
  if (!own.has(script)) return notOwn;
  return addresses.some((address) => Buffer.compare(address.script, script) === 0)
    ? null
    : 'is not at an address of the wallet (`satscribe inventory address`), so orders cannot have it';
}

const notOwn = 'is not the operator’s: neither the wallet nor INVENTORY_DESCRIPTOR has its address';

function whyNoStock(sats: HeldSats | undefined): string | null {
  if (sats === undefined) return 'is not known';
  if (sats.state === 'unknown') return `holds unknown sats: ${sats.reason}`;
  if (sats.special.counts.size === 0) return 'holds no sats of the types of the inventory';
  return sats.ranges.length > rangesMax ? `has more than ${rangesMax} ranges of sats` : null;
}

const refused = (name: string, why: string): AppError =>
  new AppError('inventory_output_refused', `${name} ${why}.`);

const nameOf = ({ txid, vout }: Outpoint): string => outpointText(displayHash(txid), vout);

const listedOf = (output: InventoryOutput, problem: string | null, held: HeldTypes): ListedInventory => ({
  output,
  problem,
  sats: Object.fromEntries([...held].map(([type, { amount }]) => [type, amount])),
  held,
});
