import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AttackOrder,
  type AttackTally,
  type GoodAnswer,
  type GoodOrder,
  prolongedMs,
} from './clients/messages.ts';
import type { Scenario } from './scenario.ts';
import { forgetPeak, memoryOf } from './service/process-memory.ts';
import type { ServiceUnderAttack } from './service/service-under-attack.ts';
import { type Bounds, type Measured, recoveryOf } from './verdict.ts';

/** On Linux, a client can have any IP address of 127.0.0.0/8. */
const attackerAddress = '127.0.0.2';
const goodAddress = '127.0.0.3';

/**
 * How long a run waits for the recovery, in ms. This is longer than the bound, so that the figure of a lost scenario
 * shows the difference. It is also longer than the patience of the good client.
 */
const recoveryWaitMs = 45_000;
const lookEveryMs = 100;
/** How long an attacker may continue after its time, in ms. Then it is killed. */
const attackerGraceMs = 10_000;
/**
 * Maximum growth of a process's memory, as a factor. If a process has grown more, the next scenario gets a fresh
 * process.
 */
const memoryGrowthMax = 1.5;

/**
 * Number of API keys of the good client. It uses another key for each search, because the process should not know the
 * key yet.
 */
const goodKeys = 4_000;

const clientFile = (name: string): string => join(import.meta.dirname, 'clients', name);

/** Runs scenarios one after another against a service. A good client sends requests at the same time. */
export class AttackRun {
  readonly #service: ServiceUnderAttack;
  readonly #bounds: Bounds;
  #keys: readonly string[] = [];
  #good: ChildProcess | null = null;
  #answers: GoodAnswer[] = [];
  #freshBytes = 0;
  #isRecovered = true;
  #restarts = true;

  constructor(service: ServiceUnderAttack, bounds: Bounds) {
    this.#service = service;
    this.#bounds = bounds;
  }

  /**
   * Starts the service, which indexes its chain. If `isFresh` is true, the attacked process is not the process that
   * indexed the chain, and the next scenario gets a new process after a scenario that left traces. Otherwise one
   * process is the target of all scenarios.
   */
  async begin({ isFresh }: { readonly isFresh: boolean }): Promise<void> {
    this.#restarts = isFresh;
    await this.#service.start();
    this.#keys = await this.#service.makeKeys(goodKeys);
    await this.#service.makeMarket();
    await this.#service.takeOrders();
    await (isFresh ? this.#restart() : this.#settle());
  }

  /** @param answersLeast minimum number of answers. On a busy machine, the attack lasts longer to reach this number */
  async run(scenario: Scenario, seconds: number, answersLeast = 0): Promise<Measured> {
    const service = this.#service;
    const hasNode = scenario.hasNode === true;
    if (scenario.isAtStart === true) await this.#restartUnsettled();
    else if (service.hasNode !== hasNode || !(await this.#isFresh())) await this.#restart(hasNode);
    forgetPeak(service.pid);
    this.#answers = [];
    const startedAt = Date.now();
    const attacker = fork(clientFile('attacker-process.ts'));
    const tally = await this.#attack(attacker, {
      ...this.#orderFor(scenario),
      scenario: scenario.name,
      seconds,
      answersLeast,
    });
    const endedAt = Date.now();
    const peakBytes = memoryOf(service.pid)?.peakBytes ?? 0;
    const probe = service.sample();
    const recoveryMs = await this.#recovery(endedAt);
    this.#isRecovered = recoveryMs !== null;
    const answers = this.#answers.filter(
      (answer) => answer.startedAt >= startedAt && answer.startedAt <= endedAt,
    );
    return {
      scenario: scenario.name,
      answers,
      probe: await probe,
      peakBytes,
      recoveryMs,
      tally,
      isAlive: service.isAlive,
    };
  }

  end(): void {
    this.#good?.kill('SIGKILL');
  }

  #orderFor({ sharesAddress }: Scenario): Omit<GoodOrder, 'keys'> {
    const { port, targets } = this.#service;
    return { port, targets, address: sharesAddress === true ? goodAddress : attackerAddress };
  }

  /**
   * Runs the attack, and returns its tally. At the end, the attacker's process and all its connections no longer exist.
   */
  async #attack(attacker: ChildProcess, order: AttackOrder): Promise<AttackTally> {
    const ended = once(attacker, 'exit');
    const limit = AbortSignal.timeout(
      order.seconds * 1000 + (order.answersLeast > 0 ? prolongedMs : 0) + attackerGraceMs,
    );
    attacker.send(order);
    try {
      const [tally] = (await once(attacker, 'message', { signal: limit })) as [AttackTally];
      return tally;
    } catch {
      return {};
    } finally {
      attacker.kill('SIGKILL');
      await ended;
    }
  }

  async #recovery(endedAt: number): Promise<number | null> {
    while (Date.now() - endedAt < recoveryWaitMs && this.#service.isAlive) {
      const recovered = recoveryOf(this.#answers, endedAt, Date.now(), this.#bounds);
      if (recovered !== null) return recovered;
      await delay(lookEveryMs);
    }
    return null;
  }

  /** Whether the process is in the same state as after its start. */
  async #isFresh(): Promise<boolean> {
    const service = this.#service;
    if (!service.isAlive || !this.#isRecovered) return false;
    if (!this.#restarts) return true;
    await service.collect();
    return (memoryOf(service.pid)?.bytes ?? 0) < memoryGrowthMax * this.#freshBytes;
  }

  async #restart(hasNode = false): Promise<void> {
    await this.#service.kill();
    await this.#service.start(hasNode);
    await this.#settle();
  }

  /** Restarts the service for an attack that begins before the service has loaded everything. */
  async #restartUnsettled(): Promise<void> {
    await this.#service.kill();
    await this.#service.start();
    this.#restartGood();
  }

  /** Starts a good client that sends requests to the started process. */
  #restartGood(): void {
    this.#good?.kill('SIGKILL');
    this.#answers = [];
    const good = fork(clientFile('good-client-process.ts'));
    this.#good = good;
    good.on('message', (answer) => this.#answers.push(answer as GoodAnswer));
    const { port, targets } = this.#service;
    good.send({ port, targets, address: goodAddress, keys: this.#keys } satisfies GoodOrder);
  }

  /** Starts a good client, and waits until the service has loaded everything that it loads late. */
  async #settle(): Promise<void> {
    this.#restartGood();
    const startedAt = Date.now();
    if ((await this.#recovery(startedAt)) === null)
      throw new Error('the service does not serve the good client');
    await this.#service.collect();
    this.#freshBytes = memoryOf(this.#service.pid)?.bytes ?? 0;
  }
}
