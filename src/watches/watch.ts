import { createHash } from 'node:crypto';

/** The kinds of watches. A `search` is a saved search. */
export const watchKinds = ['search', 'sales', 'children', 'runes', 'receipts'] as const;
export type WatchKind = (typeof watchKinds)[number];

/** A condition as a key asked for it: the fields of the request, by their names. */
export type AskedCondition = Readonly<Record<string, string | number | boolean>>;

/**
 * Why a watch ended. A watch that its key deletes is no longer read.
 *
 * - `gone`: its webhook URL answered 410.
 * - `revoked`: its key was revoked.
 */
export type EndReason = 'gone' | 'revoked';

/** A watch of a key. */
export interface Watch {
  /** A UUID. */
  readonly id: string;
  readonly keyId: number;
  readonly kind: WatchKind;
  readonly condition: AskedCondition;
  readonly webhookUrl: string | null;
  /** Public key of the service secret from which the webhook secret is derived. Null without a webhook. */
  readonly secretKey: Buffer | null;
  readonly createdAt: Date;
  /** Null while the watch is active. */
  readonly endedAt: Date | null;
  readonly endReason: EndReason | null;
  /** The number of the newest change of its findings. 0 if nothing was found. */
  readonly lastNumber: number;
  /** Number of things that were ever found. */
  readonly found: number;
}

/**
 * State of a finding.
 *
 * - `pending`: its transaction is in the mempool.
 * - `confirmed`: its transaction is in a block of the chain.
 * - `replaced`: its transaction left the mempool without a block.
 * - `void`: its transaction was mined, but does not make the thing.
 * - `reorganised`: its block is no longer in the chain, and its transaction is not in the mempool.
 */
export type FindingState = 'pending' | 'confirmed' | 'replaced' | 'void' | 'reorganised';

/** Fields of a finding that depend on the kind of its watch. */
export type FindingFacts = Readonly<Record<string, string | number | boolean | null>>;

/** One thing that a watch found, with its newest state. */
export interface Finding {
  /** 32 hex digits. The same watch and thing always have the same id. */
  readonly id: string;
  readonly watchId: string;
  /** The name of the thing, for example an inscription id. */
  readonly thing: string;
  readonly state: FindingState;
  /** Number of the newest change. Numbers of a watch only grow. */
  readonly number: number;
  /** The transaction that makes the thing, in display order. */
  readonly txid: string;
  /** Block of a `confirmed` finding, and the former block of a `reorganised` finding. Null in all other states. */
  readonly height: number | null;
  readonly blockHash: string | null;
  /**
   * The transaction that replaced the finding's transaction, in display order. Null if no such transaction is known.
   */
  readonly replacedBy: string | null;
  readonly facts: FindingFacts;
  readonly firstSeen: Date;
  readonly changedAt: Date;
}

/** Number of bytes of a finding's id. */
const idBytes = 16;

/** The id of a finding. It is derived, so that it stays the same for the same watch and thing. */
export function findingId(watchId: string, thing: string): string {
  return createHash('sha256')
    .update(`${watchId}\n${thing}`)
    .digest('hex')
    .slice(0, 2 * idBytes);
}

/** The subject of a watch's webhook messages. */
export const subjectOf = ({ id, kind }: Pick<Watch, 'id' | 'kind'>): string =>
  `${kind === 'search' ? 'search' : 'watch'} ${id}`;

/**
 * SQL: the same subject.
 *
 * @param watch SQL name of a row of the table of watches
 */
export const subjectSql = (watch: string): string =>
  `CASE ${watch}.kind WHEN 'search' THEN 'search ' ELSE 'watch ' END || ${watch}.id`;

/** Kinds of subjects of watches, which begin the subjects. */
export const watchSubjects = ['search', 'watch'] as const;

/** The id of the watch of a subject. */
export const watchOfSubject = (subject: string): string => subject.slice(subject.indexOf(' ') + 1);

/** The name of a watch's webhook secret (WebhookKeys.lastingSecret). */
export const watchSecretName = (id: string, secretKey: Uint8Array): string =>
  `${Buffer.from(secretKey).toString('hex')}:watch ${id}`;
