import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { currentMoment } from '#chain/snapshot/current-moment.queries.ts';
import { askerOf } from '#http/server/access/asker.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';

/** Increase it when newer code answers the same tip and URL with other bytes. */
const answerVersion = 6;

/**
 * The entity tag of an answer. It changes with the tip, with undone blocks, with the question, and, where pending
 * transactions are part of the answer, with those. Weak, because two instances at one tip differ in `createdat`
 * alone.
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

/** Sets the headers that name the tip of an answer. */
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
 * True where the client's copy is of this very tip: then 304 is sent without a search. `*` names no copy to compare,
 * and it is not known yet whether there is an answer, so it is answered in full.
 */
export async function answeredUnchanged(
  pool: pg.Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  pending = false,
): Promise<boolean> {
  const header = request.headers['if-none-match'];
  if (header === undefined || header.trim() === '*') return false;
  const { tip, revision } = await withCutConnection(pool, askerOf(reply).signal, (client) =>
    currentMoment(client, pending),
  );
  if (!matchesTag(header, answerTag(tip, request.url, revision))) return false;
  setMoment(request, reply, tip, revision);
  reply.code(304).send();
  return true;
}
