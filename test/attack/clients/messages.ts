import type { Targets } from '#test/attack/chain/hurtful-chain.ts';

/** The message that a client process receives at its start. */
export interface ClientOrder {
  readonly port: number;
  /** The IP address from which the client sends requests. */
  readonly address: string;
  readonly targets: Targets;
}

export interface AttackOrder extends ClientOrder {
  readonly scenario: string;
  readonly seconds: number;
  /**
   * Minimum number of answered or cut requests. On a busy machine, the attack lasts until it has reached this number. 0
   * if there is no minimum.
   */
  readonly answersLeast: number;
}

/** Maximum time by which an attack is prolonged, in ms. */
export const prolongedMs = 20_000;

/** Number of answers of an attack, by status. `cut` counts connections that ended without an answer. */
export type AttackTally = Readonly<Record<string, number>>;

export interface GoodOrder extends ClientOrder {
  /** API keys. Each search uses the next key. */
  readonly keys: readonly string[];
}

export const questionKinds = ['lookup', 'search', 'page', 'stream'] as const;
export type QuestionKind = (typeof questionKinds)[number];

/** The result of one request of the good client. */
export interface GoodAnswer {
  readonly kind: QuestionKind;
  readonly path: string;
  /** Start of the request by the machine's clock, in ms. */
  readonly startedAt: number;
  readonly milliseconds: number;
  /** The HTTP status, or the code of the error. */
  readonly outcome: number | string;
}

/**
 * How long the good client waits for an answer, in ms. This is far above every bound, because a suite of tests makes a
 * machine slow.
 */
export const patienceMs = 30_000;
