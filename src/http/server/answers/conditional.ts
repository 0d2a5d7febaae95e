import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { currentMoment } from '#chain/snapshot/current-moment.queries.ts';
import { askerOf } from '#http/server/access/asker.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';

/** Version of the answers. Increase it if newer code makes other bytes for the same tip and URL. */
const answerVersion = 6;

/**
 * The entity tag of an answer. It changes with the tip, with undone blocks, with the URL, and with the pending
 * transactions if the answer contains pending transactions. It is weak, because two instances send different values of
 * `createdat` at the same tip.
 */
export function answerTag(tip: Tip | null, url: string, mempoolRevision: number | null = null): string {
  const hash = createHash('sha256');
  hash.update(`${answerVersion} ${tip === null ? 'none' : tip.height} `);
  if (tip !== null) hash.update(`${tip.undoEpoch} `).update(tip.hash);
  if (mempoolRevision !== null) hash.update(`mempool ${mempoolRevision} `);
  return `W/"${hash.update(url).digest('base64url').slice(0, 27)}"`;
}

/** Whether `If-None-Match` names a tag, compared weakly (RFC 9110, 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = (value: string): string => value.trim().replace(/^W\//u, '');
  return header.split(',').some((value) => value.trim() === '*' || opaque(value) === opaque(tag));
}

/** Sets the headers that name the tip of an answer, and its revision of the mempool. */
export function setMoment(
  request: FastifyRequest,
  reply: FastifyReply,
  tip: Tip | null,
  mempoolRevision: number | null = null,
): void {
  if (tip !== null) reply.header('x-indexed-height', tip.height);
  if (mempoolRevision !== null) reply.header('x-mempool-revision', mempoolRevision);
  reply.header('etag', answerTag(tip, request.url, mempoolRevision)).header('cache-control', 'no-cache');
}

/**
 * Whether a client already has the answer with this entity tag. For `*` the result is false, because `*` names no copy
 * to compare, and it is not known yet whether there is an answer.
 */
export function namesTag({ headers }: FastifyRequest, tag: string): boolean {
  return isConditional(headers) && matchesTag(headers['if-none-match'], tag);
}

const isConditional = ({ 'if-none-match': header }: FastifyRequest['headers']): boolean =>
  header !== undefined && header.trim() !== '*';

/** The tip of an answer, and the revision of the pending transactions if the answer contains them. */
interface Moment {
  readonly tip: Tip | null;
  readonly revision?: number | null;
}

/** Sends 304, because the client already has the answer for this tip. */
export function sendUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  { tip, revision = null }: Moment,
): FastifyReply {
  setMoment(request, reply, tip, revision);
  return reply.code(304).send();
}

/** Sends 304 without a search if the client's copy has the current tip. Returns whether 304 was sent. */
export async function answeredUnchanged(
  pool: pg.Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  pending = false,
): Promise<boolean> {
  if (!isConditional(request.headers)) return false;
  const { tip, revision } = await withCutConnection(pool, askerOf(reply).signal, (client) =>
    currentMoment(client, pending),
  );
  if (!namesTag(request, answerTag(tip, request.url, revision))) return false;
  sendUnchanged(request, reply, { tip, revision });
  return true;
}
