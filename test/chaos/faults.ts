import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '#test/builders/random.ts';
import type { ChaosDatabase } from './processes/chaos-database.ts';
import type { ChaosNode } from './processes/chaos-node.ts';
import type { Supervisor } from './processes/supervisor.ts';
import type { TcpProxy } from './processes/tcp-proxy.ts';

export interface Parts {
  readonly random: Random;
  readonly node: ChaosNode;
  readonly database: ChaosDatabase;
  readonly indexer: Supervisor;
  /** Name of the database that the indexer writes. */
  readonly name: string;
}

/** Faults of the parts while blocks arrive. Each function settles when the part works again. */
export const faults = {
  none: async () => undefined,
  'indexer-kill': async ({ indexer, random }) => {
    await delay(random.below(800));
    await indexer.kill();
  },
  'indexer-restart': async ({ indexer, random }) => {
    await delay(random.below(500));
    await indexer.restart();
  },
  'database-restart': async ({ database, random }) => {
    await delay(random.below(500));
    await database.restart(random.below(1000));
  },
  'database-crash': async ({ database, random }) => {
    await delay(random.below(500));
    await database.crash('SIGQUIT', random.below(800));
  },
  'database-kill': async ({ database, random }) => {
    await delay(random.below(500));
    await database.crash('SIGKILL', random.below(800));
  },
  'database-terminate': async ({ database, name, random }) => {
    for (let count = 1 + random.below(3); count > 0; count--) {
      await delay(random.below(300));
      await database.terminate(name);
    }
  },
  'database-cut': ({ database, random }) => cut(database.proxy, 'refuse', random),
  'database-stall': ({ database, random }) => cut(database.proxy, 'stall', random),
  'node-restart': async ({ node, random }) => {
    await delay(random.below(500));
    await node.restart('stop', random.below(800));
  },
  'node-kill': async ({ node, random }) => {
    await delay(random.below(500));
    await node.restart('kill', random.below(800));
  },
  'node-cut': ({ node, random }) => cut(node.rpcProxy, 'refuse', random),
  'node-stall': ({ node, random }) => cut(node.rpcProxy, 'stall', random),
  'zmq-cut': ({ node, random }) => cut(node.zmqProxy, 'refuse', random),
} as const satisfies Record<string, (parts: Parts) => Promise<void>>;
export type Fault = keyof typeof faults;

export const faultNames = Object.keys(faults) as Fault[];

/** Faults during which the node must run, because they end only with new blocks. */
export const nodeFaults: ReadonlySet<Fault> = new Set(['node-restart', 'node-kill']);

async function cut(proxy: TcpProxy, how: 'refuse' | 'stall', random: Random): Promise<void> {
  await delay(random.below(400));
  proxy.set(how);
  await delay(100 + random.below(1500));
  proxy.set('pass');
  // a stalled connection may resume, or may be broken
  if (random.unit() < 0.5) proxy.cut();
}
