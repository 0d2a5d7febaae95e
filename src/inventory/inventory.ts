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

/**
 * Maximum number of outputs that are added to the inventory. Each refresh of the stock requests every output from the
 * node.
 */
const outputsMax = 2_000;
/**
 * Maximum number of outputs to read. An order replaces one output by up to two outputs, which are stored even if the
 * inventory is full.
 */
const readMax = 2 * outputsMax;
/**
 * Maximum number of ranges of an output. An output with more ranges consists of dust from thousands of coins, so no
 * order can use it.
 */
const rangesMax = 1_000;
/** How long facts from the node and the index are used, in ms. Reservations of orders are read each time. */
const freshMs = 10_000;

export interface InventoryParts {
  /** Connections to the database. Commands that change the inventory need the role that owns the tables. */
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  /** Returns the current definitions. */
  readonly satributes: () => SatributeBook;
  readonly utxos: UtxoReader;
  readonly node: NodeRpc | null;
  /**
   * Descriptor of the operator's outputs that are not in the wallet. Undefined if there are no such outputs. Orders
   * never use these outputs.
   */
  readonly descriptor: string | undefined;
  /**
   * Addresses of the wallet's branch for the inventory, in the order of their indices. They never change. The list is
   * empty if there is no wallet.
   */
  readonly addresses: () => Promise<readonly Owner[]>;
  readonly fees: BaseFees;
  /** How long facts from the node and the index are used, in ms. If absent, they are used for ten seconds. */
  readonly freshMs?: number;
}

/** A sat that can be sold, and its output. */
interface SoldSat extends OrderablePlace {
  readonly output: InventoryOutput;
}

/** A sat that an order can have now. */
export interface OfferedSat extends SoldSat {
  /** Index of the key in the wallet's branch for the inventory. */
  readonly keyIndex: number;
}

export interface Offer {
  /** The offered sats. They are all in different outputs. */
  readonly sats: readonly OfferedSat[];
  /**
   * All valid outputs from which a sat of the type can be sold with the usual postage. They include outputs that orders
   * have reserved.
   */
  readonly ofType: readonly Outpoint[];
}

/** An output of the inventory, with its orderable sats. */
export interface ListedInventory {
  readonly output: InventoryOutput;
  /** The reason why the output cannot be ordered from now. Null if there is no such reason. */
  readonly problem: string | null;
  /** Number of sats of each type in the output. */
  readonly sats: Readonly<Partial<Record<InventoryType, number>>>;
  readonly held: HeldTypes;
}

/** Result of a scan for an output of the operator. */
export interface ScannedOutput {
  readonly outpoint: string;
  readonly result: 'added' | 'kept' | 'removed' | 'passed over';
  /** Reason why the output was removed or not added. Null otherwise. */
  readonly reason: string | null;
}

/**
 * The operator's outputs with special sats that orders may use (docs/inventory.md). Only proven outputs are valid.
 * Proven outputs belong to the wallet, are unspent and still in the stored block, are old enough, and contain no
 * inscriptions and no runes.
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
   * The stock of each type, without outputs that orders have reserved. The outputs were proven at most ten seconds ago.
   * Throws the codes of NodeRpc.
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
   * Finds sats of a type that an order with this postage can have, and proves them now. Returns `count` sats, or all if
   * there are fewer. Several orders may be offered the same sats. The first order that reserves them gets them. Throws
   * the codes of NodeRpc.
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
    // begin at a random output, because if concurrent requests got the same sats, only one request could reserve them
    const first = stock.length === 0 ? 0 : randomInt(stock.length);
    const places: SoldSat[] = [];
    for (const { output, held } of [...stock.slice(first), ...stock.slice(0, first)]) {
      // for an unusual postage, each output takes milliseconds
      if (postage !== postageMost) await nextTurn();
      const place =
        postage === postageMost
          ? (held.get(type)?.place ?? null)
          : sellablePlace(output.ranges, type, { postage, fees, rules });
      if (place !== null) places.push({ ...place, output });
    }
    // sort by cost, so that a price request and its order get sats of equal cost if the stock does not change in
    // between
    const left = places.toSorted((a, b) => costRank(a, postage) - costRank(b, postage));
    const sats: OfferedSat[] = [];
    while (sats.length < count && left.length > 0)
      sats.push(...(await this.#proven(left.splice(0, count - sats.length), asker)));
    return { sats, ofType };
  }

  /** Returns those of the given sats whose outputs are valid now, with their keys. */
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

  /** The rules from the current definitions. */
  #rules(): TypeRules {
    const book = this.#parts.satributes();
    if (book !== this.#book) {
      this.#book = book;
      this.#rulesOfBook = new TypeRules(book);
    }
    return this.#rulesOfBook;
  }

  /** Whether the wallet has addresses whose outputs orders can have. */
  async hasAddresses(): Promise<boolean> {
    return (await this.#ownAddresses()).length > 0;
  }

  /** Valid outputs that no order has reserved. */
  async #stock(): Promise<readonly ListedInventory[]> {
    const listed = await this.#recentlyListed();
    const reserved = await reservedOutpoints(this.#parts.pool);
    return listed.filter(({ output, problem }) => problem === null && !reserved.has(nameOf(output)));
  }

  /**
   * All outputs, with data that is at most ten seconds old. While a read is running, all callers get the result of this
   * read.
   */
  #recentlyListed(): Promise<readonly ListedInventory[]> {
    const now = performance.now();
    const isFresh = this.#isListing || now - this.#madeAt < (this.#parts.freshMs ?? freshMs);
    if (this.#listed !== null && isFresh) return this.#listed;
    this.#madeAt = now;
    this.#isListing = true;
    // all requests share one read until it ends
    const listed = this.#all(ownAsker('inventory')).finally(() => {
      this.#isListing = false;
    });
    this.#listed = listed;
    listed.catch(() => {
      // after a failure, the next request reads again
      if (this.#listed === listed) this.#listed = null;
    });
    return listed;
  }

  /** All outputs. Outputs that cannot be ordered from now have the reason. */
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

  /** The reasons why these outputs are not valid now. The reason is null for a valid output. */
  async #problems(outputs: readonly InventoryOutput[], asker: Asker): Promise<(string | null)[]> {
    const { node, utxos } = this.#parts;
    const isOwned = await this.#ownsAny();
    if (node === null || !isOwned) {
      const problem = isOwned
        ? 'there is no node to ask'
        : `${nothingOwn}, so no output belongs to the operator`;
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
          ? 'is in another block since a reorganisation; `satscribe inventory scan` examines it again'
          : whyNotSpendable(utxo, holdingsOf.get(utxo)))
      );
    });
  }

  /**
   * Adds an output. Throws `inventory_output_refused` with the reason. Throws `inventory_descriptor_missing` if there
   * is neither a wallet nor a descriptor.
   */
  async add(outpoint: Outpoint, asker: Asker): Promise<ListedInventory> {
    const { node, utxos, fees } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const name = nameOf(outpoint);
    const [utxo = null] = await utxos.outputs([outpoint]);
    if (utxo === null)
      throw refused(
        name,
        'is not an unspent output of the chain, because it is spent, unconfirmed, or unknown',
      );
    if (!own.has(utxo.script)) throw refused(name, notOwn);
    const [found] = await this.#judge([utxo], asker);
    if (found === undefined || 'reason' in found) throw refused(name, found?.reason ?? 'is not known');
    await this.#put([found.output]);
    const problem = whyNotOwn(own, await this.#ownAddresses(), utxo);
    return listedOf(found.output, problem, heldTypesOf(found.output.ranges, fees, this.#rules()));
  }

  /**
   * Examines all outputs of the operator. Adds outputs with sats that can be ordered, and removes outputs that are
   * missing.
   */
  async scan(asker: Asker): Promise<ScannedOutput[]> {
    const { pool, node, utxos } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const { utxos: unspent } = await utxos.unspent(own.owners, asker);
    const judged = await this.#judge(unspent, asker);
    const added = await this.#put(judged.flatMap((found) => ('reason' in found ? [] : [found.output])));
    const scanned = judged.map((found): ScannedOutput => {
      const outpoint = nameOf(found.output);
      if ('reason' in found) return { outpoint, result: 'passed over', reason: found.reason };
      // the node returns an output twice if the descriptor contains an address of the wallet
      return { outpoint, result: added.delete(outpoint) ? 'added' : 'kept', reason: null };
    });
    const unspentNames = new Set(scanned.map(({ outpoint }) => outpoint));
    const listed = await inventoryOutputs(pool, readMax);
    const gone = listed.filter((output) => !unspentNames.has(nameOf(output)));
    await removeInventoryOutputs(pool, gone);
    const reason = 'it is spent, or no longer belongs to the operator';
    const removed = gone.map((output): ScannedOutput => {
      return { outpoint: nameOf(output), result: 'removed', reason };
    });
    return [...scanned, ...removed];
  }

  /** Removes an output from the inventory. Nothing on the chain changes. Throws `inventory_output_unknown`. */
  async remove(outpoint: Outpoint): Promise<void> {
    if (await removeInventoryOutput(this.#parts.pool, outpoint)) return;
    throw new AppError('inventory_output_unknown', `${nameOf(outpoint)} is not in the inventory.`);
  }

  /** The outputs in the form of the inventory. Refused outputs have the reason. */
  async #judge(
    utxos: readonly Utxo[],
    asker: Asker,
  ): Promise<({ output: InventoryOutput } | { output: Utxo; reason: string })[]> {
    const { utxos: reader } = this.#parts;
    const holdings = await reader.holdings(utxos, asker);
    const faults = utxos.map((utxo, place) => whyNotSpendable(utxo, holdings[place]));
    const good = utxos.filter((_, place) => faults[place] === null);
    // use only types of the inventory, because early blocks have tens of thousands of palindromes
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

  /**
   * Adds or updates outputs in their order, and returns the names of the added outputs. Throws
   * `inventory_output_refused` for the first output that does not fit. The outputs before it are then stored.
   */
  async #put(outputs: readonly InventoryOutput[]): Promise<Set<string>> {
    const { pool } = this.#parts;
    const there = new Set((await inventoryOutputs(pool, readMax)).map(nameOf));
    const fitting = new Map<string, InventoryOutput>();
    for (const output of outputs) {
      const name = nameOf(output);
      if (!there.has(name) && there.size >= outputsMax) {
        await putInventoryOutputs(pool, [...fitting.values()]);
        throw refused(name, `does not fit, because the inventory already has ${outputsMax} outputs`);
      }
      there.add(name);
      fitting.set(name, output);
    }
    return putInventoryOutputs(pool, [...fitting.values()]);
  }

  /** Throws `inventory_descriptor_missing` if there is neither a wallet nor a descriptor. */
  async #ownOrThrow(node: NodeRpc | null): Promise<OwnScripts> {
    requireOwn(await this.#ownsAny());
    if (node === null) throw new AppError('no_node', 'The inventory needs a node.');
    return this.#ownScripts(node);
  }

  async #ownsAny(): Promise<boolean> {
    return this.#parts.descriptor !== undefined || (await this.#ownAddresses()).length > 0;
  }

  /**
   * The wallet's addresses. Deriving them takes half a second of work, so all callers share the result. If there is no
   * wallet yet, the next call reads again.
   */
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
 * Ranks a sat by the cost of its reveal without the file. The rank depends first on the number of outputs that return
 * to the inventory, and then on the bytes of the pointer to the sat. Sats of the same rank cost the same.
 */
function costRank({ output, place }: SoldSat, postage: number): number {
  const outputs = [place, output.value - place - postage].filter((sats) => sats > 0).length;
  return outputs * pointerBytesMax + Math.ceil(Math.log2(place + 1) / 8);
}

/** A number that is larger than the number of bytes of any pointer, because a 64-bit number takes eight bytes. */
const pointerBytesMax = 9;

const nothingOwn = 'There is no wallet, and INVENTORY_DESCRIPTOR is not set';

/** Throws `inventory_descriptor_missing` if there is neither a wallet nor a descriptor. */
export function requireOwn(isOwned: boolean): void {
  if (!isOwned) throw new AppError('inventory_descriptor_missing', `${nothingOwn}.`);
}

/** The reason why an output does not belong to the operator, or why orders cannot use it. Null if orders can use it. */
function whyNotOwn(
  own: OwnScripts,
  addresses: readonly Owner[],
  { script }: Pick<Utxo, 'script'>,
): string | null {
  if (!own.has(script)) return notOwn;
  return addresses.some((address) => Buffer.compare(address.script, script) === 0)
    ? null
    : 'is not at an address of the wallet (`satscribe inventory address`), so orders cannot use it';
}

const notOwn =
  'does not belong to the operator, because neither the wallet nor INVENTORY_DESCRIPTOR has its address';

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
