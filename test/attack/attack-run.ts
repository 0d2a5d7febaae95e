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

/** Any of 127.0.0.0/8 can be a client's address on Linux. */
const attackerAddress = '127.0.0.2';
const goodAddress = '127.0.0.3';

/**
 * Longer than the bound, so that the figure of a lost scenario says by how much, and than the patience of the good
 * client.
 */
const recoveryWaitMs = 45_000;
const lookEveryMs = 100;
/** An attacker that does not end by itself is killed. */
const attackerGraceMs = 10_000;
/** Above this many times the memory of a fresh process, the next scenario gets a fresh one. */
const memoryGrowthMax = 1.5;

/** The good client searches with another one each time, so that it needs keys that the process does not know yet. */
const goodKeys = 4_000;

const clientFile = (name: string): string => join(import.meta.dirname, 'clients', name);

/** Runs scenarios one after another against a service, beside a good client. */
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
   * Starts the service, which indexes its chain. `isFresh`: in another process than the one that is attacked, and
   * after a scenario that left traces the next one gets a new process. Otherwise one process suffers all.
   */
  async begin({ isFresh }: { readonly isFresh: boolean }): Promise<void> {
    this.#restarts = isFresh;
    await this.#service.start();
    this.#keys = await this.#service.makeKeys(goodKeys);
    await this.#service.makeMarket();
    await this.#service.takeOrders();
    await (isFresh ? this.#restart() : this.#settle());
  }

  /** @param answersLeast makes the attack last longer on a busy machine */
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

  /** The attack, and what it got. Its process, with all connections, is gone at the end. */
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

  /** Whether the process is as it was at its start. */
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

  /** The same for an attack that does not wait until the process is as it will be. */
  async #restartUnsettled(): Promise<void> {
    await this.#service.kill();
    await this.#service.start();
    this.#restartGood();
  }

  /** A good client begins to ask the started process. */
  #restartGood(): void {
    this.#good?.kill('SIGKILL');
    this.#answers = [];
    const good = fork(clientFile('good-client-process.ts'));
    this.#good = good;
    good.on('message', (answer) => this.#answers.push(answer as GoodAnswer));
    const { port, targets } = this.#service;
    good.send({ port, targets, address: goodAddress, keys: this.#keys } satisfies GoodOrder);
  }

  /** A good client asks until all that is loaded late is loaded. */
  async #settle(): Promise<void> {
    this.#restartGood();
    const startedAt = Date.now();
    if ((await this.#recovery(startedAt)) === null)
      throw new Error('the service does not serve the good client');
    await this.#service.collect();
    this.#freshBytes = memoryOf(this.#service.pid)?.bytes ?? 0;
  }
}
