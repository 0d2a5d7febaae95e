import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { failpoints } from '#kernel/failpoint.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { freePort } from '#test/support/free-port.ts';
import { ChaosDatabase } from './chaos-database.ts';
import { ChaosNode } from './chaos-node.ts';
import { EventReader } from './event-reader.ts';
import { type Fault, faultNames, faults, nodeFaults, type Parts } from './faults.ts';
import { compareWithOrd } from './ord-comparison.ts';
import { RandomBlocks } from './random-blocks.ts';
import { type Armed, Supervisor } from './supervisor.ts';
import { type Side, verdictOf } from './verdict.ts';

export interface ChaosOptions {
  readonly seed: string;
  /** Faults last at least this long, and until each failpoint was hit. */
  readonly minutes: number;
  /** The folder of all logs and data of node and database. */
  readonly folder: string;
  readonly bitcoind: string;
  /** An ord that answers the same requests at the end; null: none. */
  readonly ord: string | null;
  readonly say: (line: string) => void;
}

export interface ChaosResult {
  readonly differences: readonly string[];
  /** The last line. */
  readonly verdict: string;
}

const deepestReorg = 40;
/** Blocks before the indexer's first start, so that it begins with a bulk load. */
const blocksBefore = 60;
/** This many missed blocks make the next sync a bulk load. */
const absenceBlocks = 130;
const catchUpWithinMs = 120_000;
const hitWithinMs = 25_000;
const hitTriesMax = 4;
const pendingAtEnd = 8;
const survivor = 'chaos';
const cleanName = 'clean';

/** One run: a random chain on a real node, faults at random, and the comparison with a clean index at the end. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  mkdirSync(options.folder, { recursive: true, mode: 0o755 });
  const run = new ChaosRun(options);
  try {
    await run.start();
    await run.rounds();
    return await run.end();
  } finally {
    await run.close();
  }
}

class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #startedAt = Date.now();
  #database: ChaosDatabase | null = null;
  #node: ChaosNode | null = null;
  #indexer: Supervisor | null = null;
  #reader: EventReader | null = null;
  readonly #counts = new Map<string, number>();
  #origin = '';
  #settings: Record<string, string> = {};

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(`faults ${options.seed}`);
  }

  async start(): Promise<void> {
    const { folder, seed, bitcoind } = this.#options;
    this.#database = await ChaosDatabase.start(join(folder, 'database'));
    this.#node = await ChaosNode.start(bitcoind, join(folder, 'node'), new RandomBlocks(seed));
    await this.#node.extend(blocksBefore);
    this.#settings = await this.#commonSettings();
    for (const name of [survivor, cleanName]) {
      await this.#database.create(name);
      await migrate(this.#database.directUrl(name));
    }
    const port = await freePort();
    this.#origin = `http://127.0.0.1:${port}`;
    this.#indexer = new Supervisor({
      name: survivor,
      folder,
      env: {
        ...this.#settings,
        DATABASE_URL: this.#database.proxied(survivor),
        PORT: String(port),
        BITCOIN_RPC_URL: `http://127.0.0.1:${this.#node.rpcProxy.port}`,
        BITCOIN_ZMQ: `tcp://127.0.0.1:${this.#node.zmqProxy.port}`,
      },
    });
    this.#reader = new EventReader(this.#origin);
  }

  /** Rounds of blocks and faults: each failpoint first, in random order, among random ones; then at random. */
  async rounds(): Promise<void> {
    const { minutes } = this.#options;
    const until = this.#startedAt + minutes * 60_000;
    const aimed = shuffled(this.#random, failpoints);
    for (let round = 0; aimed.length > 0 || Date.now() < until; round++) {
      const name = this.#random.unit() < 0.5 || Date.now() > until ? aimed.pop() : undefined;
      if (name === undefined) await this.#randomRound(round);
      else await this.#aimedRound(round, name);
    }
  }

  async end(): Promise<ChaosResult> {
    const { node, database, indexer, reader } = this.#parts();
    await node.settle();
    // pending inscriptions are compared too, so there must be some
    for (let count = 0; count < pendingAtEnd; count++) await node.send();
    this.#say(`comparing at block ${node.tip.height}`);
    await this.#caughtUp(survivor);
    const port = await freePort();
    const clean = new Supervisor({
      name: cleanName,
      folder: this.#options.folder,
      env: {
        ...this.#settings,
        DATABASE_URL: database.directUrl(cleanName),
        PORT: String(port),
        BITCOIN_RPC_URL: node.node.rpcUrl,
      },
    });
    const sides: [Side, Side] = [
      { name: survivor, origin: this.#origin, pool: database.pool(survivor) },
      { name: cleanName, origin: `http://127.0.0.1:${port}`, pool: database.pool(cleanName) },
    ];
    try {
      await this.#caughtUp(cleanName);
      const found = await verdictOf(sides[0], sides[1], reader, this.#random, () => node.mempool());
      found.push(...(await this.#compareWithOrd(sides[0])));
      const differences = [...found, ...this.#unwantedEnds(indexer), ...this.#unwantedEnds(clean)];
      for (const line of differences.slice(0, 40)) this.#say(line);
      writeFileSync(join(this.#options.folder, 'differences.txt'), differences.join('\n'));
      return { differences, verdict: this.#verdictLine(differences.length) };
    } finally {
      await clean.stop();
      await Promise.all(sides.map(({ pool }) => pool.end()));
    }
  }

  async close(): Promise<void> {
    await this.#reader?.stop();
    await this.#indexer?.stop();
    await this.#node?.stop();
    await this.#database?.stop();
  }

  async #compareWithOrd({ origin, pool }: Side): Promise<readonly string[]> {
    const { ord, folder } = this.#options;
    if (ord === null) return [];
    const { asked, differences } = await compareWithOrd(ord, this.#parts().node.node, origin, pool, folder);
    this.#say(`ord was asked ${asked} questions, and answered ${differences.length} of them otherwise`);
    return differences;
  }

  async #commonSettings(): Promise<Record<string, string>> {
    return {
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      BITCOIN_COOKIE_FILE: this.#parts().node.node.cookieFile,
      EVENTS_KEEP_BLOCKS: '1000000',
      INDEX_ADDRESSES: String(this.#random.unit() < 0.5),
    };
  }

  #parts(): Parts & { readonly reader: EventReader } {
    const random = this.#random;
    const node = this.#node;
    const database = this.#database;
    const indexer = this.#indexer;
    const reader = this.#reader;
    return { random, node, database, indexer, reader, name: survivor } as Parts & { reader: EventReader };
  }

  #say(words: string): void {
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(0).padStart(4);
    this.#options.say(`${seconds} s  ${words}`);
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  async #randomRound(round: number): Promise<void> {
    const parts = this.#parts();
    const fault = faultNames[this.#random.below(faultNames.length)] as Fault;
    this.#count(fault);
    const plan = this.#planBlocks(null);
    this.#say(`round ${round}: ${plan.words}, ${fault}`);
    if (nodeFaults.has(fault)) {
      await plan.run();
      await faults[fault](parts);
    } else if (fault === 'none' && this.#random.unit() < 0.3) {
      await parts.indexer.without(() => parts.node.extend(absenceBlocks));
    } else {
      await Promise.all([plan.run(), faults[fault](parts)]);
    }
    if (this.#random.unit() < 0.7) await this.#caughtUp(survivor);
  }

  /** Until the failpoint was hit: the process is armed, and the chain is made to pass the point. */
  async #aimedRound(round: number, name: Armed['name']): Promise<void> {
    const { indexer } = this.#parts();
    const before = indexer.hits.get(name) ?? 0;
    const passes = 1 + this.#random.below(3);
    this.#say(`round ${round}: aimed at ${name}, passed ${passes} times`);
    await this.#caughtUp(survivor);
    for (let tries = 0; tries < hitTriesMax; tries++) {
      await indexer.kill({ name, passes });
      const until = Date.now() + hitWithinMs;
      while ((indexer.hits.get(name) ?? 0) === before && Date.now() < until) {
        await this.#planBlocks(name).run();
        await delay(1200);
      }
      if ((indexer.hits.get(name) ?? 0) > before) break;
    }
    await this.#caughtUp(survivor);
  }

  /** The next event of the chain. An undo needs a reorganisation, everything else needs blocks. */
  #planBlocks(aim: Armed['name'] | null): { words: string; run: () => Promise<void> } {
    const { node, random } = this.#parts();
    const way = aim === 'undo' ? 0.9 : aim === null ? random.unit() : 0;
    const most = Math.min(deepestReorg, node.tip.height - 101);
    // most are shallow, but the deepest must occur too
    const depth = 1 + Math.floor(random.unit() ** 2 * most);
    if (way < 0.45) {
      const count = 1 + random.below(6);
      return { words: `${count} blocks`, run: () => node.extend(count) };
    }
    if (way < 0.75) {
      const ahead = 1 + random.below(4);
      return { words: `overtaken ${depth} deep`, run: () => node.race(depth, ahead) };
    }
    if (way < 0.85) {
      return {
        words: 'back to the longer branch',
        run: async () => {
          if (!(await node.reconsider())) await node.extend(1);
        },
      };
    }
    const count = 1 + random.below(depth + 3);
    return {
      words: `${depth} blocks invalid, ${count} in their place`,
      run: () => node.invalidate(depth, count),
    };
  }

  /** The database's tip equals the node's. */
  async #caughtUp(name: string): Promise<void> {
    const { node, database } = this.#parts();
    const until = Date.now() + catchUpWithinMs;
    const wanted = displayHash(node.tip.hash);
    let seen = 'nothing';
    while (Date.now() < until) {
      const rows = await database
        .query<{ hash: Buffer | null }>(name, 'SELECT tip_hash AS hash FROM chain.state')
        .catch(() => []);
      const hash = rows[0]?.hash ?? null;
      if (hash !== null) seen = displayHash(hash);
      if (seen === wanted) return;
      await delay(50);
    }
    throw new Error(`${name} stands at ${seen} and not at ${wanted} (height ${node.tip.height})`);
  }

  #unwantedEnds({ exits }: Supervisor): string[] {
    return exits.map((words) => `process: ${words}`);
  }

  #verdictLine(count: number): string {
    const { indexer, node, reader } = this.#parts();
    const hits = failpoints.map((name) => `${name}:${indexer.hits.get(name) ?? 0}`).join(',');
    const missed = failpoints.filter((name) => (indexer.hits.get(name) ?? 0) === 0);
    const killed = indexer.kills + [...indexer.hits.values()].reduce((sum, each) => sum + each, 0);
    const done = [...this.#counts].map(([name, times]) => `${name}:${times}`).join(',');
    this.#say(
      `faults: ${done}; deepest reorganisation ${node.deepestReorg}, ${reader.replay.undone} undo events read, ${indexer.failedStarts} starts while the database was away`,
    );
    if (missed.length > 0) this.#say(`never hit: ${missed.join(', ')}`);
    return `chaos: ${count + missed.length} differences; kills=${killed}, reorgs=${node.reorgs}, blocks=${node.made}, failpoints=${hits}, seed=${this.#options.seed}`;
  }
}

function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  const left = [...values];
  const made: Value[] = [];
  while (left.length > 0) made.push(...left.splice(random.below(left.length), 1));
  return made;
}
