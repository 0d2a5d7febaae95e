import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '#test/builders/random.ts';
import type { ChaosDatabase } from '#test/chaos/processes/chaos-database.ts';
import type { Supervisor } from '#test/chaos/processes/supervisor.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import type { NodeDoor } from './node-door.ts';

export interface ServiceFaultParts {
  readonly random: Random;
  readonly node: Bitcoind;
  readonly database: ChaosDatabase;
  /** Name of the database of the service. */
  readonly name: string;
  /** The process that indexes, answers requests, and sends webhooks. */
  readonly shop: Supervisor;
  /** Two processes. One processes orders, and the other takes over. */
  readonly makers: readonly Supervisor[];
}

export interface OrderFaultParts extends ServiceFaultParts {
  readonly door: NodeDoor;
}

const cutMs = 700;

/** Faults while customers order and pay. Each function settles when the part works again. */
export const serviceFaults = {
  none: async () => undefined,
  'shop-kill': async ({ shop, random }) => {
    await delay(random.below(800));
    await shop.kill();
  },
  'maker-kill': async ({ makers, random }) => {
    await delay(random.below(800));
    await makers[random.below(makers.length)]?.kill();
  },
  'all-killed': async ({ shop, makers, random }) => {
    await delay(random.below(1500));
    await Promise.all([shop, ...makers].map((each) => each.kill()));
  },
  'database-crash': async ({ database, random }) => {
    await delay(random.below(800));
    await database.crash(random.below(2) === 0 ? 'SIGQUIT' : 'SIGKILL', random.below(800));
  },
  'database-terminate': async ({ database, name, random }) => {
    await delay(random.below(800));
    await database.terminate(name);
  },
  'database-stall': async ({ database, random }) => {
    database.proxy.set('stall');
    await delay(random.below(1500));
    database.proxy.set('pass');
    if (random.unit() < 0.5) database.proxy.cut();
  },
  'node-forgets': async ({ node, random }) => {
    await node.stop();
    await delay(random.below(800));
    await node.start();
  },
} as const satisfies Record<string, (parts: ServiceFaultParts) => Promise<void>>;
export type ServiceFault = keyof typeof serviceFaults;
export const serviceFaultNames = Object.keys(serviceFaults) as ServiceFault[];

/** Faults of a service, and one fault of a service that sends transactions. */
export const orderFaults = {
  ...serviceFaults,
  // the node has the transaction, but the service cannot store that it was sent
  'database-cut-after-broadcast': async ({ database, door }) => {
    door.afterNext(async () => {
      database.proxy.set('refuse');
      setTimeout(() => database.proxy.set('pass'), cutMs);
    });
  },
} as const satisfies Record<string, (parts: OrderFaultParts) => Promise<void>>;
export type OrderFault = keyof typeof orderFaults;

export const orderFaultNames = Object.keys(orderFaults) as OrderFault[];
