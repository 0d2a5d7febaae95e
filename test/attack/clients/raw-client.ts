import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Targets } from '#test/attack/chain/hurtful-chain.ts';
import type { Attack, ExchangeOptions } from '#test/attack/scenario.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { type AttackOrder, type AttackTally, prolongedMs } from './messages.ts';

/**
 * How long a refused attacker waits, in ms. Without this pause, the run would measure the attacker's own processor
 * time.
 */
const pauseAfterFailureMs = 20;
const pauseOfHoldersMs = 100;
/**
 * Number of sockets that are opened together. If thousands were opened at once, the kernel's backlog would decide the
 * result, not the service.
 */
const openedAtOnce = 50;

const statusLine = /HTTP\/1\.1 (\d{3})/gu;

/** An attacker that uses raw sockets from one IP address. */
export class RawClient implements Attack {
  readonly targets: Targets;
  readonly random: Random;
  readonly #order: AttackOrder;
  readonly #endAt: number;
  readonly #tally = new Map<string, number>();
  #answers = 0;

  constructor(order: AttackOrder) {
    this.#order = order;
    this.targets = order.targets;
    this.random = seededRandom(order.scenario);
    this.#endAt = performance.now() + order.seconds * 1000;
  }

  get isOver(): boolean {
    const overMs = performance.now() - this.#endAt;
    return overMs >= 0 && (this.#answers >= this.#order.answersLeast || overMs >= prolongedMs);
  }

  get tally(): AttackTally {
    return Object.fromEntries([...this.#tally].sort(([a], [b]) => a.localeCompare(b)));
  }

  connect(from = this.#order.address): Socket {
    const { port } = this.#order;
    const socket = connect({ host: '127.0.0.1', port, localAddress: from, allowHalfOpen: true });
    let answers = 0;
    socket.on('data', (bytes: Buffer) => {
      for (const [, status] of bytes.toString('latin1').matchAll(statusLine)) {
        answers++;
        this.#count(status!);
      }
    });
    // the service may do anything to an attacker's connection
    socket.on('error', () => undefined);
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      if (answers === 0) this.#count('cut');
    });
    return socket;
  }

  async exchange(request: Uint8Array, options: ExchangeOptions = {}): Promise<void> {
    const socket = this.#begin(request, options);
    const startedAt = performance.now();
    // do not use `once` of events, because it rejects if the service resets the connection
    await new Promise((resolve) => socket.once('close', resolve));
    if (socket.bytesRead === 0 && performance.now() - startedAt < pauseAfterFailureMs) {
      await delay(pauseAfterFailureMs);
    }
  }

  async loops(count: number, turn: () => Promise<void>): Promise<void> {
    const loop = async (): Promise<void> => {
      while (!this.isOver) await turn();
    };
    await Promise.all(Array.from({ length: count }, loop));
  }

  async hold(count: number, request: Uint8Array | null, options: ExchangeOptions = {}): Promise<void> {
    const held = new Set<Socket>();
    while (!this.isOver) {
      for (let opened = 0; held.size < count && opened < openedAtOnce; opened++) {
        const socket = this.#begin(request, options);
        held.add(socket);
        socket.once('close', () => held.delete(socket));
      }
      await delay(held.size < count ? 0 : pauseOfHoldersMs);
    }
  }

  async pause(milliseconds: number): Promise<void> {
    await delay(milliseconds);
  }

  #begin(request: Uint8Array | null, { abortAfterMs, reads = true, from }: ExchangeOptions): Socket {
    const socket = this.connect(from);
    if (!reads) socket.pause();
    if (request !== null) socket.write(request);
    if (abortAfterMs !== undefined) {
      socket.once('connect', () => setTimeout(() => socket.resetAndDestroy(), abortAfterMs));
    }
    return socket;
  }

  #count(what: string): void {
    this.#answers++;
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }
}
