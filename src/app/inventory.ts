import { Inventory, type InventoryParts } from '#inventory/inventory.ts';
import { defaultBaseFees, parseBaseFees } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ownAsker } from '#kernel/own-asker.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { CommandContext } from './command-context.ts';
import { networkOf, openDatabase } from './database.ts';
import { linkNode } from './node.ts';
import { openSatTracer } from './sat-tracer.ts';
import { openUtxos } from './utxos.ts';

/** The inventory by the settings. */
export function openInventory(
  { config }: CommandContext,
  parts: Omit<InventoryParts, 'descriptor' | 'fees'>,
): Inventory {
  const { inventoryDescriptor: descriptor, inventoryBaseFees } = config;
  const fees = inventoryBaseFees === undefined ? null : parseBaseFees(inventoryBaseFees);
  return new Inventory({ ...parts, descriptor, fees: fees ?? defaultBaseFees });
}

/**
 * Works on the inventory of the database and the node of the settings, beside a service or without one. Throws
 * `nothing_indexed`, and `node_unreachable` at once: a command does not wait for a node, except for one that starts.
 */
export async function withInventory(
  context: CommandContext,
  work: (inventory: Inventory, asker: Asker) => Promise<void>,
): Promise<void> {
  const { lifecycle, logger } = context;
  const database = await openDatabase(context, 'existing');
  const network = await networkOf(database);
  if (network === null)
    throw new AppError('nothing_indexed', 'There is nothing to look at: no block is indexed.');
  const missed = Promise.withResolvers<never>();
  const link = linkNode(context, {
    network,
    onProblem: (problem) => {
      if (problem !== null && problem.code !== 'node_warming_up') missed.reject(problem);
    },
  });
  await Promise.race([link.connected, missed.promise]);
  const pool = createPool(database.url, {
    applicationName: 'satscribe inventory',
    max: 1,
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('inventory connection', () => pool.end());
  const tracer = openSatTracer(database.readers, link.rpc, link.blocks(network));
  const utxos = openUtxos(context, { pool: database.readers, network, node: link.rpc, tracer });
  const inventory = openInventory(context, { pool, network, node: link.rpc, utxos });
  await lifecycle.run('inventory', (signal) => work(inventory, ownAsker('inventory', signal)));
}
