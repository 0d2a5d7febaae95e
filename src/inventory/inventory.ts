import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ownAsker } from '#kernel/own-asker.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { isFindable } from '#kernel/satributes/definitions.ts';
import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatRange } from '#kernel/satributes/satribute.ts';
import type { HeldSats } from '#utxos/held-by-outputs.ts';
import { outpointText, type Utxo } from '#utxos/utxo.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';
import { whyNotSpendable } from '#utxos/why-not-spendable.ts';
import {
  type InventoryOutput,
  inventoryOutputs,
  putInventoryOutput,
  removeInventoryOutput,
} from './inventory.store.ts';
import { type InventoryStanding, standingOf } from './inventory-standing.ts';
import { type BaseFees, type InventoryType, inventoryTypes, satributeOf } from './inventory-types.ts';
import { type OwnScripts, ownScriptsOf } from './own-scripts.ts';

/** Outputs of the inventory: each is asked of the node whenever the standing is made. */
const outputsMax = 2_000;
/** Ranges of one output. More is dust of thousands of coins, which no order can be served from. */
const rangesMax = 1_000;
/** A standing is as old as this at most: a spend by an order is known to whoever makes it. */
const freshMs = 10_000;

export interface InventoryParts {
  /** In commands that change the inventory, of the owner of the tables. */
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  readonly utxos: UtxoReader;
  readonly node: NodeRpc | null;
  /** What is the operator's own; undefined: nothing is. */
  readonly descriptor: string | undefined;
  readonly fees: BaseFees;
}

/** An output of the inventory, with what can be ordered from it. */
export interface ListedInventory {
  readonly output: InventoryOutput;
  /** Why it does not count now; null: it does. */
  readonly problem: string | null;
  /** Sats of each type that it holds some of. */
  readonly sats: Readonly<Partial<Record<InventoryType, number>>>;
}

/** What a scan did with an output of the operator's. */
export interface ScannedOutput {
  readonly outpoint: string;
  readonly result: 'added' | 'kept' | 'removed' | 'passed over';
  /** Of one that was removed or passed over. */
  readonly reason: string | null;
}

/**
 * The operator's outputs with special sats that orders may use (docs/inventory.md). It counts what is proven now:
 * own, unspent in the block that is noted, of age, and free of inscriptions and runes.
 */
export class Inventory {
  readonly #parts: InventoryParts;
  #own: Promise<OwnScripts> | null = null;
  #standing: Promise<InventoryStanding> | null = null;
  #madeAt = 0;

  constructor(parts: InventoryParts) {
    this.#parts = parts;
  }

  /** What can be ordered of each type, at most ten seconds old. Throws the codes of NodeRpc. */
  standing(): Promise<InventoryStanding> {
    const now = performance.now();
    if (this.#standing !== null && now - this.#madeAt < freshMs) return this.#standing;
    this.#madeAt = now;
    // for all who ask meanwhile
    const standing = this.list(ownAsker('inventory')).then((listed) => {
      const { fees, network } = this.#parts;
      const stock = listed.filter(({ problem }) => problem === null).map(({ output }) => output);
      return standingOf(stock, fees, network);
    });
    this.#standing = standing;
    standing.catch(() => {
      // the next one asks again
      if (this.#standing === standing) this.#standing = null;
    });
    return standing;
  }

  /** All outputs, and which of them count now. */
  async list(asker: Asker): Promise<ListedInventory[]> {
    const { pool, node, descriptor, utxos, network } = this.#parts;
    const outputs = await inventoryOutputs(pool, outputsMax);
    if (outputs.length === 0) return [];
    const missing =
      descriptor === undefined
        ? 'INVENTORY_DESCRIPTOR is not set: nothing is the operator’s own'
        : 'there is no node to ask';
    if (node === null || descriptor === undefined)
      return outputs.map((output) => ({ output, problem: missing, sats: satsOf(output.ranges, network) }));
    const own = await this.#ownScripts(node, descriptor);
    const found = await utxos.outputs(outputs);
    const there = found.filter((utxo) => utxo !== null);
    const holdings = await utxos.holdings(there, asker);
    const holdingsOf = new Map(there.map((utxo, place) => [utxo, holdings[place]]));
    return outputs.map((output, place) => {
      const utxo = found[place] ?? null;
      const problem =
        utxo === null
          ? 'is not an unspent output of the chain'
          : !own.has(utxo.script)
            ? notOwn
            : utxo.blockHash !== output.blockHash
              ? 'is in another block since a reorganisation: `satscribe inventory scan` looks at it again'
              : whyNotSpendable(utxo, holdingsOf.get(utxo));
      return { output, problem, sats: satsOf(output.ranges, network) };
    });
  }

  /** Adds an output. Throws `inventory_output_refused` with the reason, and `inventory_descriptor_missing`. */
  async add(outpoint: Outpoint, asker: Asker): Promise<ListedInventory> {
    const { node, utxos, network } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const name = outpointText(displayHash(outpoint.txid), outpoint.vout);
    const [utxo = null] = await utxos.outputs([outpoint]);
    if (utxo === null)
      throw refused(name, 'is not an unspent output of the chain: it is spent, unconfirmed, or none');
    if (!own.has(utxo.script)) throw refused(name, notOwn);
    const [found] = await this.#judge([utxo], asker);
    if (found === undefined || 'reason' in found) throw refused(name, found?.reason ?? 'is not known');
    await this.#put(found.output);
    return { output: found.output, problem: null, sats: satsOf(found.output.ranges, network) };
  }

  /** Looks at all outputs of the operator's: adds those that can be ordered from, and removes those that are gone. */
  async scan(asker: Asker): Promise<ScannedOutput[]> {
    const { pool, node, utxos } = this.#parts;
    const own = await this.#ownOrThrow(node);
    const { utxos: unspent } = await utxos.unspent(own.owners, asker);
    const scanned: ScannedOutput[] = [];
    const kept = new Set<string>();
    for (const found of await this.#judge(unspent, asker)) {
      const outpoint = nameOf(found.output);
      kept.add(outpoint);
      if ('reason' in found) scanned.push({ outpoint, result: 'passed over', reason: found.reason });
      else {
        const isNew = await this.#put(found.output);
        scanned.push({ outpoint, result: isNew ? 'added' : 'kept', reason: null });
      }
    }
    for (const output of await inventoryOutputs(pool, outputsMax)) {
      const outpoint = nameOf(output);
      if (kept.has(outpoint)) continue;
      await removeInventoryOutput(pool, output);
      scanned.push({ outpoint, result: 'removed', reason: 'it is spent, or not the operator’s any more' });
    }
    return scanned;
  }

  /** Throws `inventory_output_unknown`. The output itself stays where it is. */
  async remove(outpoint: Outpoint): Promise<void> {
    if (await removeInventoryOutput(this.#parts.pool, outpoint)) return;
    const name = outpointText(displayHash(outpoint.txid), outpoint.vout);
    throw new AppError('inventory_output_unknown', `${name} is not in the inventory.`);
  }

  /** The outputs as the inventory notes them, or why it must not. */
  async #judge(
    utxos: readonly Utxo[],
    asker: Asker,
  ): Promise<({ output: InventoryOutput } | { output: Utxo; reason: string })[]> {
    const { utxos: reader, network } = this.#parts;
    const holdings = await reader.holdings(utxos, asker);
    const faults = utxos.map((utxo, place) => whyNotSpendable(utxo, holdings[place]));
    const good = utxos.filter((_, place) => faults[place] === null);
    // only what can be in the inventory: early blocks have tens of thousands of palindromes
    const satributes = inventoryTypes.flatMap((type) => {
      const satribute = satributeOf.get(type);
      return satribute !== undefined && isFindable(satribute, network) ? [satribute] : [];
    });
    const sats = await reader.sats(good, asker, satributes);
    const satsOfGood = new Map(good.map((utxo, place) => [utxo, sats[place]]));
    return utxos.map((output, place) => {
      const reason = faults[place] ?? whyNoStock(satsOfGood.get(output));
      if (reason !== null) return { output, reason };
      const held = satsOfGood.get(output);
      const ranges = held?.state === 'known' ? held.ranges : [];
      return { output: { ...output, ranges, addedAt: new Date() } };
    });
  }

  async #put(output: InventoryOutput): Promise<boolean> {
    const { pool } = this.#parts;
    const others = await inventoryOutputs(pool, outputsMax);
    const isThere = others.some((other) => nameOf(other) === nameOf(output));
    if (!isThere && others.length >= outputsMax)
      throw refused(nameOf(output), `does not fit: the inventory has ${outputsMax} outputs already`);
    return putInventoryOutput(pool, output);
  }

  async #ownOrThrow(node: NodeRpc | null): Promise<OwnScripts> {
    const descriptor = requireDescriptor(this.#parts.descriptor);
    if (node === null) throw new AppError('no_node', 'The inventory needs a node.');
    return this.#ownScripts(node, descriptor);
  }

  #ownScripts(node: NodeRpc, descriptor: string): Promise<OwnScripts> {
    const own = this.#own ?? ownScriptsOf(node, descriptor, this.#parts.network);
    this.#own = own;
    own.catch(() => {
      this.#own = null;
    });
    return own;
  }
}

/** Throws `inventory_descriptor_missing`. */
export function requireDescriptor(descriptor: string | undefined): string {
  if (descriptor !== undefined) return descriptor;
  throw new AppError('inventory_descriptor_missing', 'INVENTORY_DESCRIPTOR is not set.');
}

const notOwn = 'is not the operator’s: INVENTORY_DESCRIPTOR does not have its address';

function whyNoStock(sats: HeldSats | undefined): string | null {
  if (sats === undefined) return 'is not known';
  if (sats.state === 'unknown') return `holds sats that are not known: ${sats.reason}`;
  if (sats.special.counts.size === 0) return 'holds no sats of the types of the inventory';
  return sats.ranges.length > rangesMax ? `has more than ${rangesMax} ranges of sats` : null;
}

const refused = (name: string, why: string): AppError =>
  new AppError('inventory_output_refused', `${name} ${why}.`);

const nameOf = ({ txid, vout }: Outpoint): string => outpointText(displayHash(txid), vout);

function satsOf(
  ranges: readonly SatRange[],
  network: NetworkName,
): Readonly<Partial<Record<InventoryType, number>>> {
  return Object.fromEntries(
    inventoryTypes.flatMap((type) => {
      const satribute = satributeOf.get(type);
      if (satribute === undefined || !isFindable(satribute, network)) return [];
      const count = ranges.reduce((sum, range) => sum + countWithin(satribute.rule, range), 0);
      return count === 0 ? [] : [[type, count]];
    }),
  );
}
