import type { Targets } from '#test/attack/chain/hurtful-chain.ts';

/** Order for a client process at its start. */
export interface ClientOrder {
  readonly port: number;
  /** The address that it asks from. */
  readonly address: string;
  readonly targets: Targets;
}

export interface AttackOrder extends ClientOrder {
  readonly scenario: string;
  readonly seconds: number;
  /** Least number of answered or cut requests: on a busy machine the attack lasts until then; 0: no minimum. */
  readonly answersLeast: number;
}

/** The most that an attack lasts longer, in milliseconds. */
export const prolongedMs = 20_000;

/** Answers of an attack, counted by status; `cut`: connections that ended without any. */
export type AttackTally = Readonly<Record<string, number>>;

export interface GoodOrder extends ClientOrder {
  /** Each search takes the next one. */
  readonly keys: readonly string[];
}

export const questionKinds = ['lookup', 'search', 'page', 'stream'] as const;
export type QuestionKind = (typeof questionKinds)[number];

/** The good client's experience of one question. */
export interface GoodAnswer {
  readonly kind: QuestionKind;
  readonly path: string;
  /** Start by the clock of the machine, in milliseconds. */
  readonly startedAt: number;
  readonly milliseconds: number;
  /** The HTTP status, or the error's code. */
  readonly outcome: number | string;
}

/** The good client gives up after this time: far beyond every bound, for machines that a suite of tests makes slow. */
export const patienceMs = 30_000;
