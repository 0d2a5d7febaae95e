import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { migrate } from '#kernel/pg/migrate.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { failpoints, seams } from '#kernel/process/failpoint.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { type Random, seededRandom, shuffled } from '#test/builders/random.ts';
import { RandomBlocks } from './chain/random-blocks.ts';
import { EventReader } from './checks/event-reader.ts';
import { compareWithOrd } from './checks/ord-comparison.ts';
import { countSales, type SaleCounts } from './checks/sale-counts.ts';
import { type Side, verdictOf } from './checks/verdict.ts';
import { type Fault, faultNames, faults, nodeFaults, type Parts } from './faults.ts';
import { killedFirstSync, killsOfFirstSync } from './first-sync.ts';
import { ChaosDatabase } from './processes/chaos-database.ts';
import { ChaosNode } from './processes/chaos-node.ts';
import { Supervisor } from './processes/supervisor.ts';
import { aimAtSeam, type SeamAim, seamAims } from './seam-rounds.ts';

export interface ChaosOptions {
  readonly seed: string;
  /** Minimum duration of the faults, in minutes. They also continue until each failpoint was hit. */
  readonly minutes: number;
  /** Whether the run uses only some seams of overlapped batches. Such a run takes half of the time. */
  readonly isShort: boolean;
  /** The folder of all logs, and of the data of node and database. */
  readonly folder: string;
  readonly bitcoind: string;
  /** Whether the index includes the sats of every output. */
  readonly hasSats: boolean;
  /** Path of an ord that answers the same requests at the end; `null` if there is no ord. */
  readonly ord: string | null;
  readonly say: (line: string) => void;
}

export interface ChaosResult {
  readonly differences: readonly string[];
  /** The last line of the output. */
  readonly verdict: string;
}

const deepestReorg = 40;
/** Number of blocks before the indexer's first start. With these blocks, the indexer begins with a bulk load. */
const blocksBefore = 60;
/** Number of missed blocks after which the next sync is a bulk load. */
const absenceBlocks = 130;
const catchUpWithinMs = 120_000;
const hitWithinMs = 25_000;
const hitTriesMax = 4;
const pendingAtEnd = 8;
/** Share of rounds at seams among the random rounds of a long run. */
const seamShare = 0.2;
const shortAims = 2;
const shortKills = 3;
const survivor = 'chaos';
const cleanName = 'clean';
const firstName = 'first';

type Aim = (typeof failpoints)[number];

/** Runs a random chain on a real node with random faults. At the end, compares the index with a clean index. */
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
  /** Number of blocks in a batch. It is small, so that a load of a dozen batches has overlapped batches. */
  readonly #batchBlocks: number;
  /**
   * Number of rounds in which the database failed while a batch was held at a seam. `#missedSeams` are the seams that
   * no load reached.
   */
  #heldRounds = 0;
  readonly #missedSeams: string[] = [];

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(`faults ${options.seed}`);
    this.#batchBlocks = 1 + this.#random.below(3);
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
        ...this.#smallBatches(),
        ...this.#database.proxiedSettings(survivor),
        PORT: String(port),
        BITCOIN_RPC_URL: `http://127.0.0.1:${this.#node.rpcProxy.port}`,
        BITCOIN_ZMQ: `tcp://127.0.0.1:${this.#node.zmqProxy.port}`,
      },
    });
    this.#reader = new EventReader(this.#origin);
  }

  /**
   * Runs rounds of blocks and faults. First, each failpoint has a round, in random order and among random rounds. Then
   * all rounds are random.
   */
  async rounds(): Promise<void> {
    const { minutes, isShort } = this.#options;
    const until = this.#startedAt + minutes * 60_000;
    const aims = shuffled(this.#random, seamAims).slice(0, isShort ? shortAims : seamAims.length);
    const aimed = shuffled(this.#random, [...failpoints, ...aims]);
    for (let round = 0; aimed.length > 0 || Date.now() < until; round++) {
      const aim = this.#random.unit() < 0.5 || Date.now() > until ? aimed.pop() : undefined;
      if (typeof aim === 'string') await this.#aimedRound(round, aim);
      else if (aim !== undefined) await this.#seamRound(round, aim);
      else if (isShort || this.#random.unit() > seamShare) await this.#randomRound(round);
      else await this.#seamRound(round, seamAims[this.#random.below(seamAims.length)]!);
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
        ...database.directSettings(cleanName),
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
      found.push(...(await this.#firstSync(sides[1].pool)));
      const sold = await countSales(sides[1].pool);
      if (Object.values(sold).includes(0))
        found.push(`one kind of sale did not occur: ${JSON.stringify(sold)}`);
      const differences = [...found, ...this.#unwantedEnds(indexer), ...this.#unwantedEnds(clean)];
      for (const line of differences.slice(0, 40)) this.#say(line);
      writeFileSync(join(this.#options.folder, 'differences.txt'), differences.join('\n'));
      return { differences, verdict: this.#verdictLine(differences.length, sold) };
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
    const { ord: executable, hasSats, folder } = this.#options;
    if (executable === null) return [];
    const ord = { executable, flags: hasSats ? ['--index-sats'] : [] };
    const { asked, differences } = await compareWithOrd(ord, this.#parts().node.node, origin, pool, folder);
    this.#say(`ord was asked ${asked} questions, and gave ${differences.length} other answers`);
    return differences;
  }

  async #commonSettings(): Promise<Record<string, string>> {
    return {
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      BITCOIN_COOKIE_FILE: this.#parts().node.node.cookieFile,
      EVENTS_KEEP_BLOCKS: '1000000',
      INDEX_ADDRESSES: String(this.#random.unit() < 0.5),
      INDEX_SATS: String(this.#options.hasSats),
      // most reorganisations are deeper, so their spent sats are traced again
      SATS_KEEP_BLOCKS: '6',
    };
  }

  #smallBatches(): Record<string, string> {
    return { LOAD_BATCH_BLOCKS: String(this.#batchBlocks) };
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

  async #seamRound(round: number, aim: SeamAim): Promise<void> {
    this.#say(`round ${round}: ${aim.how === 'held' ? 'the database fails' : 'killed'} at ${aim.name}`);
    await this.#caughtUp(survivor);
    const missed = await aimAtSeam(this.#parts(), aim, this.#batchBlocks);
    if (missed !== null) this.#missedSeams.push(missed);
    else if (aim.how === 'held') this.#heldRounds++;
    await this.#caughtUp(survivor);
  }

  /** Runs another first sync of the final chain. This sync is killed at each seam. */
  async #firstSync(clean: pg.Pool): Promise<string[]> {
    const { node, database, indexer, random } = this.#parts();
    const { found, killed } = await killedFirstSync({
      name: firstName,
      folder: this.#options.folder,
      env: { ...this.#settings, ...this.#smallBatches(), BITCOIN_RPC_URL: node.node.rpcUrl },
      kills: killsOfFirstSync(
        random,
        Math.floor(node.tip.height / this.#batchBlocks),
        this.#options.isShort ? shortKills : seams.length,
      ),
      database,
      clean,
      caughtUp: () => this.#caughtUp(firstName),
    });
    indexer.addOverlaps(killed);
    return [...found, ...this.#unwantedEnds(killed)];
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

  /** Repeats until the failpoint was hit: arms the process, and makes the chain pass the failpoint. */
  async #aimedRound(round: number, name: Aim): Promise<void> {
    const { indexer } = this.#parts();
    const before = indexer.hits.get(name) ?? 0;
    const passes = 1 + this.#random.below(3);
    this.#say(`round ${round}: aimed at ${name}, passed ${passes} times`);
    await this.#caughtUp(survivor);
    for (let tries = 0; tries < hitTriesMax; tries++) {
      await indexer.kill({ name, passes, how: 'at once' });
      const until = Date.now() + hitWithinMs;
      while ((indexer.hits.get(name) ?? 0) === before && Date.now() < until) {
        await this.#planBlocks(name).run();
        await delay(1200);
      }
      if ((indexer.hits.get(name) ?? 0) > before) break;
    }
    await this.#caughtUp(survivor);
  }

  /** The next event of the chain. An undo needs a reorganisation, other events need blocks. */
  #planBlocks(aim: Aim | null): { words: string; run: () => Promise<void> } {
    const { node, random } = this.#parts();
    const way = aim === 'undo' ? 0.9 : aim === null ? random.unit() : 0;
    const most = Math.min(deepestReorg, node.tip.height - 101);
    // most reorganisations are shallow, but the deepest reorganisation must also occur
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
      words: `${depth} blocks invalid, ${count} instead`,
      run: () => node.invalidate(depth, count),
    };
  }

  /** Waits until the database's tip equals the node's. */
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
    throw new Error(`${name} is at ${seen} and not at ${wanted} (height ${node.tip.height})`);
  }

  #unwantedEnds({ exits }: Supervisor): string[] {
    return exits.map((words) => `process: ${words}`);
  }

  #verdictLine(count: number, sold: SaleCounts): string {
    const { indexer, node, reader } = this.#parts();
    const { overlaps } = indexer;
    const hits = failpoints.map((name) => `${name}:${indexer.hits.get(name) ?? 0}`).join(',');
    const atSeams = [...overlaps].map(([name, times]) => `${name}:${times}`).join(',');
    const missed = [
      ...failpoints.filter((name) => (indexer.hits.get(name) ?? 0) === 0),
      ...this.#missedSeams,
    ];
    const killed = [...indexer.hits.values(), ...overlaps.values()].reduce(
      (sum, each) => sum + each,
      indexer.kills,
    );
    const done = [...this.#counts].map(([name, times]) => `${name}:${times}`).join(',');
    this.#say(
      `faults: ${done}; deepest reorganisation ${node.deepestReorg}, ${reader.replay.undone} undo events read, ${indexer.failedStarts} starts while the database was away`,
    );
    if (missed.length > 0) this.#say(`never hit: ${missed.join(', ')}`);
    return `chaos: ${count + missed.length} differences; kills=${killed}, reorgs=${node.reorgs}, blocks=${node.made}, sales=${sold.sales} (offers ${sold.offers}, bundles ${sold.bundles}, resales ${sold.resales}), failpoints=${hits}, seams=${atSeams}, held=${this.#heldRounds}, seed=${this.#options.seed}`;
  }
}
